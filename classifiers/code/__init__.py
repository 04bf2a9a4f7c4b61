"""What a program could do. In: text and its language. Out: one Action.

Python is read by the standard library's parser, other languages by tree-sitter grammars; a language without a front end
is opaque (``payload_unreadable``). Harmless computation is complete and has no effects.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cache

from classifiers.clock import loading
from classifiers.code.interpret import Interpreter
from classifiers.code.languages import front_end, guess_language, language_named
from classifiers.code.library import library
from classifiers.context import NOWHERE, Context
from classifiers.effects import Action, Domain, OpaqueReason, Surface, Tag, Verb
from classifiers.gather import Gather
from classifiers.surface import CallParts, surface_named

__all__ = ["classify_code"]

MAX_TEXT = 30_000
_ELSEWHERE = {"bash": "shell", "powershell": "powershell", "cmd": "cmd", "sql": "sql"}


def classify_code(  # noqa: PLR0917 - what a payload comes with, each with its default
    text: str,
    language: str | None = None,
    context: Context = NOWHERE,
    path: str = "arguments.code",
    depth: int = 0,
    argv: Sequence[str] = (),
    server: tuple[str | None, str | None] = (None, None),
) -> Action:
    """``language`` None: guessed from the text. ``argv``: its own name (``-c``) and words, if known. Never raises.

    ``server``: the host and database that mongosh's ``db`` is.
    """
    name = language_named(language) if language else guess_language(text)
    if name == "powershell-encoded":
        name, text = "cmd", f"powershell -EncodedCommand {text}"
    other = _ELSEWHERE.get(name or "")
    if other is not None:
        return _elsewhere(other, text, context, path, depth)
    out = Gather(Surface.CODE, at=path)
    parse = front_end(name)
    known = library(name) if name is not None and parse is not None else None
    _warm(name)
    out.start_clock(context.max_ms)
    if parse is None or known is None or len(text) > MAX_TEXT:
        return _unread(
            out, text, f"no reader for {language or 'this language'}" if parse is None else "over the size cap"
        )
    try:
        nodes = parse(text, out.half_time(context.max_ms))
    except TimeoutError:
        return _unread(out, text, f"{name} text that takes too long to parse", OpaqueReason.SIZE_CAP)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return _unread(out, text, f"{name} does not parse: {type(error).__name__}", OpaqueReason.PARSE_ERROR)
    out.parsers.append(name or "")
    reader = Interpreter(text, known, context, out, depth)
    reader.start(argv)
    if name == "mongosh":
        reader.connect(*server)
    try:
        reader.run(nodes)
        reader.finish()
    except RecursionError:
        out.hide(OpaqueReason.DEPTH_CAP, (0, len(text)), "nested too deep to read")
    _sockets(reader, out, len(text))
    return out.action()


@cache
@loading()
def _warm(name: str | None) -> None:
    """Load the language's grammar before the first clock starts."""
    parse = front_end(name)
    if parse is not None:
        with suppress(SyntaxError, ValueError):
            parse("", None)


def _sockets(reader: Interpreter, out: Gather, size: int) -> None:
    """A socket joined to a program's input and output is a shell for whoever is at the other end."""
    if "stdio" in reader.marks and {"socket", "listen"} & reader.marks:
        tag = Tag.BIND_SHELL if "listen" in reader.marks else Tag.REVERSE_SHELL
        out.add(Domain.CODE, Verb.EXECUTE, span=(0, size), destructive=None, tags=(tag,))


def _unread(out: Gather, text: str, why: str, reason: OpaqueReason | None = None) -> Action:
    out.add(Domain.CODE, Verb.EXECUTE, span=(0, len(text)), destructive=None)
    out.hide(reason or OpaqueReason.PAYLOAD_UNREADABLE, (0, len(text)), why)
    return out.action()


def _elsewhere(surface: str, text: str, context: Context, path: str, depth: int) -> Action:
    role = "sql" if surface == "sql" else "command"
    reader = surface_named(surface)
    parts = CallParts(surface, {role: text}, {role: path}, depth=depth)
    action = None if reader is None else reader.classify(parts, context)
    return action or _unread(Gather(Surface.CODE, at=path), text, f"the {surface} surface does not read it")
