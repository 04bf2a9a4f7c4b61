"""The last resort: call-shaped JSON in a reply that no provider knows, as guesses that say what they rest on.

Only whole objects in a reply count; each is yielded once (by id, or by name and arguments). A known provider always
outranks this one, and what it claims is read by it alone, so nothing is counted twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from classifiers.call import ToolCall
from proxy.events import CallClosed, Event, Facts
from proxy.exchange import Ending, Exchange, Side
from proxy.providers import Assembly
from proxy.providers._calls import fields, hashed, text
from proxy.providers._reading import arguments_of_text, arguments_of_value
from proxy.wire import Frame

MAX_DEPTH = 32
MAX_CONTAINERS = 20_000
LOOK_AHEAD = 400
MAX_SEEN = 10_000

# (name key, argument keys) of one call object; the first that fits decides.
_SHAPES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("tool_name", ("tool_input", "tool_args", "tool_arguments", "arguments", "args", "input", "parameters")),
    ("toolName", ("toolInput", "toolArgs", "arguments", "args", "input", "parameters")),
    ("function_name", ("function_args", "arguments", "args", "parameters")),
    ("action", ("action_input",)),
    ("tool", ("tool_input", "args", "arguments", "input", "parameters")),
    ("name", ("arguments",)),
)
_TYPES = frozenset({"tool_call", "tool_use", "function_call", "toolCall", "functionCall", "tool-call"})
_TYPED_ARGUMENTS = ("arguments", "input", "args", "parameters")
_IDS = ("id", "call_id", "tool_call_id", "toolCallId", "tool_use_id")


class GenericReply:
    def __init__(self, exchange: Exchange) -> None:  # noqa: ARG002 - the seam's signature
        self._seen: dict[str, bool] = {}
        self._ordinal = 0

    def request(self, exchange: Exchange) -> Iterator[Event]:  # noqa: ARG002 - a request only claims
        yield Facts({"protocol": "generic"})

    def frame(self, frame: Frame) -> Iterator[Event]:
        if frame.side is Side.REQUEST:
            return
        for call_id, name, value, why in guesses(frame.data):
            key = hashed([call_id]) if call_id is not None else hashed([name, value])
            if key in self._seen or len(self._seen) >= MAX_SEEN:
                continue
            self._seen[key] = True
            read = arguments_of_text(value) if isinstance(value, str) else arguments_of_value(value)
            yield CallClosed(
                ToolCall(
                    name=name,
                    id=call_id,
                    **read,
                    kind="guessed",
                    complete=read["arguments_valid"] is not False,
                    ordinal=self._ordinal,
                    extra={"guessed": why},
                )
            )
            self._ordinal += 1

    def close(self, ending: Ending) -> Iterator[Event]:  # noqa: ARG002 - only whole objects were taken
        return iter(())


def guesses(value: Any, limit: int = MAX_CONTAINERS) -> list[tuple[str | int | None, str, Any, str]]:
    """(id, name, arguments, why) of each call-shaped object, outermost first; their arguments are not searched."""
    return list(_walk(value, MAX_DEPTH, [limit]))


def _walk(value: Any, depth: int, budget: list[int]) -> Iterator[tuple[str | int | None, str, Any, str]]:
    budget[0] -= 1
    if depth <= 0 or budget[0] <= 0:
        return
    if isinstance(value, dict):
        found = _call_in(value)
        if found is not None:
            yield found
            return
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in items:
        if isinstance(item, (dict, list)):
            yield from _walk(item, depth - 1, budget)


def _call_in(holder: dict[str, Any]) -> tuple[str | int | None, str, Any, str] | None:
    call_id = next((holder[k] for k in _IDS if isinstance(holder.get(k), (str, int)) and holder[k] != ""), None)
    function = fields(holder.get("function"))
    if text(function.get("name")) and _is_arguments(function.get("arguments")):
        return call_id, text(function["name"]), function["arguments"], "function {name, arguments}"
    kind, name = text(holder.get("type")), text(holder.get("name"))
    if kind in _TYPES and name:
        key = next((k for k in _TYPED_ARGUMENTS if _is_arguments(holder.get(k))), None)
        if key is not None:
            return call_id, name, holder[key], f"type {kind} with name and {key}"
    for key, arguments in _SHAPES:
        given = next((a for a in arguments if _is_arguments(holder.get(a))), None)
        if given is not None and text(holder.get(key)):
            return call_id, text(holder[key]), holder[given], f"{key} with {given}"
    return None


def _is_arguments(value: Any) -> bool:
    """An object, or text that begins like one."""
    return isinstance(value, dict) or (isinstance(value, str) and value.lstrip().startswith("{"))


class _Generic:
    name = "generic"
    dialect_of: str | None = None
    slow = True  # walks replies for the shape

    def claims(self, exchange: Exchange, first: Frame | None) -> int:  # noqa: ARG002 - only the reply's shape counts
        return 5 if first is not None and first.side is not Side.REQUEST and guesses(first.data, LOOK_AHEAD) else 0

    def open(self, exchange: Exchange) -> Assembly:
        return GenericReply(exchange)


PROVIDER = _Generic()
