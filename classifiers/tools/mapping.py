"""Which tool is which surface: a closed call in, its Action out (or None: nobody knows this tool).

Order (03-effects.md, "Surfaces"): the user's mapping, ours by tool name, an MCP server's tools, the shape of the
arguments. MCP annotations are kept as ``claimed`` and change nothing. ``MAP`` is what the dispatcher finds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from classifiers.call import ExecutedBy, ToolCall
from classifiers.context import Context
from classifiers.dispatch import unread
from classifiers.effects import Action, Opaque, OpaqueReason, Surface
from classifiers.tools.apply import Caller, apply, fits
from classifiers.tools.arguments import ROOT, find
from classifiers.tools.entries import named, of_server, servers_with
from classifiers.tools.format import Entry, ToolMapError, read_entries
from classifiers.tools.names import spellings
from classifiers.tools.shapes import guess

_WRAPPERS = frozenset({"params", "kwargs", "request", "parameters"})


def map_call(call: ToolCall, context: Context) -> Action | None:
    arguments = arguments_of(call)
    if arguments is None:
        return _unreadable(call)
    server = next(iter(spellings(call.name, call.server)))[0]
    arguments, root = _unwrapped(arguments)
    caller = Caller(call.name, context, lambda name, given: _inner(name, given, call, context), server or "", root)
    mine, error = user_entries(context.tools)
    action = None
    for entry, via in _candidates(call, arguments, mine):
        action = apply(entry, arguments, caller)
        if action is not None:
            action = _remember(action, via, f"{entry.origin or call.name} -> {action.surface}")
            break
    action = action or unread(f"no surface is known for the tool {call.name}", call.name)
    if call.executed_by is ExecutedBy.PROVIDER:
        action = _at_provider(action)
    if error:
        action = replace(action, notes=(*action.notes, error))
    return replace(action, claimed={**action.claimed, **_claims(call)})


def arguments_of(call: ToolCall) -> Any:
    """The argument value to read; raw text of a custom tool counts as one string. None: cannot be read."""
    if call.arguments is not None:
        return call.arguments
    if not call.arguments_text.strip():
        return {} if call.complete else None
    return call.arguments_text if call.arguments_valid is None and call.complete else None


def _unwrapped(arguments: Any) -> tuple[Any, str]:
    """Some servers declare one object that holds all arguments: those, and where they stand."""
    if isinstance(arguments, Mapping) and len(arguments) == 1:
        name, inner = next(iter(arguments.items()))
        if name in _WRAPPERS and isinstance(inner, Mapping):
            return inner, f"{ROOT}.{name}"
    return arguments, ROOT


def user_entries(tools: dict[str, Any]) -> tuple[dict[str, Entry], str | None]:
    """The user's own mappings, or why they cannot be used. The rest still classifies."""
    return _user_entries(json.dumps(tools, sort_keys=True, default=str)) if tools else ({}, None)


@lru_cache(maxsize=8)
def _user_entries(text: str) -> tuple[dict[str, Entry], str | None]:
    try:
        return read_entries(json.loads(text), "tools"), None
    except (ToolMapError, ValueError) as error:
        return {}, f"the configured tool mapping is not used: {error}"


def _candidates(call: ToolCall, arguments: Any, mine: dict[str, Entry]) -> Iterator[tuple[Entry, tuple[str, ...]]]:
    """Entries to try, best first, each with what to put in ``via``."""
    names = tuple(spellings(call.name, call.server))
    for _server, _tool, spelling in names:
        if spelling.lower() in mine:
            yield mine[spelling.lower()], ()
    for server, tool, _spelling in names:
        if server and (entry := of_server(server, tool)):
            yield entry, (f"mcp:{server}/{tool}",)
    server, tool, _spelling = names[0]
    chain = (f"mcp:{server}/{tool}",) if server else ()
    others = (*named(tool), *named(call.name), *(servers_with(tool) if server else ()))
    for entry in sorted(dict.fromkeys(others), key=lambda e: -fits(e, arguments)):
        if fits(entry, arguments) >= bool(server):
            yield entry, (*chain, f"guessed:{tool} as in {entry.origin.partition(':')[0]}") if server else ()
    guessed = guess(call.name, arguments)
    if guessed is not None:
        yield guessed[0], (*chain, f"guessed:{guessed[1]}")


def _inner(name: str, arguments: Any, call: ToolCall, context: Context) -> Action:
    """A call inside a wrapper, read as if it had been made alone."""
    inner = replace(call, name=name, arguments=arguments, arguments_text="", server=None, definition=None)
    return map_call(inner, context) or unread(f"no surface is known for the tool {name}", name)


def _remember(action: Action, via: tuple[str, ...], note: str) -> Action:
    effects = tuple(replace(e, via=via + e.via) for e in action.effects) if via else action.effects
    return replace(action, effects=effects, notes=(note, *via, *action.notes))


def _at_provider(action: Action) -> Action:
    """What the provider runs touches the provider's machines, not this one."""
    effects = tuple(replace(e, where="provider") if e.where == "local" else e for e in action.effects)
    return replace(action, effects=effects, cwd_after=None)


def _unreadable(call: ToolCall) -> Action:
    """Arguments that never closed, or are not JSON: one unknown effect with that reason."""
    broken = f"the arguments are not JSON: {call.arguments_error or 'unreadable'}"
    why = broken if call.complete else "the call never closed"
    reason = OpaqueReason.PARSE_ERROR if call.complete else OpaqueReason.TRUNCATED
    return replace(unread(why, call.name, Surface.UNKNOWN), opaque=(Opaque(reason, None, why),))


def _claims(call: ToolCall) -> dict[str, Any]:
    """What the tool's own server says about it: recorded, never believed."""
    annotations = None if call.definition is None else call.definition.annotations
    found = find(annotations or {}, (".",))
    claims = found.value if found is not None and isinstance(found.value, dict) else {}
    hints = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint", "title")
    return {key: claims[key] for key in hints if key in claims}


MAP = map_call
