"""What one simple command does: assignments, redirections, then builtin, function or program by its knowledge.

``run_simple`` takes a parsed command; ``run_argv`` a list of words some wrapper handed on. Both return what the command
prints and whether it certainly succeeds.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.effects import Certainty, Domain, OpaqueReason, Tag, Verb
from classifiers.knowledge import interpret, lookup
from classifiers.knowledge.interpret import Handed, Hidden, Reading, Told
from classifiers.knowledge.words import Word
from classifiers.shell import descriptors, hooks, ir, streams
from classifiers.shell.builtins import BUILTINS, aliased
from classifiers.shell.emit import context_for, emit, tell
from classifiers.shell.environment import (
    as_git_options,
    assign_variable,
    assigned_value,
    declare,
    programs_by_environment,
    with_options,
)
from classifiers.shell.flows import (
    ARCHIVERS,
    DUMPERS,
    TALKERS,
    UNPACKERS,
    answering_shell,
    command_flows,
    is_source,
    program_name,
    remember,
    unpacked_over,
)
from classifiers.shell.payloads import given, hand_on, read_stdin, run_file
from classifiers.shell.redirects import Plan, apply_redirects
from classifiers.shell.state import EMPTY, Scope, State, Stream

if TYPE_CHECKING:
    from classifiers.shell.evaluate import Evaluator, Truth

_PROGRAM_FOLDERS = (
    "/usr/local/bin/",
    "/usr/bin/",
    "/bin/",
    "~/.local/bin/",
    "~/bin/",
    "/usr/local/sbin/",
    "/usr/sbin/",
)
_SPLIT_QUOTES = re.compile(r"\w(?:''|\"\")\w|\w'[^']*'|\w\"[^\"$]*\"|\$'|\w\\\w|\$\{?IFS")
_FOUND = re.compile(
    r"(?:\$\(|`)\s*(?:which|command -v|type -[pP])\s+([A-Za-z_][\w.+-]*)(?:\s+2>\s*/dev/null)?\s*(?:\)|`)"
)
_IN_PLACE = frozenset({"-i", "-Ei", "-ni", "-Eni", "-nEi"})
_SUFFIX = re.compile(r"\.[\w-]+")
_INIT = re.compile(r"/etc/(?:rc\.d/)?init\.d/([\w.@-]+)")
_ESCAPE = re.compile(r":?!+[\w/.~]")


def run_simple(ev: Evaluator, node: ir.Simple, state: State, scope: Scope) -> tuple[Stream, Truth]:
    """Expand, redirect, dispatch."""
    if node.declare:
        return declare(ev, node, state, scope)
    expander = ev.expander(state, scope)
    words = [f for w in node.words for f in expander.fields(w)]
    ev.out.tick()
    values = {a.name: assigned_value(ev, a, state, scope) for a in node.assigns}
    if not words:
        if not node.words:
            for assign in node.assigns:
                assign_variable(state, assign, values[assign.name])
            programs_by_environment(ev, node.assigns, state, scope)
        plan = apply_redirects(ev, node.redirects, state, scope, truncates=True)
        plan.wrote(ev, state, EMPTY)
        if plan.stdin is not None and not node.words and not node.assigns:
            return plan.stdin, None  # $(< file) is the file's text
        return EMPTY, True if not node.words else None
    for name, value in values.items():
        if tags := hooks.tags(name, value):
            span = node.assigns[0].span
            tell(
                ev,
                Verb.MODIFY,
                Domain.ENVIRONMENT,
                f"env:{name}",
                span,
                state,
                scope,
                tags=tags,
                reversibility="reversible",
            )
    if node.words and _SPLIT_QUOTES.search(node.words[0].raw) and ev.known(words[0].text):
        scope = replace(scope, tags=(*scope.tags, "obfuscated", "defense_evasion"))
    programs_by_environment(ev, node.assigns, state, scope, values)
    words = as_git_options(with_options(words, values, state), values)
    silent = words[0].text in {":", "true"}
    plan = apply_redirects(ev, node.redirects, state, scope, truncates=silent)
    if words[0].text == "exec" and len(words) == 1 and plan.stdin is not None:
        state.inputs[0] = plan.stdin  # the shell itself reads from there now
    stdin = plan.stdin if plan.stdin is not None else scope.stdin or state.inputs.get(0)
    inner = scope if stdin is scope.stdin else replace(scope, stdin=stdin)
    before = {name: state.vars[name] for name in values if name in state.vars}
    state.vars.update(values)  # what the command's own payload sees: X=… sh -c '$X'
    stream, truth = run_argv(ev, words, state, inner, plan)
    for name, value in values.items():
        if state.vars.get(name) is value:
            state.vars.pop(name, None)
            if name in before:
                state.vars[name] = before[name]
    plan.wrote(ev, state, stream)
    return (replace(EMPTY, sources=stream.sources) if plan.stdout_taken else stream), truth


def run_argv(
    ev: Evaluator, words: Sequence[Word], state: State, scope: Scope, plan: Plan | None = None
) -> tuple[Stream, Truth]:
    """Run one command given as words."""
    name = words[0]
    text = name.text
    if _ESCAPE.match(text):  # a line typed into a pager or an editor: !/bin/sh
        name = name.with_text(text.lstrip(":!"))
        words, text = [name, *words[1:]], name.text
        scope = replace(scope, certainty=Certainty.POSSIBLE)
    if not ev.known(text) and (found := _FOUND.fullmatch(ev.unknowns.reveal(text))):  # "$(command -v python3)" x.py
        name = name.with_text(found[1])
        words, text = [name, *words[1:]], found[1]
    elif not ev.known(text) and ev.unknowns.reveal(text) in {"$SHELL", "${SHELL}"}:  # the user's own shell
        name = name.with_text("bash")
        words, text = [name, *words[1:]], "bash"
    if not ev.known(text) or (name.glob and "/" in text) or (name.glob and len(text) > 1):
        return _dynamic(ev, words, state, scope, plan)
    if "/" not in text:
        if text in state.functions:
            return _call(ev, words, state, scope)
        if text in BUILTINS:
            return BUILTINS[text](ev, list(words), state, scope, plan or Plan())
        if text in state.hashed:
            return run_program(ev, [name.with_text(state.hashed[text]), *words[1:]], state, scope, plan)
        if text in state.aliases:
            return aliased(ev, list(words), state, scope), None
    return run_program(ev, words, state, scope, plan)


def run_program(
    ev: Evaluator, words: Sequence[Word], state: State, scope: Scope, plan: Plan | None = None
) -> tuple[Stream, Truth]:
    """A program: by its knowledge, else as a file that is run, else unknown."""
    name = words[0]
    program = program_name(name.text)
    node = lookup(program) if program else None
    if node is None:
        return _unknown(ev, words, state, scope)
    words = _without_suffix(program or "", words)
    before = len(ev.out.effects)
    reading = interpret(node, name, words[1:], piped=scope.stdin is not None)
    ev.out.note(f"{program}: {reading.node.file}:{reading.node.line}")
    inputs = [scope.stdin] if scope.stdin is not None else []
    inputs += ev.streams_in(list(words[1:]))
    return _perform(ev, words, reading, state, scope, plan, before, inputs)


def _without_suffix(program: str, words: Sequence[Word]) -> Sequence[Word]:
    """BSD's ``sed -i '' …``: the word after is the suffix, none when it is empty, not the script."""
    if program not in {"sed", "gsed"}:
        return words
    out = [w for i, w in enumerate(words) if w.text or i == 0 or words[i - 1].text not in _IN_PLACE]
    for i, word in enumerate(out[1:-2], 1):
        if word.text in _IN_PLACE and _SUFFIX.fullmatch(out[i + 1].text):  # no sed script begins with a full stop
            out[i : i + 2] = [word.with_text(word.text + out[i + 1].text)]
            break
    return out


