"""Secrets and people out of every string of a record, and evidence spans kept on the text they point at.

In: a record and the edits its argument strings already had. Out: the record; ``redactions`` says what went where.
A record without a suspicious fragment is given back as it is, after one pass over its JSON.
"""

from __future__ import annotations

import re
from typing import Any

import re2

from audit.json_text import encode
from audit.redact import MIN_REMEMBERED, Edit, Redactor, move, replace_known

Path = tuple[str | int, ...]
Edits = dict[Path, list[list[Edit]]]
Record = dict[str, Any]

MAX_REDACTIONS = 50
MAX_DEPTH = 64
ARGUMENTS = ("call", "arguments")
_GONE = object()

# A key whose string value is a secret whatever it looks like (arguments of structured tools).
_SECRET_KEY = re.compile(
    r"(?:password|passwd|passphrase|secret|apikey|accesskey|secretkey|privatekey|authorization|cookie|credential"
    r"|credentials|clientsecret|accesstoken|refreshtoken|sessiontoken|authtoken|bearertoken|apitoken|^token|idtoken)$"
)
_PEOPLE_KEYS = frozenset({"decided_by", "declared_by", "approved_by", "by"})
_ROLES = frozenset({"agent", "admin-api"})  # who said something when it was no person
_HOME = re.compile(r"(?:/home/|/Users/|[A-Za-z]:\\{1,2}Users\\{1,2})([^/\\\s\"'`:;,$(){}|&<>*?#]+)")
_SHARED_HOMES = frozenset({"Shared", "Public", "linuxbrew"})
_SUSPECT_PEOPLE = re2.compile(rb'/home/|/Users/|Users\\\\|"(?:decided_by|declared_by|approved_by|by)":["{]')
_SUSPECT_KEYS = re2.compile(
    rb"(?i)(?:pass(?:word|wd|phrase)|secret|token|(?:api|access|secret|private)[-_. ]?key|authorization|cookie"
    rb'|credentials?)":\s*"'
)


