"""Diagnostics on the way out: text, JSON, SARIF, or a code host's annotations; and the exit code they mean."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import click

from policies.diagnostic import Diagnostic, sarif

FORMATS = ("text", "json", "sarif", "github")
BAD_FILE = 3


def show(found: Sequence[Diagnostic], form: str) -> None:
    click.echo(_FORMS[form](found), nl=bool(found) or form != "text")


def exit_code(found: Sequence[Diagnostic], *, strict: bool) -> int:
    """3 when a file is wrong, 1 when ``strict`` and there are warnings, else 0."""
    if any(d.level == "error" for d in found):
        return BAD_FILE
    return 1 if strict and found else 0


def _text(found: Sequence[Diagnostic]) -> str:
    return "\n".join(map(str, found))


def _github(found: Sequence[Diagnostic]) -> str:
    lines = [f"::{d.level} file={d.name},line={d.line},col={d.col},title={d.code}::{_escape(d.what)}" for d in found]
    return "\n".join(lines)


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


_FORMS: dict[str, Callable[[Sequence[Diagnostic]], str]] = {
    "text": _text,
    "json": lambda found: json.dumps([d.to_json() for d in found], indent=2, ensure_ascii=False),
    "sarif": lambda found: json.dumps(sarif(found), indent=2, ensure_ascii=False),
    "github": _github,
}