def _perform(
    ev: Evaluator,
    words: Sequence[Word],
    reading: Reading,
    state: State,
    scope: Scope,
    plan: Plan | None,
    before: int,
    inputs: list[Stream],
) -> tuple[Stream, Truth]:
    printed: list[Stream] = []
    indexes: list[int] = []
    written: list[tuple[Told, int]] = []
    program = program_name(words[0].text) or reading.parsed.nodes[0].name
    for item in reading.items:
        if isinstance(item, Told):
            index = emit(ev, item, state, scope)
            if index is not None:
                indexes.append(index)
                written += [(item, index)] if item.target else []
                if item.action is Verb.READ and item.target and state.files:
                    known = state.files.get(state.key(item.target))
                    inputs += [known] if known is not None else []
                if item.action is Verb.READ and item.target and state.inputs:
                    held = descriptors.opened(item.target, state)
                    inputs += [held] if held is not None else []
        elif isinstance(item, Handed):
            printed.append(hand_on(ev, item, state, scope, plan))
        else:
            ev.out.hide(item.reason, scope.span(item.span), item.text)
    if reading.reads_stdin is not None:
        read_stdin(ev, reading.reads_stdin, words, program, state, scope, plan, reading.server)
    after = list(range(before, len(ev.out.effects)))
    if program in UNPACKERS:
        unpacked_over(ev, indexes)
    own = list(dict.fromkeys([*indexes, *after]))
    _into_sockets(ev, reading, own, program, state)
    sources = tuple(dict.fromkeys(s for stream in inputs for s in stream.sources))
    command_flows(ev, own, indexes, inputs, words)
    remember(ev, written, own, program, state)
    _copied(ev, program, reading, scope, state)
    text = None if printed else _printed(ev, program, words, scope)
    if text is None and program == "cat":
        text = _catted(words, state)
    out_sources = tuple(dict.fromkeys((*sources, *(i for i in own if is_source(ev, i)))))
    decoded = (
        any(s.decoded for s in inputs)
        or (text is not None and streams.decodes(program))
        or streams.unpacks(program, [w.text for w in words])
    )
    if len(printed) == 1 and not indexes:
        return printed[0], None
    if program in TALKERS:
        answering_shell(ev, own, inputs)
    archive = program in ARCHIVERS or any(s.archive for s in inputs)
    dump = program in DUMPERS or (program == "sqlite3" and words[-1].text == ".dump")
    return Stream(text, out_sources, decoded, archive, dump, any(s.network for s in inputs)), None


