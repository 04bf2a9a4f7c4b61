"""Redirections: what a command's ``<``, ``>``, here-documents and ``/dev/tcp`` do, and where its input comes from.

``>`` may truncate something (destructive unknown); ``: > f``, ``>|`` and files known to exist do; ``>>`` adds;
``/dev/null`` is nothing; ``/dev/tcp/host/port`` is the network (bash(1) REDIRECTION).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from classifiers import paths
from classifiers.effects import Domain, OpaqueReason, Verb
from classifiers.shell import descriptors, ir
from classifiers.shell.emit import context_for, tell
from classifiers.shell.payloads.later import runs_later
from classifiers.shell.state import TERMINAL, Scope, State, Stream

if TYPE_CHECKING:
    from classifiers.shell.evaluate import Evaluator

_NET = re.compile(r"/dev/(?:tcp|udp)/([^/]+)/(.+)")
_WRITES = frozenset({">", ">|", "&>", ">&", "<>"})
_APPENDS = frozenset({">>", "&>>"})


@dataclass(slots=True)
class Plan:
    """What the redirections of one command come to."""

    stdin: Stream | None = None
    stdout_taken: bool = False
    network: int | None = None  # effect of a /dev/tcp redirection
    files: list[tuple[str, bool, int | None]] = field(default_factory=list)  # path, appended, effect
    sinks: list[str] = field(default_factory=list)  # marks of the >(…) it goes to

    def wrote(self, ev: Evaluator, state: State, scope: Scope, stream: Stream) -> None:
        """The command's output went to these files: remember it, and say so when secrets left for the network."""
        for written, appended, effect in self.files:
            path = written.removeprefix("./")
            before = state.files.get(path)
            if appended and before is not None and before.text is not None and stream.text is not None:
                state.files[path] = Stream(before.text + stream.text, before.sources + stream.sources, stream.decoded)
            else:
                state.files[path] = stream if not appended else Stream(None, stream.sources)
                if appended and before is None and stream.text is not None:
                    state.added[path] = state.added.get(path, "") + stream.text
            runs_later(ev, written, stream, effect, state, scope)
        if self.network is not None:
            ev.flow_out(stream, self.network)
        for mark in self.sinks:
            ev.fed(mark, stream)


def apply_redirects(
    ev: Evaluator, redirects: list[ir.Redirect], state: State, scope: Scope, *, truncates: bool = False
) -> Plan:
    """Emit the effects of ``redirects``. ``truncates``: the command itself prints nothing (``: > f``)."""
    plan = Plan()
    expander = ev.expander(state, scope)
    for item in redirects:
        if item.here is not None:
            _input(_here(ev, item.here, state, scope), descriptors.number(item, state), plan, state)
        elif item.op == "<<<":
            _input(_here_string(ev, item, state, scope), descriptors.number(item, state), plan, state)
        elif item.op == "broken":
            ev.out.hide(OpaqueReason.PARSE_ERROR, scope.span(item.span), "a redirection that cannot be read")
        elif item.target is not None:
            words = expander.fields(item.target) if item.op != "<<" else []
            target = words[0].text if len(words) == 1 else expander.text(item.target)
            glob = len(words) == 1 and (words[0].glob or (words[0].propagated and "*" in target))
            _one(ev, item, target, glob, plan, state, scope, truncates)
    return plan


def _one(
    ev: Evaluator, item: ir.Redirect, target: str, glob: bool, plan: Plan, state: State, scope: Scope, truncates: bool
) -> None:
    op = item.op
    if item.name:
        item = replace(item, fd=descriptors.number(item, state), name="")
    duplicates = op in {">&", "<&"} and (target.isdigit() or target == "-" or target.rstrip("-").isdigit())
    if op in {">&", "<&"} and not ev.known(target) and _holds_descriptor(item):
        return
    if duplicates:
        _duplicate(op, item.fd, target.rstrip("-"), plan, state)
        return
    stream = descriptors.opened(target, state) if op == "<" else None
    if stream is not None:
        _input(stream, item.fd, plan, state)
        return
    held = _HELD.fullmatch(target)
    if held and int(held[1]) in state.sockets:
        _duplicate(">&" if op != "<" else "<&", item.fd, held[1], plan, state)
        return
    net = _NET.fullmatch(target)
    if net:
        _network(ev, item, net, plan, state, scope)
        return
    if op == "<":
        _read(ev, item, target, plan, state, scope)
    elif op in _WRITES | _APPENDS:
        _write(ev, item, target, glob, plan, state, scope, truncates)


def _holds_descriptor(item: ir.Redirect) -> bool:
    """``2>&$x``, ``>&"${COPROC[1]}"``, ``>&$fd``: which descriptor nobody knows, but no file (bash(1), coprocesses)."""
    raw = item.target.raw if item.target is not None else ""
    return item.fd is not None or _DESCRIPTOR.fullmatch(raw) is not None


_DESCRIPTOR = re.compile(r"\"?\$(?:\{\w+\[[01]\]\}|\{?\w*[fF][dD]\w*\}?)\"?")
_TERMINAL = re.compile(r"/dev/(?:tty\d*|pts/\d+|console)")
_HELD = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")


def _input(stream: Stream, fd: int | None, plan: Plan, state: State) -> None:
    """Standard input of the command, or a descriptor that some later one reads."""
    if fd in {None, 0}:
        plan.stdin = stream
    elif fd is not None and fd > 2:
        state.inputs[fd] = stream


