"""The one boundary every record passes before it is hashed: what a mode keeps, then secrets and names out of the rest.

In: a record as built. Out: the record as it may be written. First rule that matches decides the mode, else the
surface's default; then every string is redacted, people become keyed pseudonyms, and evidence spans follow the text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

import orjson

from audit.heredoc import fold
from audit.json_text import encode
from audit.keys import Sealer
from audit.redact import Edit, Redactor, TokenKeys
from audit.scrub import Scrub, follow

Record = dict[str, Any]


class Mode(StrEnum):
    NONE = "none"
    METADATA = "metadata"
    REDACTED = "redacted"
    SEALED = "sealed"
    FULL = "full"


SHELLS = frozenset({"shell", "powershell", "cmd"})
DEFAULTS: Mapping[str, Mode] = dict.fromkeys((*SHELLS, "sql", "http"), Mode.REDACTED)

# Where a rule's key looks in the record.
_LOOKS: Mapping[str, Callable[[Record], Any]] = {
    "surfaces": lambda r: (r.get("classification") or {}).get("surface"),
    "tools": lambda r: (r.get("call") or {}).get("name"),
    "agents": lambda r: (r.get("agent") or {}).get("id"),
    "routes": lambda r: (r.get("exchange") or {}).get("route"),
    "protocols": lambda r: (r.get("exchange") or {}).get("protocol"),
    "upstreams": lambda r: (r.get("exchange") or {}).get("upstream"),
}


@dataclass(frozen=True, slots=True)
class Rule:
    """``where``: key of ``_LOOKS`` → globs, all keys must hold, any glob of a key."""

    mode: Mode
    where: Mapping[str, tuple[str, ...]]

    def holds(self, record: Record) -> bool:
        looked = ((str(_LOOKS[k](record) or "").casefold(), globs) for k, globs in self.where.items())
        return all(any(fnmatchcase(text, g.casefold()) for g in globs) for text, globs in looked)


def parse_rules(raw: Sequence[Mapping[str, Any]], name: str = "privacy.rules") -> tuple[Rule, ...]:
    """The ``privacy: rules:`` list. Raises ValueError with the place and what was expected."""
    return tuple(_rule(entry, f"{name}[{n}]") for n, entry in enumerate(raw))


def _rule(entry: Mapping[str, Any], at: str) -> Rule:
    if entry.get("mode") not in set(Mode):
        raise ValueError(f"{at}: mode is {entry.get('mode')!r}; expected one of {', '.join(Mode)}")
    unknown = sorted(entry.keys() - _LOOKS.keys() - {"mode"})
    if unknown:
        raise ValueError(f"{at}: unknown key {unknown[0]!r}; expected {', '.join(_LOOKS)}")
    where = {k: (v,) if isinstance(v, str) else tuple(map(str, v)) for k, v in entry.items() if k != "mode"}
    return Rule(Mode(entry["mode"]), where)


class Guard:
    """``identities``: pseudonym | clear. ``today`` gives the day whose key seals."""

    def __init__(
        self,
        keys: TokenKeys,
        *,
        rules: Sequence[Rule] = (),
        identities: str = "pseudonym",
        sealer: Sealer | None = None,
        today: Callable[[], str] = lambda: datetime.now(UTC).date().isoformat(),
    ) -> None:
        self.redactor = Redactor(keys)
        self._keys, self._rules, self._sealer, self._today = keys, tuple(rules), sealer, today
        self._pseudonyms = identities != "clear"

    def __call__(self, record: Record) -> Record:
        mode = self.mode(record)
        notes: list[str] = []
        edits: dict[tuple[str | int, ...], list[list[Edit]]] = {}
        if record.get("call") is not None and "arguments" in record["call"]:
            record = self._shape(record, mode, notes, edits)
        scrub = Scrub(self.redactor, secrets=mode is not Mode.FULL, people=self._pseudonyms)
        record = scrub.apply(record, edits)
        if edits:
            record = follow(record, edits, notes)
        if "privacy" in record or scrub.redactions:
            said = {"mode": mode, "redactions": scrub.redactions} | ({"notes": notes} if notes else {})
            record = {**record, "privacy": said}
        return record

    def mode(self, record: Record) -> Mode:
        for rule in self._rules:
            if rule.holds(record):
                return rule.mode
        asked = (record.get("privacy") or {}).get("mode")
        if asked is not None:
            return Mode(asked)
        return DEFAULTS.get((record.get("classification") or {}).get("surface", ""), Mode.METADATA)

    def _shape(
        self, record: Record, mode: Mode, notes: list[str], edits: dict[tuple[str | int, ...], list[list[Edit]]]
    ) -> Record:
        call = dict(record["call"])
        plain = _plain(call)
        call["arguments_hmac"] = None if plain is None else self._hmac(plain)
        if mode is Mode.SEALED and plain is not None:
            if self._sealer is None:
                notes.append("no sealing key: the arguments were left out")
            else:
                call["sealed"] = self._sealer.seal(plain, self._today(), call["arguments_hmac"].encode())
        if mode not in {Mode.REDACTED, Mode.FULL}:
            call["arguments"] = call["arguments_text"] = None
        shaped = {**record, "call": call}
        if mode is Mode.REDACTED and (record.get("classification") or {}).get("surface") in SHELLS:
            call["arguments"] = self._fold(call["arguments"], edits)
            shaped["classification"] = self._fold_said(record["classification"])
        classification = record.get("classification")
        if classification is not None and mode not in {Mode.REDACTED, Mode.FULL}:
            shaped["classification"] = _NARROW[mode](classification)
        if mode is Mode.NONE:
            call.update(name=None, arguments_error=None, extra={}, conflicts=[], end_reason=None)
            shaped = _counts_only(shaped)
        return shaped

    def _hmac(self, plain: bytes) -> str:
        return f"hmac-sha256:{self._keys.current}:{self._keys.mac(plain)}"

    def _fold(self, arguments: Any, edits: dict[tuple[str | int, ...], list[list[Edit]]]) -> Any:
        """Here-documents of the top-level strings (where a shell's text stands)."""
        if not isinstance(arguments, dict):
            return arguments
        out = dict(arguments)
        for key, value in arguments.items():
            if isinstance(value, str):
                out[key], changed = fold(value, self._keys.token)
                if changed:
                    edits[("call", "arguments", key)] = [changed]
        return out

    def _fold_said(self, classification: Record) -> Record:
        """The same bodies where the classifier quotes them."""
        token = self._keys.token
        opaque = [{**o, "text": fold(o["text"], token)[0]} for o in classification["opaque"]]
        return {**classification, "opaque": opaque, "notes": [fold(n, token)[0] for n in classification["notes"]]}


def _plain(call: Record) -> bytes | None:
    if call["arguments"] is not None:
        return encode(call["arguments"], orjson.OPT_SORT_KEYS)
    text: str | None = call["arguments_text"]
    return None if text is None else text.encode("utf-8", "replace")


def _metadata(classification: Record) -> Record:
    """Names, effects, canonical targets; no text of the arguments."""
    effects = [e if e["target"] is None else {**e, "target_raw": None} for e in classification["effects"]]
    opaque = [{**o, "text": ""} for o in classification["opaque"]]
    return {**classification, "effects": effects, "opaque": opaque, "notes": []}


def _counts(classification: Record) -> Record:
    kept = ("surface", "complete", "destructive", "reversibility", "classifier", "knowledge", "parsers")
    counted: Record = {"effects": [], "flows": [], "opaque": [], "notes": [], "claimed": {}}
    return {**{k: classification[k] for k in kept}, **counted, "effect_count": len(classification["effects"])}


_NARROW: Mapping[Mode, Callable[[Record], Record]] = {
    Mode.METADATA: _metadata,
    Mode.SEALED: _metadata,
    Mode.NONE: _counts,
}


def _counts_only(record: Record) -> Record:
    """What was found stays (rule, result, severity), what it said about the call does not."""
    policy = [
        {**p, "findings": [{**f, "message": "", "effects": []} for f in p["findings"]]}
        for p in record.get("policy", [])
    ]
    objective = record.get("objective")
    bare = {"policy": policy, "objective": objective and {**objective, "trail": []}}
    return {**record, **{k: v for k, v in bare.items() if k in record}}
