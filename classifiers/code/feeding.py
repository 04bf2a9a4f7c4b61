"""What a program writes to another's standard input, which is that one's orders: ``run(["sqlite3", "a.db"], input=…)``.

In: the call that starts it, or that writes to it. Out: literal text is read as those orders; text nobody knows makes
the action incomplete where the program takes orders at all (``bash``, ``psql``; not ``sort``).
Sources: Python ``subprocess``, Node ``child_process``, Ruby ``IO.popen`` and ``Open3``, ``popen`` of Lua, Perl and PHP.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from classifiers.code.handing import asked, role_of, to_surface
from classifiers.code.library import Known
from classifiers.code.values import Value, hole
from classifiers.effects import Action, Domain, Effect, Evidence, Opaque, OpaqueReason, Verb

if TYPE_CHECKING:
    from classifiers.code.calls import Site

Line = str | list[str]  # a command as text, or its words
_INTERPRETERS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "python", "python3", "node", "perl", "ruby", "php"})
PIPE = Value(ref="PIPE", raw="PIPE")


@dataclass(slots=True)
class Fed:
    """A program that runs and is written to. Shared by all values that stand for it."""

    line: Line
    told: int | None = None  # where the effect is that says orders come, until they are read
    said: Effect | None = None  # that effect, to know it again: two programs started by one call share it
    hidden: list[Opaque] = field(default_factory=list)  # what is open until they are read
    unread: bool = False  # something was written that nobody knows


def fed(site: Site, known: Known, line: Line) -> Value | None:
    """The start of a program whose input the call holds or will write; None when it takes no orders from there."""
    given = site.argument("input|stdin_data")
    if given is not None and given.text is not None:
        parts = {"command": _piped(shlex.quote(given.text), line)}
        return to_surface(site, "shell", parts, given) if given.text else None
    if (given is None and not _has_pipe(site, known)) or (given is not None and given.known and given.data is None):
        return None
    out, before = site.reader.out, list(site.reader.out.opaque)
    name = _bare(line)
    if name:
        told = [out.add(Domain.CODE, Verb.EXECUTE, name, span=site.span, destructive=None)]
        out.hide(OpaqueReason.PAYLOAD_UNREADABLE, site.span, site.raw)
    else:
        unknown = _read(site, _piped(f'"{_held(given)}"', line))
        if unknown is None or unknown.complete:  # it takes no orders
            return None
        told = out.absorb(unknown, span=site.span)
    hidden = [o for o in out.opaque if o not in before]
    held = Fed(line, *_announced(site, told[:1]), hidden, unread=given is not None)
    return _opened(site, held, frozenset(told))


def written_later(site: Site, known: Known, line: Line, value: Value | None) -> Value | None:
    """A program started with its input open, though nobody may write to it: a session until somebody does."""
    if "later" not in known.roles or value is None:
        return value
    unknown = _read(site, _piped('"$ARG"', line))
    if unknown is None or unknown.complete:
        return value
    made = sorted(value.taint - site.taint)
    is_session = len(made) == 1 and site.reader.out.effects[made[0]].action is Verb.EXECUTE
    return _opened(site, Fed(line, *_announced(site, made if is_session else [])), value.taint)


def feed(site: Site, _known: Known) -> Value | None:
    """``p.communicate(input=…)``, ``p.stdin.write(…)``, ``fwrite($p, …)``: orders to a program that runs."""
    held, given = site.func.data, list(site.args)
    if not isinstance(held, Fed) and given and isinstance(given[0].data, Fed):
        held, given = given[0].data, given[1:]
    text = site.named.get("input") or next((v for v in given if v.function is None), None)
    if not isinstance(held, Fed) or text is None or (text.known and not text.data):
        return None
    result = Value(raw=site.raw, taint=site.taint)
    out = site.reader.out
    action = None if text.text is None else _read(site, _piped(shlex.quote(text.text), held.line))
    if action is None:
        held.unread = True
        out.hide(OpaqueReason.PAYLOAD_UNREADABLE, site.span, site.raw)
        return result
    if not held.unread:
        out.opaque[:] = [o for o in out.opaque if o not in held.hidden]
    made: list[int] = []
    if held.told is not None and out.effects[held.told] is held.said:
        made.append(held.told)
        action = _in_place(site, held.told, action)
    held.told = None
    made += out.absorb(action, span=site.span)
    return replace(result, taint=result.taint | frozenset(made))


def _in_place(site: Site, index: int, action: Action) -> Action:
    """The first of the orders' effects takes the place of the effect that announced them."""
    out = site.reader.out
    if not action.effects or action.flows:
        out.effects[index] = replace(out.effects[index], destructive=False)
        return action
    out.effects[index] = replace(action.effects[0], evidence=Evidence(out.at, *site.span))
    out.seen = {effect: i for effect, i in out.seen.items() if i != index}  # the next start announces anew
    return replace(action, effects=action.effects[1:])


def _announced(site: Site, told: list[int]) -> tuple[int | None, Effect | None]:
    return (told[0], site.reader.out.effects[told[0]]) if told else (None, None)


def _opened(site: Site, held: Fed, made: frozenset[int]) -> Value:
    value = Value(ref="fed", raw=site.raw, data=held, taint=site.taint | made)
    for given in site.args if site.reader.language == "ruby" else ():  # Open3.popen3(cmd) { |stdin, …| … }
        if given.function is not None:
            site.reader.enter(given.function, [value])
    return value


def _has_pipe(site: Site, known: Known) -> bool:
    """The call opens the program's input to be written to."""
    mode = role_of(site, known, "pipe")
    if mode is not None and mode.text is not None:
        return "w" in mode.text or "+" in mode.text
    given = site.named.get("stdin")
    return given is not None and not given.ref.endswith("DEVNULL") and not (given.known and given.data is None)


def _bare(line: Line) -> str:
    """The interpreter that has nothing to run but its input; empty when the command is another."""
    words = line.split() if isinstance(line, str) else line
    name = words[0].rpartition("/")[2] if words else ""
    return name if name in _INTERPRETERS and all(w in {"-", "-s"} for w in words[1:]) else ""


def _held(given: Value | None) -> str:
    """What is known of a text, for the inside of double quotes."""
    shape = "$ARG" if given is None else hole(given)
    for mark in ("\\", '"', "`", "$("):
        shape = shape.replace(mark, f"\\{mark}")
    return shape if "$" in shape else "$ARG"


def _piped(text: str, line: Line) -> str:
    return f"printf '%s' {text} | " + (f"{{ {line}\n}}" if isinstance(line, str) else shlex.join(line))


def _read(site: Site, command: str) -> Action | None:
    return asked(site, "shell", {"command": command})
