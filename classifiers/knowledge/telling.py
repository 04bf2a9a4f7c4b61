"""Templates to effects and delegates to words handed on: what the knowledge says and words in, items out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from classifiers.effects import Domain, OpaqueReason, Verb
from classifiers.knowledge.arguments import Parsed
from classifiers.knowledge.model import Delegate, Json, Meaning, Template
from classifiers.knowledge.reading import Handed, Hidden, Reading, Told
from classifiers.knowledge.slots import values_given
from classifiers.knowledge.templates import FILTERS, fill
from classifiers.knowledge.words import Word

_NOTHING: Json = {}
_READS = frozenset({Verb.READ, Verb.RECEIVE})


class Teller:
    """One command's items. ``values``: texts by option and role; ``sets``: effect fields that hold for all of it."""

    def __init__(self, parsed: Parsed, name: Word) -> None:
        self.parsed, self.name = parsed, name
        self.out = Reading(parsed)
        words = (*(h.word for h in parsed.hits), *parsed.operands)
        self.whole = (name.span[0], max((w.span[1] for w in words), default=name.span[1]))
        self.values = {"program": [name.text.rpartition("/")[2]], **values_given(parsed)}
        self.arguments: tuple[Word, ...] = ()
        self.sets: Json = {k: v for node in parsed.nodes if node.sets for k, v in node.sets.items()}
        self.via = next((n.via for n in reversed(parsed.nodes) if n.via), "") or " ".join(
            (name.text.rpartition("/")[2], *(s.text for s in parsed.subs))
        )

    def hide(self, reason: OpaqueReason, span: tuple[int, int], text: str) -> None:
        self.out.items.append(Hidden(reason, span, text))

    def merge(self, meaning: Meaning) -> None:
        """The fields an option sets hold from now on; tags add up."""
        for key, value in (meaning.sets or _NOTHING).items():
            if key == "tags":
                self.sets["tags"] = [*self.sets.get("tags", []), *value]
            else:
                self.sets[key] = value

    def tell_all(
        self,
        templates: Iterable[Template],
        current: Word | None,
        sets: Json | None,
        span: tuple[int, int] | None = None,
    ) -> None:
        given = self.parsed.given
        for t in templates:
            if (t.when and not given(*t.when)) or (t.unless and given(*t.unless)):
                continue
            self.tell(t, current, sets, current.span if current is not None else span or self.whole)

    def tell(self, t: Template, current: Word | None, sets: Json | None, span: tuple[int, int]) -> None:
        fields, action, domain = t.fields, t.action, t.domain
        if self.sets or sets:
            fields = {**fields, **self.sets, **(sets or _NOTHING)}
            tags = [*t.fields.get("tags", ()), *self.sets.get("tags", ()), *(sets or _NOTHING).get("tags", ())]
            if tags:
                fields["tags"] = tags
            if "action" in fields:
                action = Verb(fields.pop("action"))
            elif action in _READS:
                fields = _as_read(fields, t.fields)
            if "domain" in fields:
                domain = Domain(fields.pop("domain"))
        template = fields.get("target", t.target)
        if "where" in fields:
            fields = {**fields, "where": self.filled(fields["where"], current)[0] or "unknown"}
        if fields.get("dry_run"):
            action, fields = _rehearsed(fields)
        if template == "?":  # files that a list names
            raw = current.text if current is not None and current.text != "-" else "<stdin>"
            self.out.items.append(Told(action, domain, None, fields, span, None, raw))
            return
        for target in [None] if template is None else self.filled(template, current):
            self.out.items.append(Told(action, domain, target, fields, span, current))

    def hand(self, to: Delegate, words: Sequence[Word], span: tuple[int, int]) -> None:
        fields: Json = {k: self.sets[k] for k in ("privilege", "condition", "where", "certainty") if k in self.sets}
        for key in ("where", "privilege", "condition", "certainty"):
            value = getattr(to, key)
            if value:
                fields[key] = value
        if "where" in fields:
            fields["where"] = self.filled(fields["where"])[0] or "unknown"
        if to.cwd and (folder := self.filled(to.cwd)[-1]):
            fields["cwd"] = folder
        if to.kind == "sql":  # which server and database the statements go to
            fields |= self.server()
        if to.part:
            words = [w.with_text(FILTERS[to.part](w.text)) for w in words]
        if "{" in to.program:
            to = replace(to, program=self.filled(to.program)[0] or "")
        if "{" in to.replace and to.replace != "{}":
            to = replace(to, replace=self.filled(to.replace)[0] or "{}")
        given = self.arguments if to.kind in {"code", "script"} else ()
        self.out.items.append(Handed(to, tuple(words), fields, span, to.via or self.via, given))

    def server(self) -> Json:
        names = {"host": ("host", "h"), "database": ("dbname", "database", "d", "D")}
        return {role: next((v for n in keys for v in self.values.get(n, ())), None) for role, keys in names.items()}

    def filled(self, template: str, current: Word | None = None) -> list[str | None]:
        """Every text the template stands for; ``current`` is the word at hand."""
        if current is None or template == "{}":
            return fill(template, current.text if current is not None else None, self.values)
        return fill(template, current.member, self.values)


def _as_read(fields: Json, own: Json) -> Json:
    """What an option says of a command's changes (loses, overwrites) is not true of what it only reads."""
    tags = [t for t in fields.get("tags", ()) if t != "overwrite"]
    return {**fields, "tags": tags, **{k: own[k] for k in ("destructive", "reversibility") if k in own}}


def _rehearsed(fields: Json) -> tuple[Verb, Json]:
    """A dry run reads what it would change."""
    return Verb.READ, {**fields, "destructive": False, "reversibility": "read_only", "tags": []}
