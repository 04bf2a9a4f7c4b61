"""The objectives in force: loaded from files, bound by what is known of a connection, tested by their inline tests.

In: files, folders, the admin API's bindings. Out: ``Objectives``; ``bind(facts)`` answers which one an action is under.
Loading never raises: a file with mistakes is kept under its id as ``not_loaded``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from classifiers.strict_yaml import StrictYamlError
from classifiers.strict_yaml import load as load_yaml
from policies import bind as binding
from policies.bind import Binding, Facts
from policies.diagnostic import Diagnostic, of_yaml
from policies.inline import BASE, Failure, subject_of
from policies.judge import judge
from policies.model import Test
from policies.objective import Objective, check_objective
from policies.state import SessionState


@dataclass(frozen=True, slots=True)
class Objectives:
    """``admin``: (kind, value) → objective id, kinds session, key, agent, listener. ``broken``: id → first error."""

    by_id: Mapping[str, Objective] = field(default_factory=dict)
    broken: Mapping[str, str] = field(default_factory=dict)
    found: tuple[Diagnostic, ...] = ()
    admin: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def bind(self, facts: Facts) -> Binding:
        """The objective these facts lead to, with its trust and every hit; never raises."""
        return binding.bind(self.by_id, self.admin, self.broken, facts)

    def with_binding(self, kind: str, value: str, objective: str) -> Objectives:
        """The admin API said so. Nothing is retroactive: the caller records it and uses the new value from then on."""
        return replace(self, admin={**self.admin, (kind, value): objective})

    def with_objective(self, objective: Objective) -> Objectives:
        """One more, or a newer text of one (admin API)."""
        broken = {k: v for k, v in self.broken.items() if k != objective.id}
        return replace(self, by_id={**self.by_id, objective.id: objective}, broken=broken)


def load(paths: Iterable[str | Path]) -> Objectives:
    """Load objective files and folders of them."""
    files: list[Path] = []
    for path in map(Path, paths):
        files += sorted(path.glob("*.yaml")) if path.is_dir() else [path]
    by_id: dict[str, Objective] = {}
    broken: dict[str, str] = {}
    found: list[Diagnostic] = []
    for file in files:
        objective, notes = read(file)
        if objective is not None and objective.id in by_id:
            what = f"objective '{objective.id}' is already in {by_id[objective.id].name}"
            notes.append(Diagnostic(str(file), 1, 1, "error", "id", what))
        errors = [d for d in notes if d.level == "error"]
        found += notes
        if objective is not None and not errors:
            by_id[objective.id] = objective
        else:
            broken[objective.id if objective is not None and objective.id else file.stem] = str(errors[0])
    return Objectives(by_id, {k: v for k, v in broken.items() if k not in by_id}, tuple(found))


def read(file: Path) -> tuple[Objective | None, list[Diagnostic]]:
    """One file; the objective may be there although it has errors (its id is worth knowing)."""
    try:
        content = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        return None, [Diagnostic(str(file), 1, 1, "error", "file", f"cannot be read: {reason}")]
    return read_text(content, str(file))


def read_text(content: str, name: str) -> tuple[Objective | None, list[Diagnostic]]:
    """The same for text that is in no file (the admin API, an agent's declaration)."""
    try:
        doc = load_yaml(content, name)
    except StrictYamlError as error:
        return None, of_yaml(error)
    objective, notes = check_objective(doc, "sha256:" + hashlib.sha256(content.encode()).hexdigest())
    return objective, sorted(notes.found)


def failing(objective: Objective) -> list[Failure]:
    """Inline tests whose last step does not get the verdict they expect."""
    return [f for test in objective.tests if (f := _run(objective, test))]


def _run(objective: Objective, test: Test) -> Failure | None:
    state = SessionState()
    base = objective.valid_from or BASE
    try:
        for seq, step in enumerate(test.steps):
            subject = state.observe(subject_of(step, base, seq))
            verdict = judge(subject, Binding(objective, "operator", "test", None, objective.id), state)
    except Exception as error:  # a broken test is that test's failure
        return Failure(objective.id, test.at, test.expect, "an error", f"{type(error).__name__}: {error}")
    if str(verdict.verdict) == test.expect:
        return None
    why = ", ".join(str(t.reason) for t in verdict.trail if t.reason)
    return Failure(objective.id, test.at, test.expect, str(verdict.verdict), why)
