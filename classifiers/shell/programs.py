"""A program by its knowledge: its words in, its effects, flows and what it prints out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from classifiers.effects import Domain, Verb
from classifiers.knowledge import interpret, lookup
from classifiers.knowledge.reading import Handed, Reading, Told
from classifiers.knowledge.words import Word
from classifiers.shell import descriptors, streams
from classifiers.shell.emit import emit
from classifiers.shell.evaluate import Evaluator, Result
from classifiers.shell.flows import (
    ARCHIVERS,
    DUMPERS,
    EMPTIES,
    TALKERS,
    UNPACKERS,
    answering_shell,
    command_flows,
    deployed,
    emptied,
    is_remote,
    is_source,
    program_name,
    remember,
    unpacked_over,
)
from classifiers.shell.payloads.handing import hand_on
from classifiers.shell.payloads.manifests import APPLIERS, named
from classifiers.shell.payloads.orders import SHELLS
from classifiers.shell.payloads.project import MAKES, RUNNERS, put_scripts, run_project
from classifiers.shell.payloads.script_files import given, run_file
from classifiers.shell.payloads.stdin import read_stdin
from classifiers.shell.redirects import Plan
from classifiers.shell.state import Scope, State, Stream
from classifiers.shell.stored import STORING, copied, stored, unpacked, written_program
from classifiers.shell.strangers import run_unknown

_PLACES = frozenset({Domain.CONTAINERS, Domain.NETWORK, Domain.CLOUD})
_HELD = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")


@dataclass(slots=True)
class _Done:
    """What a reading came to: its own effects (and those with a target), what it is fed, what inner commands print."""

    inputs: list[Stream]
    indexes: list[int] = field(default_factory=list)
    written: list[tuple[Told, int]] = field(default_factory=list)
    printed: list[Stream] = field(default_factory=list)


def run_program(ev: Evaluator, words: Sequence[Word], state: State, scope: Scope, plan: Plan | None = None) -> Result:
    """A program: by its knowledge, else as a file that is run, else unknown."""
    name = words[0]
    made = written_program(name.text, state) if state.files else None
    if made is not None and made not in scope.via:
        fed = replace(scope, given=given(made, words[1:]))
        return run_file(ev, name.with_text(made), state, fed, language=""), None
    program = program_name(name.text)
    node = lookup(program) if program else None
    written = "/" in name.text and bool(state.files) and state.key(name.text) in state.files
    if program is None or node is None or written:  # written: a file this very script made, whatever its name
        return run_unknown(ev, words, state, scope)
    if program == "tmux" and any(w.text == ";" for w in words):
        return _in_turn(ev, words, state, scope, plan)
    before = len(ev.out.effects)
    reading = interpret(node, name, words[1:], piped=scope.stdin is not None)
    ev.out.note(f"{program}: {reading.node.file}:{reading.node.line}")
    inputs = [scope.stdin] if scope.stdin is not None else []
    done = _Done(inputs + ev.streams_in(list(words[1:])))
    if program in APPLIERS:
        named(ev, reading, state, scope)
    _perform(ev, reading, done, state, scope, plan)
    if reading.reads_stdin is not None:
        fed = scope if program not in SHELLS else replace(scope, given=given(program, reading.parsed.operands))
        read_stdin(ev, reading.reads_stdin, words, program, state, fed, plan, reading.server)
    own = [i for i in dict.fromkeys([*done.indexes, *range(before, len(ev.out.effects))]) if i not in ev.kept]
    if program in UNPACKERS:
        unpacked_over(ev, done.indexes)
        unpacked(ev, done.written, state, scope)
    if program in APPLIERS:
        deployed(ev, done.indexes, done.inputs)
    if program in EMPTIES and EMPTIES[program](reading.parsed, scope.stdin):
        emptied(ev, done.indexes)
    _into_sockets(ev, reading, own, program, state)
    command_flows(ev, own, done.indexes, done.inputs, words)
    if program in UNPACKERS:
        state.fetched += [s for stream in done.inputs for s in stream.sources if is_remote(ev.out.effects[s])]
    elif program == "git":
        state.fetched += [i for i in own if _clones(ev, i)]
    _run_as_fed(ev, done)
    _into_substitutions(ev, words, done, own)
    held = {**_packed(program, done, state), **put_scripts(program, reading, state)}
    remember(ev, done.written, own, program, state)
    state.files.update(held)
    _with_files(ev, program, reading, words, done, own, state, scope)
    if len(done.printed) == 1 and not done.indexes:
        return done.printed[0], None
    if program in TALKERS:
        answering_shell(ev, own, done.inputs)
    return _output(ev, program, words, done, own, state, scope), None


def _with_files(
    ev: Evaluator,
    program: str,
    reading: Reading,
    words: Sequence[Word],
    done: _Done,
    own: list[int],
    state: State,
    scope: Scope,
) -> None:
    """Files of this call the program copies, runs as a project's recipes, or puts where they run by themselves."""
    copied(ev, program, reading, scope, state)
    if program in MAKES and (variables := [w for w in reading.parsed.operands if "=" in w.text]):
        ev.readers.assigned(ev, variables, words, state, scope)
    if program in RUNNERS and state.files:
        run_project(ev, program, reading, words, own, state, scope)
    if program in STORING:
        stored(ev, program, done.written, reading, state, scope)