def _copied(ev: Evaluator, program: str, reading: Reading, scope: Scope, state: State) -> None:
    """What ``tee f`` and ``cp a b`` put into a file is known when their input is."""
    operands = [w.text for w in reading.parsed.operands]
    if not operands or not all(map(ev.known, operands)):
        return
    if program == "tee" and scope.stdin is not None and not reading.parsed.given("-a", "--append"):
        for name in operands:
            state.files[state.key(name)] = scope.stdin
    elif program in {"cp", "mv", "install"} and len(operands) == 2 and state.files:
        source, place = operands
        if (known := state.files.get(state.key(source))) is not None and known.text is not None:
            place = f"{place}{posixpath.basename(source)}" if place.endswith("/") else place
            state.files[state.key(place)] = known


_HELD = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")


def _into_sockets(ev: Evaluator, reading: Reading, own: list[int], program: str, state: State) -> None:
    """``tar -cf /proc/self/fd/3 .`` where descriptor 3 is a socket: the output leaves."""
    for item in reading.items if state.sockets else ():
        held = _HELD.fullmatch(item.target or "") if isinstance(item, Told) and item.action is not Verb.READ else None
        if held and int(held[1]) in state.sockets:
            ev.flow_out(Stream(None, tuple(own), archive=program in ARCHIVERS), state.sockets[int(held[1])])


def _printed(ev: Evaluator, program: str, words: Sequence[Word], scope: Scope) -> str | None:
    """What the command prints, when its words and input are literals (echo may also repeat unknown parts)."""
    args = [w.text for w in words[1:]]
    stdin = scope.stdin.text if scope.stdin is not None else None
    literal = all(ev.known(a) for a in args) and (stdin is None or ev.known(stdin))
    return streams.printed(program, args, stdin) if literal or program in {"echo", "printf", "cat"} else None


def _catted(words: Sequence[Word], state: State) -> str | None:
    """``cat f`` of files this very script wrote."""
    if len(words) != 2:
        return None
    known = state.files.get(state.key(words[1].text)) or descriptors.opened(words[1].text, state)
    return known.text if known is not None else None


_NOT_FOUND = ("command_not_found_handle", "command_not_found_handler")  # bash, zsh: called with the command's words


