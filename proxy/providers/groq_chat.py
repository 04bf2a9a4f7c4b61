"""Groq's chat endpoint: OpenAI chat with tools it runs itself (``executed_tools``) and ``x_groq``."""

from __future__ import annotations

from proxy.providers.openai_chat import ChatProvider

PROVIDER = ChatProvider("groq-chat", dialect_of="openai-chat", host="groq", mark="x_groq")
