"""Files one call writes and later looks at again: what a copy holds, what it makes run later, programs put on the path.

In: a command's reading and the effects it told. Out: the state's files, and what is run from them by itself.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from classifiers.effects import Verb
from classifiers.knowledge.reading import Reading, Told
from classifiers.shell.payloads.later import runs_later
from classifiers.shell.state import Scope, State, Stream

if TYPE_CHECKING:
    from classifiers.shell.evaluate import Evaluator

# They put what some file or input holds into another file.
STORING = frozenset({"tee", "cp", "mv", "install", "ln", "dd", "curl", "wget", "scp", "rsync", "link", "sponge"})
_ON_THE_PATH = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", "~/.local/bin", "~/bin"]


def written_program(name: str, state: State) -> str | None:
    """The file this call wrote where programs of that name are looked for."""
    if "/" in name:
        return None
    places = (f"{folder}/{name}" for folder in _ON_THE_PATH)
    return next((p for p in places if (known := state.files.get(state.key(p))) is not None and known.text), None)


def copied(ev: Evaluator, program: str, reading: Reading, scope: Scope, state: State) -> None:
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


def stored(
    ev: Evaluator, program: str, written: list[tuple[Told, int]], reading: Reading, state: State, scope: Scope
) -> None:
    """What was put where it will be run by itself."""
    first = reading.parsed.operands[0].text if reading.parsed.operands else ""
    for item, index in written:
        effect = ev.out.effects[index]
        if item.action not in {Verb.MODIFY, Verb.CREATE} or effect.target is None:
            continue
        if program == "mv" and any(item.word is w for w in reading.parsed.operands[:-1]):
            continue  # it goes from there
        known = state.files.get(state.key(effect.target)) if program != "tee" else scope.stdin
        if (known is None or known.text is None) and effect.destructive is not False:
            inside = f"{effect.target}/{re.split('[:/]', first)[-1]}"  # the target may be a folder
            held = state.files.get(state.key(first))
            runs_later(ev, inside, held or known or Stream(None), index, state, scope)
            if held is not None:
                continue
        runs_later(ev, effect.target, known or Stream(None), index, state, scope)


def unpacked(ev: Evaluator, written: list[tuple[Told, int]], state: State, scope: Scope) -> None:
    """What an archive holds is not in the call; put into a folder of jobs or hooks it will run."""
    for item, index in written:
        target = ev.out.effects[index].target
        if item.action in {Verb.MODIFY, Verb.CREATE} and target is not None:
            runs_later(ev, f"{target}/_", Stream(None), index, state, scope)
