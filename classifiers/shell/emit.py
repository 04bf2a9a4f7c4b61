"""One told effect to a finished one: fields as words in, an ``Effect`` in the collector out, with place and scope."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from classifiers import paths
from classifiers.context import NOWHERE, Context
from classifiers.effects import (
    Breadth,
    Certainty,
    Condition,
    Domain,
    Effect,
    Evidence,
    Privilege,
    Reversibility,
    Tag,
    Verb,
)
from classifiers.knowledge.reading import Told
from classifiers.shell.state import Scope, State, stronger

if TYPE_CHECKING:
    from classifiers.shell.evaluate import Evaluator

_PATHS = frozenset({Domain.FILESYSTEM, Domain.STORAGE, Domain.SECRETS})
_ROOTED = ("/", "~", "device:/")
_TREES = frozenset({"/", "~", "/*", "~/*", "/root", "/home"})


def emit(ev: Evaluator, told: Told, state: State, scope: Scope) -> int | None:
    """Add the effect; None when it is none (reading or writing a stream such as /dev/null)."""
    target, raw = told.target, told.raw
    if target is not None and not ev.known(target):
        if told.action is Verb.READ and target in ev.mark_streams and ev.unknowns.reveal(target)[:2] == "<(":
            return None  # a pipe from a command whose own effects are told
        if ev.unknowns.reveal(target)[:2] == ">(" and told.action in {Verb.MODIFY, Verb.CREATE}:
            return None  # and a pipe into one
        raw, target = ev.unknowns.reveal(target), None
    is_path = told.domain in _PATHS and (target is None or not paths.is_name(told.domain, target))
    if is_path and target is not None:
        if paths.is_stream(target):
            return None
        if target == "":
            if told.action is Verb.DELETE:
                return None  # ``rm ""`` is refused
            target = "."
    context = context_for(scope, state)
    cwd = context.cwd
    if is_path and target is not None and cwd is not None and not ev.known(cwd) and not target.startswith(_ROOTED):
        raw, target = f"{ev.unknowns.reveal(cwd)}/{target}", None
    effect = _effect(told, target, raw, scope, ev)
    if is_path and target is not None:
        effect = paths.located(effect, context)
        if effect.domain is Domain.STORAGE and told.domain is Domain.FILESYSTEM and effect.action is Verb.MODIFY:
            effect = replace(effect, destructive=True, reversibility=Reversibility.IRREVERSIBLE)  # a raw device
        if _shakes_the_system(effect, context):
            tags = dict.fromkeys((*effect.tags, Tag.AVAILABILITY))
            effect = replace(effect, destructive=True, reversibility=Reversibility.UNKNOWN, tags=tuple(tags))
    return ev.out.add(effect)


def _shakes_the_system(effect: Effect, context: Context) -> bool:
    """Owners or modes of a whole system tree changed at once: no record says what they were."""
    return (
        effect.breadth in {Breadth.RECURSIVE, Breadth.ROOT}
        and effect.action is Verb.MODIFY
        and effect.destructive is False
        and effect.domain is Domain.FILESYSTEM
        and not effect.filtered
        and effect.target is not None
        and paths.is_system_tree(effect.target, context.home)
    )


def _effect(told: Told, target: str | None, raw: str | None, scope: Scope, ev: Evaluator) -> Effect:
    fields = told.fields
    breadth = Breadth(fields.get("breadth", "one"))
    word = told.word
    if word is not None and word.glob and breadth is Breadth.ONE:
        breadth = Breadth.MANY
    if breadth is Breadth.RECURSIVE and target in _TREES:
        breadth = Breadth.ROOT
    certainty = Certainty(fields["certainty"]) if "certainty" in fields else scope.certainty
    if word is not None and word.propagated and certainty is Certainty.DEFINITE:
        certainty = Certainty.PROPAGATED
    condition = scope.condition
    if "condition" in fields:
        condition = stronger(Condition(fields["condition"]), condition)
    where = fields.get("where") or scope.where
    if not ev.known(where):
        where = "unknown"
    return Effect(
        told.domain,
        told.action,
        target,
        raw,
        fields.get("destructive", False),
        Reversibility(fields.get("reversibility", "unknown")),
        breadth,
        where,
        Privilege(fields["privilege"]) if "privilege" in fields else scope.privilege,
        certainty,
        condition,
        bool(fields.get("dry_run", False)),
        None,
        tags=_tags(tuple(fields.get("tags", ())) + scope.tags),
        via=scope.via,
        evidence=Evidence(ev.path, *scope.span(told.span)),
        filtered=bool(fields.get("filtered", False)) or scope.filtered,
    )


@lru_cache(maxsize=512)
def _tags(names: tuple[str, ...]) -> tuple[Tag, ...]:
    return tuple(dict.fromkeys(Tag(n) for n in names))


def tell(
    ev: Evaluator,
    action: Verb,
    domain: Domain,
    target: str | None,
    span: tuple[int, int],
    state: State,
    scope: Scope,
    **fields: Any,
) -> int | None:
    """Emit one effect the engine itself knows of (redirections, builtins)."""
    return emit(ev, Told(action, domain, target, fields, span), state, scope)


def inner_scope(scope: Scope, fields: dict[str, Any], via: str) -> Scope:
    """The scope of what a wrapper hands on."""
    out = replace(scope, via=(*scope.via, via) if via else scope.via, depth=scope.depth + 1)
    if "where" in fields:
        out = replace(out, where=fields["where"])
    if "privilege" in fields:
        out = replace(out, privilege=Privilege(fields["privilege"]))
    if "condition" in fields:
        out = replace(out, condition=stronger(Condition(fields["condition"]), out.condition))
    if fields.get("filtered"):
        out = replace(out, filtered=True)
    if "certainty" in fields:
        out = replace(out, certainty=Certainty(fields["certainty"]))
    return out


def context_for(scope: Scope, state: State) -> Context:
    """What is known where the command runs: of another machine only where a ``cd`` there went."""
    return state.context if scope.where == "local" else replace(NOWHERE, cwd=state.context.cwd)