def _duplicate(op: str, fd: int | None, source: str, plan: Plan, state: State) -> None:
    """``>&3``: where descriptor 3 is a socket, the command's output goes there."""
    held = state.sockets.get(int(source)) if source.isdigit() else None
    if held is None:
        if op == "<&" and source.isdigit() and (int(source) in state.inputs or int(source) > 2):
            _input(state.inputs.get(int(source), Stream(None)), fd, plan, state)
        return
    if op == "<&":
        plan.stdin = Stream(None, network=True)
    elif fd in {None, 1, 2}:
        plan.network = held
        plan.stdout_taken = True
    if fd is not None and fd > 2:
        state.sockets[fd] = held


def _network(ev: Evaluator, item: ir.Redirect, net: re.Match[str], plan: Plan, state: State, scope: Scope) -> None:
    target = f"{net[1]}:{net[2]}"
    verb = Verb.RECEIVE if item.op == "<" else Verb.SEND
    destructive = False if item.op == "<" else None
    index = tell(
        ev, verb, Domain.NETWORK, target, item.span, state, scope, destructive=destructive,
        reversibility="read_only" if verb is Verb.RECEIVE else "externally_reversible",
    )  # fmt: skip
    plan.network = index
    if item.fd is not None and item.fd > 2 and index is not None:
        state.sockets[item.fd] = index
    if verb is Verb.RECEIVE and index is not None:
        plan.stdin = Stream(None, (index,), network=True)


def _read(ev: Evaluator, item: ir.Redirect, target: str, plan: Plan, state: State, scope: Scope) -> None:
    if target in ev.mark_streams and _piped(ev, target, "<("):
        _input(ev.mark_streams[target], item.fd, plan, state)
        return
    index = tell(ev, Verb.READ, Domain.FILESYSTEM, target, item.span, state, scope, reversibility="read_only")
    known = state.files.get(state.key(target))
    sources = () if index is None else (index,)
    stream = known if known is not None else Stream("" if target == "/dev/null" else None, sources)
    stream = TERMINAL if _TERMINAL.fullmatch(target) else stream
    _input(stream, item.fd, plan, state)


def _piped(ev: Evaluator, target: str, opening: str) -> bool:
    """Whether ``target`` is a ``<(…)`` or ``>(…)``: a name that ``$(…)`` or ``read`` gave is a file like any other."""
    return not ev.known(target) and ev.unknowns.reveal(target).startswith(opening)


def _write(
    ev: Evaluator, item: ir.Redirect, target: str, glob: bool, plan: Plan, state: State, scope: Scope, truncates: bool
) -> None:
    if _piped(ev, target, ">("):
        plan.stdout_taken = plan.stdout_taken or item.fd in {None, 1} or item.op.startswith("&")
        plan.sinks.append(target)
        return
    appended = item.op in _APPENDS
    context = context_for(scope, state)
    path = paths.canonical(target, context.cwd, context.home)
    certain = (
        not appended and item.op != "<>" and (item.op == ">|" or truncates or paths.known_to_exist(path, context.home))
    )
    destructive = False if appended else True if certain and ev.known(target) else None
    if not ev.known(target) and truncates and not appended:
        destructive = True
    unpacked = glob and "*" in target and "tar --to-command" in scope.via  # a file for each member
    if unpacked:
        destructive = False
    elif glob and not appended and item.op != "<>" and _is_variable(item.target):
        destructive = True  # ``for f in *.log; do … > "$f"``: each is there
    verb = Verb.CREATE if unpacked else Verb.MODIFY
    index = tell(
        ev, verb, Domain.FILESYSTEM, target, item.span, state, scope, destructive=destructive,
        reversibility="reversible" if appended else "irreversible" if destructive else "unknown",
        tags=() if appended else ("overwrite",), breadth="many" if glob else "one",
    )  # fmt: skip
    if item.fd in {None, 1} or item.op.startswith("&"):
        plan.stdout_taken = True
        if index is not None:
            plan.files.append((path, appended, index))


def _is_variable(word: ir.WordIR | None) -> bool:
    """``$f`` alone, as the loop gave it: ``$f.new`` is another file, which may not be there."""
    parts = () if word is None else word.parts
    return len(parts) == 1 and isinstance(parts[0], ir.Var) and not parts[0].op


def _here(ev: Evaluator, here: ir.HereDoc, state: State, scope: Scope) -> Stream:
    if len(here.parts) == 1 and isinstance(here.parts[0], ir.Lit):
        return Stream(here.body)
    text = "".join(c[0] for c in ev.expander(state, scope).chunks(here.parts))
    marks = [ev.mark_streams[c] for c in text if c in ev.mark_streams] if not text.isascii() else []
    return Stream(text, tuple(s for m in marks for s in m.sources))


def _here_string(ev: Evaluator, item: ir.Redirect, state: State, scope: Scope) -> Stream:
    text = ev.expander(state, scope).text(item.target)
    marks = [ev.mark_streams[c] for c in text if c in ev.mark_streams] if not text.isascii() else []
    decoded = text in ev.mark_streams and ev.mark_streams[text].decoded
    return Stream(text + "\n", tuple(s for m in marks for s in m.sources), decoded)
