"""Runners of a project's own recipes whose file this very call wrote: the command in, what the recipes do out.

``make`` by its makefile, npm and its kin by ``package.json`` (npm "scripts", Life Cycle Scripts). A file the call does
not hold stays what it is, ``execute code:project``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.effects import Domain, FlowKind, OpaqueReason, Verb
from classifiers.knowledge.reading import Reading
from classifiers.knowledge.words import Word
from classifiers.shell.payloads.elsewhere import read_beside
from classifiers.shell.payloads.makefile import recipe_lines
from classifiers.shell.payloads.scripts import run_text
from classifiers.shell.state import Scope, State, Stream

if TYPE_CHECKING:
    from classifiers.shell.evaluate import Evaluator

MAKES = frozenset({"make", "gmake"})
_MANAGERS = frozenset({"npm", "yarn", "pnpm", "bun", "cnpm"})
_TESTS = frozenset({"pytest", "py.test"})
_INSTALLERS = frozenset({"pip", "pip3"})
RUNNERS = MAKES | _MANAGERS | _TESTS | _INSTALLERS | {"just"}
_TEST_FILE = re.compile(r"(?:.*/)?(?:conftest|test_[^/]*|[^/]*_test)\.py")
_HEADER = re.compile(r"@?([\w-]+)((?:\s+[^:=\s]\S*)*)\s*:(?!=)(.*)")
_NAMES = ("GNUmakefile", "makefile", "Makefile")
_INSTALLS = frozenset({"install", "i", "add", "ci", "in", "clean-install", "install-test", "it"})
_RUN = frozenset({"run", "run-script", "rum", "urn"})
_INSTALLED = ("preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare")
_PUT = "#scripts."  # after a package.json the call has not: one script of it that the call put there
_PAIR = re.compile(r"scripts(?:\.([^=\[\]]+)|\[['\"]?([^=\[\]'\"]+)['\"]?\])=(.*)", re.DOTALL)
_MAX_DEPTH = 8


def run_project(
    ev: Evaluator, program: str, reading: Reading, words: Sequence[Word], own: list[int], state: State, scope: Scope
) -> None:
    """Read the recipes the command runs, where they are in the call."""
    if scope.where != "local" or reading.answered or reading.parsed.given("--dry-run", "-n", "--ignore-scripts"):
        return
    if program in _TESTS | _INSTALLERS:
        _imported(ev, program, reading, words, state, scope)
        return
    found = _scripted(words, state) if program in _MANAGERS else _made(program, reading, state)
    if found is None:
        return
    path, lines = found
    span = scope.span((words[0].span[0], words[-1].span[1]))
    if lines is None or scope.depth >= _MAX_DEPTH:
        ev.out.hide(OpaqueReason.PAYLOAD_UNREADABLE, span, f"{path}: its text alone does not say what runs")
        return
    index = next((i for i in own if _is_project(ev, i)), None)
    source = next((i for i, e in enumerate(ev.out.effects) if e.target == path and e.action is Verb.MODIFY), None)
    if index is not None:
        ev.out.flow(FlowKind.WRITE_THEN_EXECUTE, source, index)
    before = len(ev.out.opaque)
    inner = replace(scope, fixed=span, via=(*scope.via, program), stdin=None, given=(), depth=scope.depth + 1)
    for line in lines:
        run_text(ev, line, state.copy(), inner, [], span)
    held = state.files.get(path)
    if index is not None and len(ev.out.opaque) == before and held is not None and held.text is not None:
        ev.out.change(index, destructive=False)


def _is_project(ev: Evaluator, index: int) -> bool:
    effect = ev.out.effects[index]
    return effect.domain is Domain.CODE and effect.action is Verb.EXECUTE and effect.target == "project"


def _imported(ev: Evaluator, program: str, reading: Reading, words: Sequence[Word], state: State, scope: Scope) -> None:
    """What modules do when they are only imported: tests by their runner, ``setup.py`` by an installer. Theirs alone:
    what the rest of the project does is ``execute code:project`` already."""
    operands = [w.text for w in reading.parsed.operands]
    if program in _TESTS:
        named = {state.key(o.partition("::")[0]) for o in operands if ".py" in o}
        wanted = [p for p in state.files if _TEST_FILE.fullmatch(p) and (not named or p in named or "conftest" in p)]
    else:
        local = [w.text for w in reading.parsed.words_of("-e", "--editable")]
        folders = [f for f in (*operands, *local) if f.startswith((".", "/"))]
        wanted = [state.key(f"{f.partition('[')[0]}/setup.py") for f in folders]
    inner = replace(scope, stdin=None, given=(), fixed=scope.span(words[0].span), via=(*scope.via, program))
    for path in wanted:
        known = state.files.get(path)
        if known is not None and known.text is not None and ev.known(known.text):
            read_beside(ev, known.text, "python", state, inner)


def _made(program: str, reading: Reading, state: State) -> tuple[str, list[str] | None] | None:
    values = reading.parsed.values()
    folder = values.get("C") or values.get("directory") or "."
    named = values.get("f") or values.get("file") or values.get("makefile")
    for name in [named] if named else ("justfile", "Justfile", ".justfile") if program == "just" else _NAMES:
        path = state.key(f"{folder}/{name}" if folder != "." else name)
        known = state.files.get(path)
        if known is None or known.text is None:
            continue
        operands = [w.text for w in reading.parsed.operands]
        given = dict(o.split("=", 1) for o in operands if "=" in o)
        text = _as_makefile(known.text) if program == "just" else known.text
        return path, recipe_lines(text, [o for o in operands if "=" not in o], given)
    return None


def _as_makefile(text: str) -> str:
    """A justfile (just manual): recipes with parameters, ``{{…}}`` for what it fills in."""
    text = re.sub(r"\{\{\s*([\w-]+)\s*\}\}", r"$(\1)", text.replace("$", "$$"))
    out = []
    for line in text.split("\n"):
        header = _HEADER.fullmatch(line)
        indented = line[:1] in {" ", "\t"} and bool(line.strip())
        out.append("\t" + line.strip() if indented else f"{header[1]}:{header[3]}" if header else line)
    return "\n".join(out)


def _scripted(words: Sequence[Word], state: State) -> tuple[str, list[str] | None] | None:
    path = state.key("package.json")
    known = state.files.get(path)
    if any(w.text in {"--prefix", "-C", "--cwd", "-g"} for w in words):
        return None
    names = [w.text for w in words[1:] if not w.text.startswith("-")]
    if known is None or known.text is None:
        lines = [p.text for n in _asked(names) if (p := state.files.get(path + _PUT + n)) and p.text is not None]
        return (path, lines) if lines else None
    try:
        package = json.loads(known.text)
    except (ValueError, RecursionError):
        return path, None
    scripts = package.get("scripts") if isinstance(package, dict) else None
    if not isinstance(scripts, dict):
        return path, []
    return path, [s for n in _asked(names) if isinstance(s := scripts.get(n), str)]


def _put(reading: Reading) -> list[tuple[str, Word]]:
    """The scripts ``npm pkg set scripts.NAME=…`` and ``npm set-script NAME …`` put into package.json."""
    subs, operands = [s.text for s in reading.parsed.subs], reading.parsed.operands
    if subs[-1:] == ["set-script"] and len(operands) == 2:
        return [(operands[0].text, operands[1])]
    if subs[-2:] != ["pkg", "set"]:
        return []
    found = ((_PAIR.fullmatch(w.text), w) for w in operands)
    return [(m[1] or m[2], w.with_text(m[3])) for m, w in found if m]


def put_scripts(program: str, reading: Reading, state: State) -> dict[str, Stream]:
    """What package.json holds from now on: all of it where the call wrote it, else these scripts alone."""
    pairs = _put(reading) if program in _MANAGERS else []
    path = state.key("package.json")
    found = {path + _PUT + name: Stream(command.text) for name, command in pairs}
    known = state.files.get(path)
    if not pairs or known is None or known.text is None:
        return found
    try:
        package = json.loads(known.text)
        package.setdefault("scripts", {}).update({name: command.text for name, command in pairs})
    except (ValueError, RecursionError, AttributeError):
        return found
    return {**found, path: Stream(json.dumps(package), known.sources)}


def _asked(names: list[str]) -> list[str]:
    """The scripts a command line runs, with those before and after."""
    order = names[0] if names else "install"
    if order in _INSTALLS:
        return list(_INSTALLED)
    script = (names[1] if len(names) > 1 else "") if order in _RUN else {"t": "test", "tst": "test"}.get(order, order)
    return [f"pre{script}", script, f"post{script}"]