def _unknown(ev: Evaluator, words: Sequence[Word], state: State, scope: Scope) -> tuple[Stream, Truth]:
    name = words[0]
    text = name.text
    scope = replace(scope, given=given(text, words[1:]))
    script = _INIT.fullmatch(text)
    if script is not None and len(words) == 2 and state.key(text) not in state.files:  # System V: its own service
        verb = Verb.READ if words[1].text == "status" else Verb.CONTROL
        target = f"service:{script[1]}"
        tell(
            ev,
            verb,
            Domain.SERVICES,
            target,
            name.span,
            state,
            scope,
            destructive=None if verb is Verb.CONTROL else False,
        )
        return Stream(None), None
    if "/" in text:
        run_file(ev, name, state, scope, language="")
        return Stream(None, scope.stdin.sources if scope.stdin else ()), None
    own = next(
        (f"{folder}{text}" for folder in ("", *_PROGRAM_FOLDERS) if state.key(folder + text) in state.files), None
    )
    if own is not None:  # a program this very script wrote
        run_file(ev, name.with_text(own), state, scope, language="")
        return Stream(None), None
    for hook in _NOT_FOUND:
        if hook in state.functions and hook not in state.calls:
            return _call(ev, [name.with_text(hook), *words], state, replace(scope, certainty=Certainty.POSSIBLE))
    index = tell(ev, Verb.EXECUTE, Domain.PROCESS, text, name.span, state, scope, destructive=None)
    command_flows(ev, [], [] if index is None else [index], ev.streams_in(list(words[1:])), words)
    ev.out.hide(OpaqueReason.UNKNOWN_EXECUTABLE, scope.span(name.span), text)
    return Stream(None, scope.stdin.sources if scope.stdin else ()), None


def _dynamic(
    ev: Evaluator, words: Sequence[Word], state: State, scope: Scope, plan: Plan | None
) -> tuple[Stream, Truth]:
    """The command's own name is not known."""
    name = words[0]
    raw = ev.unknowns.reveal(name.text)
    found = ev.streams_in([name])
    base = posixpath.basename(name.text)
    if "/" in name.text and ev.known(base) and not name.glob:
        index = tell(ev, Verb.EXECUTE, Domain.PROCESS, name.text, name.span, state, scope, destructive=None)
        return Stream(None), None
    index = tell(ev, Verb.EXECUTE, Domain.CODE, name.text, name.span, state, scope, destructive=None)
    ev.out.hide(OpaqueReason.DYNAMIC_COMMAND, scope.span(name.span), raw)
    if index is not None:
        for stream in found:
            ev.code_flow(stream, index)
        if state.sockets or (plan and plan.network is not None) or (scope.stdin and scope.stdin.network):
            ev.out.tag(index, Tag.REVERSE_SHELL)
    return Stream(None), None


def _call(ev: Evaluator, words: Sequence[Word], state: State, scope: Scope) -> tuple[Stream, Truth]:
    """A function of this script: its body runs with the arguments as ``$1`` …"""
    name = words[0].text
    if name in state.calls:
        if state.calls.count(name) == 1 and "forks" not in state.vars:
            tell(
                ev,
                Verb.CONTROL,
                Domain.PROCESS,
                None,
                words[0].span,
                state,
                scope,
                destructive=None,
                tags=("availability",),
                breadth="all",
            )
        return Stream(None), None
    if len(state.calls) >= 12:
        ev.out.hide(OpaqueReason.DEPTH_CAP, scope.span(words[0].span), name)
        return Stream(None), None
    saved = {k: v for k, v in state.vars.items() if k == "@" or k.isdigit()}
    args = [w.text for w in words[1:]]
    state.vars["@"] = list(args)
    for i in range(1, 10):
        state.vars.pop(str(i), None)
    state.vars.update({str(i): a for i, a in enumerate(args, 1)})
    state.calls = (*state.calls, name)
    outer = dict(state.vars)
    state.locals.append(set())
    stream, truth = ev.body(state.functions[name], state, replace(scope, via=(*scope.via, f"{name}()")))
    state.calls = state.calls[:-1]
    for local in state.locals.pop():
        state.vars.pop(local, None)
        if local in outer:
            state.vars[local] = outer[local]
    state.exited = False
    for key in [k for k in state.vars if k == "@" or k.isdigit()]:
        del state.vars[key]
    state.vars.update(saved)
    return stream, truth


__all__ = ["Hidden", "context_for", "run_argv", "run_program", "run_simple"]
