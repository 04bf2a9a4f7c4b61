"""The browser and computer surface: where it goes, what it clicks and types.

Roles: operation (navigate | act | look | script | upload | computer), url, text, code, path, action, actions.
A click or a typed text is ``send network`` with destructive null: the page decides what it does.
A desktop's clicks and keys are an unknown effect: whatever window is there gets them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from classifiers.address import host_of
from classifiers.context import Context
from classifiers.effects import Action, Domain, OpaqueReason, Surface, Verb
from classifiers.gather import Gather
from classifiers.http import request_effects
from classifiers.paths import file_effect
from classifiers.surface import CallParts, surface_named

# What only looks or waits, by the action words of the OpenAI, Anthropic and Gemini computer tools.
_LOOKING = frozenset({
    "screenshot", "wait", "move", "mouse_move", "scroll", "cursor_position", "zoom", "hover", "hover_at",
    "get_position", "view", "wait_5_seconds", "scroll_document", "scroll_at", "open_web_browser", "search",
    "go_back", "go_forward",
})  # fmt: skip
_FUNCTION = re.compile(r"\s*(async\s*)?(\([^()]*\)|\w+)\s*=>|\s*(async\s+)?function\b")
_GOING = frozenset({"goto", "navigate", "open_url", "visit_url"})


class BrowserSurface:
    name = "browser"

    def classify(self, call_parts: CallParts, context: Context) -> Action | None:
        out = Gather(Surface.BROWSER, at=call_parts.path_of("url"))
        values = call_parts.values
        operation = values.get("operation") or ("navigate" if values.get("url") else "act")
        reader = _OPERATIONS.get(str(operation))
        if reader is None:
            return None
        reader(out, values, call_parts, context)
        return out.action()


def _navigate(out: Gather, values: Mapping[str, Any], parts: CallParts, context: Context) -> None:
    url = values.get("url")
    if isinstance(url, str) and url.lower().startswith("javascript:"):
        _script(out, {"code": url[11:]}, parts, context)
        return
    if not isinstance(url, str) or not url:
        out.add(Domain.NETWORK, Verb.RECEIVE, target_raw="?")
        return
    for effect in request_effects("GET", url, None, context):
        out.put(effect, (0, len(url)))


def _act(out: Gather, values: Mapping[str, Any], _parts: CallParts, _context: Context) -> None:
    url = values.get("url")
    out.add(Domain.NETWORK, Verb.SEND, target_raw=str(url)[:500] if url else None, destructive=None)


def _look(_out: Gather, _values: Mapping[str, Any], _parts: CallParts, _context: Context) -> None:
    """Reading the page that is there has no effect."""


def _script(out: Gather, values: Mapping[str, Any], parts: CallParts, context: Context) -> None:
    code = values.get("code")
    reader = surface_named("code")
    if isinstance(code, str) and _FUNCTION.match(code):  # the page calls the function it is given
        code = f"({code.strip().rstrip(';')})()"
    given = {"code": code, "language": "javascript"}
    inner = reader.classify(CallParts("code", given, {"code": parts.path_of("code")}), context) if reader else None
    out.add(Domain.CODE, Verb.EXECUTE, "page", destructive=None)
    if inner is None:
        out.hide(OpaqueReason.PAYLOAD_UNREADABLE, text="a script for the page")
    else:
        out.absorb(inner)


def _upload(out: Gather, values: Mapping[str, Any], parts: CallParts, context: Context) -> None:
    paths = values.get("path")
    for path in paths if isinstance(paths, list) else [paths]:
        if isinstance(path, str):
            out.at = parts.path_of("path")
            out.put(file_effect(Verb.READ, path, context), (0, len(path)))
    url = values.get("url")
    out.add(Domain.NETWORK, Verb.SEND, host_of(url) if isinstance(url, str) else None)
    out.pipe_secrets_out()


def _computer(out: Gather, values: Mapping[str, Any], parts: CallParts, context: Context) -> None:
    given = values.get("actions")
    inner = given.get("action") if isinstance(given, Mapping) else None
    nested = [inner] if isinstance(inner, Mapping) else None
    steps = (
        given if isinstance(given, list) else (given.get("actions") or nested) if isinstance(given, Mapping) else None
    )
    for step in steps if isinstance(steps, list) else [values]:
        word = str((step.get("action") or step.get("type") or "") if isinstance(step, Mapping) else step).lower()
        if word in _GOING and isinstance(step, Mapping):
            _navigate(out, step, parts, context)
        elif word not in _LOOKING:
            out.add(Domain.UNKNOWN, Verb.UNKNOWN, target_raw=word or None, destructive=None)
            out.hide(OpaqueReason.PAYLOAD_UNREADABLE, text=f"{word or 'an action'} on whatever window is there")


_OPERATIONS = {
    "navigate": _navigate,
    "act": _act,
    "look": _look,
    "script": _script,
    "upload": _upload,
    "computer": _computer,
}
SURFACE = BrowserSurface()