def _in_turn(ev: Evaluator, words: Sequence[Word], state: State, scope: Scope, plan: Plan | None) -> Result:
    r"""``tmux new -d \; send-keys ls``: several orders for one server (tmux(1), COMMANDS)."""
    orders: list[list[Word]] = [[]]
    for word in words[1:]:
        if word.text == ";":
            orders.append([])
        else:
            orders[-1].append(word)
    for order in filter(None, orders):
        run_program(ev, [words[0], *order], state, scope, plan)
    return Stream(None), None


def _perform(ev: Evaluator, reading: Reading, done: _Done, state: State, scope: Scope, plan: Plan | None) -> None:
    """Tell, hand on and hide what the knowledge says, in its order."""
    hidden = len(ev.out.opaque)
    for item in reading.items:
        if isinstance(item, Told):
            index = emit(ev, item, state, scope)
            if index is not None:
                done.indexes.append(index)
                if item.fields.get("kept"):
                    ev.kept.add(index)
                done.written += [(item, index)] if item.target else []
                if item.action is Verb.READ and item.target:
                    done.inputs += _known_input(item.target, state)
        elif isinstance(item, Handed):
            done.printed.append(hand_on(ev, item, state, scope, plan))
        else:
            ev.out.hide(item.reason, scope.span(item.span), item.text)
    if done.printed and not reading.session and len(ev.out.opaque) == hidden:
        _all_read(ev, done.indexes)


def _all_read(ev: Evaluator, indexes: list[int]) -> None:
    """Running something elsewhere loses nothing itself when what runs there was read (docs/effects.md, execute)."""
    for index in indexes:
        effect = ev.out.effects[index]
        if effect.action is Verb.EXECUTE and effect.destructive is None and effect.domain in _PLACES:
            ev.out.effects[index] = replace(effect, destructive=False)


def _known_input(target: str, state: State) -> list[Stream]:
    """What reading this gives: a file this script wrote, a descriptor it opened."""
    known = state.files.get(state.key(target)) if state.files else None
    held = descriptors.opened(target, state) if state.inputs else None
    return [s for s in (known, held) if s is not None]


_PACKERS = frozenset(
    (
        "gzip",
        "pigz",
        "bzip2",
        "pbzip2",
        "lbzip2",
        "xz",
        "pxz",
        "zstd",
        "lz4",
        "lzma",
        "lzip",
        "compress",
        "gunzip",
        "bunzip2",
        "unxz",
        "uncompress",
        "unlzma",
        "unzstd",
    )
)


def _packed(program: str, done: _Done, state: State) -> dict[str, Stream]:
    """``gzip f``: what ``f`` holds is in ``f.gz`` now, whatever name the knowledge tells."""
    held: dict[str, Stream] = {}
    for item, _ in done.written if program in _PACKERS and state.files else ():
        known = state.files.get(state.key(item.word.text)) if item.word is not None else None
        if known is not None and item.target and item.word is not None and item.target != item.word.text:
            held[state.key(item.target)] = Stream(None, known.sources)
    return held


def _clones(ev: Evaluator, index: int) -> bool:
    effect = ev.out.effects[index]
    return effect.domain is Domain.VCS and effect.action is Verb.RECEIVE and effect.target is not None


def _run_as_fed(ev: Evaluator, done: _Done) -> None:
    """``curl … | awk '{print | "sh"}'``: code the program was told to make of its input comes from where that does."""
    for index in done.indexes:
        effect = ev.out.effects[index]
        if (effect.domain, effect.action, effect.target) == (Domain.CODE, Verb.EXECUTE, None):
            for stream in done.inputs:
                ev.code_flow(stream, index)


def _into_substitutions(ev: Evaluator, words: Sequence[Word], done: _Done, own: list[int]) -> None:
    """``tee >(sh)``, ``curl -o >(sh)``: what the program is fed or makes goes into these commands."""
    marks = [c for w in words for c in w.text if c in ev.sinks] if ev.sinks else []
    sources = tuple(dict.fromkeys([*(s for stream in done.inputs for s in stream.sources), *own]))
    for mark in marks:
        ev.fed(mark, Stream(None, sources, any(s.decoded for s in done.inputs)))


def _output(
    ev: Evaluator, program: str, words: Sequence[Word], done: _Done, own: list[int], state: State, scope: Scope
) -> Stream:
    """What the program prints, as far as it is known, and where that comes from."""
    inputs = done.inputs
    text = None if done.printed else _printed(ev, program, words, scope)
    if text is None and program == "cat":
        text = _catted(words, state)
    sources = dict.fromkeys((*(s for stream in inputs for s in stream.sources), *(i for i in own if is_source(ev, i))))
    decoded = (
        any(s.decoded for s in inputs)
        or (text is not None and streams.decodes(program))
        or streams.unpacks(program, [w.text for w in words])
    )
    archive = program in ARCHIVERS or any(s.archive for s in inputs)
    dump = program in DUMPERS or (program == "sqlite3" and words[-1].text in {".dump", ".recover"})
    return Stream(text, tuple(sources), decoded, archive, dump, any(s.network for s in inputs))


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
