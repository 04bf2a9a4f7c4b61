"""Policy files and what they extend, read and put together: one ``Policy`` with everything in force, or its mistakes.

In: a path, a folder of bare rules, or ``onlooker:starter``; the time. Out: ``Gathered``: the policy (None when a file
has errors), the diagnostics of every file, the hash over all bytes, and the files to watch. Reading never raises.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from classifiers.strict_yaml import Mapped, StrictYamlError, load
from policies.check import Checked, check_policy
from policies.check_match import Lists
from policies.diagnostic import Diagnostic, of_yaml
from policies.model import Policy, Rule
from policies.words import suggest

STARTER = "onlooker:starter"
STARTER_FILE = Path(__file__).parent / "starter.yaml"
RULES = Path(__file__).parent / "rules"


@dataclass(slots=True)
class Gathered:
    """``policy`` is None exactly when ``errors`` is not empty."""

    policy: Policy | None = None
    found: list[Diagnostic] = field(default_factory=list)
    hash: str = ""
    files: tuple[Path, ...] = ()
    digests: tuple[str, ...] = ()  # SHA-256 (hex) of the bytes that were read, one for each of ``files``
    folders: tuple[Path, ...] = ()

    @property
    def errors(self) -> list[Diagnostic]:
        return [d for d in self.found if d.level == "error"]


@dataclass(slots=True)
class _Text:
    path: Path
    name: str
    text: str
    digest: str
    doc: Mapped | None = None


class _Reader:
    """Walks ``extends``; the base comes before what extends it."""

    def __init__(self) -> None:
        self.texts: list[_Text] = []
        self.found: list[Diagnostic] = []
        self.seen: set[Path] = set()
        self.folders: list[Path] = []

    def add(self, path: Path, name: str, at: tuple[str, int, int]) -> None:
        if path.is_dir():
            self.folders.append(path)
            for file in sorted(path.glob("*.yaml")):
                self.add(file, f"{name}/{file.name}", at)
            return
        if path.resolve() in self.seen:
            return
        self.seen.add(path.resolve())
        try:
            raw = path.read_bytes()
            text = raw.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            where = at if at[0] else (name, 1, 1)
            what = f"cannot read {name}" if at[0] else "cannot be read"  # the place already names a file of its own
            self.found.append(Diagnostic(*where, "error", "file", f"{what}: {reason}"))
            return
        self.document(_Text(path, name, text, hashlib.sha256(raw).hexdigest()))

    def document(self, entry: _Text) -> None:
        try:
            entry.doc = load(entry.text, entry.name)
        except StrictYamlError as error:
            self.found += of_yaml(error)
        value = entry.doc.value if entry.doc else None
        extends = value.get("extends", []) if isinstance(value, dict) else []
        for i, item in enumerate(extends if isinstance(extends, list) else []):
            assert entry.doc is not None
            at = (entry.name, *entry.doc.mark("extends", i))
            if item == STARTER:
                self.starter(at)
            elif isinstance(item, str) and item:
                self.add(entry.path.parent / item, str(Path(entry.name).parent / item), at)
        self.texts.append(entry)

    def starter(self, at: tuple[str, int, int]) -> None:
        self.add(RULES, "onlooker:rules", at)
        self.add(STARTER_FILE, "onlooker:starter.yaml", at)


def gather(source: str | Path, now: datetime) -> Gathered:
    """Read, check and put together one policy."""
    reader = _Reader()
    if str(source) == STARTER:
        reader.starter(("", 1, 1))
    else:
        reader.add(Path(source), str(source), ("", 1, 1))
    return _finish(reader, str(source), now)


def check_text(text: str, name: str, now: datetime) -> Gathered:
    """The same for text that is in no file yet; what it extends is looked for beside ``name``."""
    reader = _Reader()
    reader.document(_Text(Path(name), name, text, hashlib.sha256(text.encode()).hexdigest()))
    return _finish(reader, name, now)


def _finish(reader: _Reader, name: str, now: datetime) -> Gathered:
    texts = reader.texts
    files, folders = tuple(t.path for t in texts), tuple(reader.folders)
    digests = tuple(t.digest for t in texts)
    out = Gathered(None, reader.found, hash_of(texts), files, digests, folders)
    lists = _lists(texts)
    checked = [check_policy(t.doc, now, lists) for t in texts if t.doc is not None]
    for part in checked:
        out.found += part.notes.found
    if checked:
        out.found += _unused(checked[-1], checked)
        policy = _together(checked, name, out, lists)
        if Path(name).is_dir():  # bare rules have no file to name them together
            policy = replace(policy, id=Path(name).name)
        out.policy = None if out.errors else policy
    elif not out.found:
        out.found.append(Diagnostic(name, 1, 1, "error", "file", "no policy here"))
    out.found.sort()
    return out


def hash_of(texts: list[_Text]) -> str:
    digest = hashlib.sha256()
    for entry in texts:
        digest.update(hashlib.sha256(entry.text.encode()).digest())
    return "sha256:" + digest.hexdigest()


def _lists(texts: list[_Text]) -> Lists:
    """Lists of all files, the extending file's last and winning; mistakes in them are told when they are checked."""
    out: Lists = {}
    for entry in texts:
        value = entry.doc.value if entry.doc else None
        lists = value.get("lists") if isinstance(value, dict) else None
        for name, words in (lists or {}).items() if isinstance(lists, dict) else ():
            items = words if isinstance(words, list) else [words]
            out[name] = tuple(w for w in items if isinstance(w, str))
    return out


def _unused(main: Checked, checked: list[Checked]) -> list[Diagnostic]:
    used = {name for part in checked for name in part.used}
    for name in main.lists:
        if name not in used:
            main.notes.warn(f"list '{name}' is not used", "lists", name, key=True, code="unused-list")
    return [d for d in main.notes.found if d.code == "unused-list"]


def _together(checked: list[Checked], name: str, out: Gathered, lists: Lists) -> Policy:
    """Rules of every file, base first, with the overrides applied."""
    rules: dict[str, Rule] = {}
    main = checked[-1]
    for part in checked:
        for rule in part.rules:
            if rule.id in rules and rule.id and rules[rule.id].at != rule.at:
                place = rules[rule.id].at
                what = f"rule '{rule.id}' is already at {place}; change it under 'overrides'"
                if not any(d.code == "id" and d.what.startswith("duplicate") for d in part.notes.found):
                    out.found.append(_at(rule.at, what, "id"))
            rules[rule.id] = rule
        for rule_id, (settings, at) in part.overrides.items():
            if rule_id not in rules:
                what = f"overrides an unknown rule '{rule_id}'{suggest(rule_id, rules)}"
                out.found.append(_at(at, what, "id"))
            else:
                rules[rule_id] = _override(rules[rule_id], settings)
    for rule in rules.values():
        for step in rule.sequence.steps if rule.sequence else ():
            if step not in rules:
                assert rule.sequence is not None
                what = f"sequence of an unknown rule '{step}'{suggest(step, rules)}"
                out.found.append(_at(rule.sequence.at, what, "step"))
    return Policy(main.id, main.version, out.hash, main.timezone, tuple(rules.values()), name, lists)


def _override(rule: Rule, settings: dict[str, Any]) -> Rule:
    more = settings.get("exceptions", ())
    return replace(rule, **{**settings, "exceptions": (*rule.exceptions, *more)})


def _at(at: str, what: str, code: str) -> Diagnostic:
    name, line, col = at.rsplit(":", 2)
    return Diagnostic(name, int(line), int(col), "error", code, what)
