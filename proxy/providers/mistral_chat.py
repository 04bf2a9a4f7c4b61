"""Mistral's chat endpoint: OpenAI chat with nine-character ids, whole calls in one chunk, indexes optional."""

from __future__ import annotations

from proxy.providers.openai_chat import ChatProvider

PROVIDER = ChatProvider("mistral-chat", dialect_of="openai-chat", host="mistral")