class Scrub:
    """One record's pass."""

    def __init__(self, redactor: Redactor, *, secrets: bool, people: bool) -> None:
        self._redactor, self._secrets, self._people = redactor, secrets, people
        self._known: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._edits: Edits = {}
        self.redactions: list[dict[str, Any]] = []

    def apply(self, record: Record, edits: Edits) -> Record:
        """``edits`` grows by what changed in the argument strings."""
        self._edits = edits
        line = encode(record)
        if self._secrets and (self._redactor.suspects(line) or _SUSPECT_KEYS.search(line) is not None):
            self._redactor.start()
            record = self._walk(record, (), self._secret)
            self._known = {s: t for s, t in self._known.items() if len(s) >= MIN_REMEMBERED}
            if self._known:
                record = self._walk(record, (), self._elsewhere)
        if self._people and _SUSPECT_PEOPLE.search(line) is not None:
            record = self._walk(record, (), self._person)
        return record

    def _walk(self, value: Any, path: Path, step: Any) -> Any:
        """The same object when nothing below it changed."""
        if isinstance(value, str):
            return step(value, path)
        if len(path) > MAX_DEPTH:
            return self._redactor.keys.token("deep", repr(type(value)).encode())
        if isinstance(value, dict):
            pairs = [
                (step(k, path) if path[:2] == ARGUMENTS and isinstance(k, str) else k, v) for k, v in value.items()
            ]
            out = {k: self._walk(v, (*path, k), step) for k, v in pairs}
            return value if all(out.get(k, _GONE) is v for k, v in value.items()) else out
        if isinstance(value, (list, tuple)):
            items = [self._walk(v, (*path, n), step) for n, v in enumerate(value)]
            return value if all(a is b for a, b in zip(items, value, strict=True)) else items
        return value

    def _secret(self, text: str, path: Path) -> str:
        if (
            path[:1] == ("call",)
            and len(path) > 2
            and self._is_secret_key(path[-1])
            and not text.startswith("REDACTED_")
        ):
            return self._changed(text, path, *self._whole(text))
        out, edits, found = self._redactor.redact(text)
        if edits:
            self._known |= found
            self._changed(text, path, out, edits)
        return out

    def _is_secret_key(self, key: str | int) -> bool:
        return isinstance(key, str) and _SECRET_KEY.search(re.sub(r"[-_. ]", "", key.lower())) is not None

    def _whole(self, text: str) -> tuple[str, list[Edit]]:
        if not text or text.startswith("$"):
            return text, []
        token = self._redactor.keys.token("secret", text.encode("utf-8", "replace"))
        self._known[text] = token
        return token, [Edit(0, len(text), len(token))]

    def _elsewhere(self, text: str, path: Path) -> str:
        out, edits = replace_known(text, self._known)
        return self._changed(text, path, out, edits)

    def _person(self, text: str, path: Path) -> str:
        key = path[-1] if path else ""
        named = key in _PEOPLE_KEYS or (key == "id" and len(path) > 1 and path[-2] in _PEOPLE_KEYS)
        if named and path[:2] != ARGUMENTS:
            return text if text in _ROLES else self._pseudonym(text)
        if "/home/" not in text and "Users" not in text:
            return text
        edits: list[Edit] = []

        def name(match: re.Match[str]) -> str:
            who = match[1]
            if who in _SHARED_HOMES:
                return match[0]
            edits.append(Edit(match.start(1), match.end(1), len(self._pseudonym(who))))
            return match[0][: match.start(1) - match.start()] + self._pseudonym(who)

        out = _HOME.sub(name, text)
        if edits and path[:2] == ARGUMENTS:
            self._edits.setdefault(path, []).append(edits)
        return out

    def _pseudonym(self, who: str) -> str:
        if who not in self._names:
            keys = self._redactor.keys
            mac = keys.mac(who.encode("utf-8", "replace"))[:8]
            self._names[who] = who if who.startswith("person_") else f"person_{keys.current}_{mac}"
        return self._names[who]

    def _changed(self, old: str, path: Path, new: str, edits: list[Edit]) -> str:
        if new == old:
            return old
        if path[:2] == ARGUMENTS:
            self._edits.setdefault(path, []).append(edits)
        if len(self.redactions) < MAX_REDACTIONS:
            kind = re.search(r"REDACTED_([a-z_]+?)_k\d+_", new)
            self.redactions.append({"path": _dotted(path), "kind": kind[1] if kind else "secret"})
        return new


def follow(record: Record, edits: Edits, notes: list[str]) -> Record:
    """Evidence and opaque spans moved to where their text stands now; one that cannot be followed is dropped."""
    classification = record.get("classification")
    if classification is None:
        return record
    effects = [{**e, "evidence": _moved(e["evidence"], edits)} for e in classification["effects"]]
    only = next(iter(edits.values())) if len(edits) == 1 else None
    opaque = [{**o, "span": _span(o["span"], only)} for o in classification["opaque"]]
    if any(a["span"] is None and b["span"] is not None for a, b in zip(opaque, classification["opaque"], strict=True)):
        notes.append("opaque spans were dropped: several argument strings were redacted")
    return {**record, "classification": {**classification, "effects": effects, "opaque": opaque}}


def argument_path(path: str) -> Path:
    """``arguments.items[0].text``, ``$.command`` or ``command`` as the record's path below ``call.arguments``."""
    for prefix in ("$.", "call.", "arguments."):
        path = path.removeprefix(prefix)
    parts = (p for p in re.split(r"\.|\[(\d+)\]", path) if p)
    return (*ARGUMENTS, *(int(p) if p.isdigit() else p for p in parts))


def _moved(evidence: Record | None, edits: Edits) -> Record | None:
    if evidence is None:
        return None
    steps = edits.get(argument_path(evidence["path"]))
    if steps is None:
        return evidence
    start, end = _span([evidence["start"], evidence["end"]], steps) or (0, 0)
    return {**evidence, "start": start, "end": end}


def _span(span: list[int] | None, steps: list[list[Edit]] | None) -> list[int] | None:
    if span is None or steps is None:
        return None
    start, end = span
    for edits in steps:
        start, end = move(start, edits), move(end, edits, end=True)
    return [start, end]


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))
