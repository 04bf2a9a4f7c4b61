"""Token counts as reported, under our four names: input, output, cached, reasoning."""

from __future__ import annotations

from typing import Any

from proxy.providers._calls import fields

# ours -> where wires keep it, first found wins; "a.b" is a field of a field
_NAMES: dict[str, tuple[str, ...]] = {
    "input": ("input_tokens", "prompt_tokens", "inputTokens", "promptTokenCount", "total_input_tokens"),
    "output": ("output_tokens", "completion_tokens", "outputTokens", "candidatesTokenCount", "total_output_tokens"),
    "cached": (
        "cache_read_input_tokens",
        "input_tokens_details.cached_tokens",
        "prompt_tokens_details.cached_tokens",
        "cacheReadInputTokens",
        "cachedContentTokenCount",
        "total_cached_tokens",
        "prompt_cache_hit_tokens",
        "num_cached_tokens",
    ),
    "reasoning": (
        "output_tokens_details.reasoning_tokens",
        "completion_tokens_details.reasoning_tokens",
        "thoughtsTokenCount",
        "total_thought_tokens",
        "reasoning_tokens",
    ),
}


def usage(said: Any) -> dict[str, int]:
    """Our names to counts; what the wire does not say is absent."""
    found: dict[str, int] = {}
    if not said:
        return found  # on most events of a stream
    for ours, names in _NAMES.items():
        for name in names:
            count = _at(fields(said), name)
            if isinstance(count, int) and not isinstance(count, bool):
                found[ours] = count
                break
    return found


def _at(said: dict[str, Any], name: str) -> Any:
    outer, _, inner = name.partition(".")
    return fields(said.get(outer)).get(inner) if inner else said.get(outer)
