"""Random rules against a naive three-valued evaluator written over plain data, and what hiding a field may do."""

import json
import random
from datetime import UTC, datetime

from policies.evaluate import Compiled
from policies.inline import subject_of
from policies.source import check_text
from policies.state import SessionState
from policies.verdict import Result

NOW = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
DOMAINS, ACTIONS = ["filesystem", "network", "cloud", "unknown"], ["read", "delete", "send", "unknown"]
TARGETS = ["/srv/a", "/srv/b/c", "/tmp/x"]
PATTERNS = {"/srv/**": {"/srv/a", "/srv/b/c"}, "/srv/*": {"/srv/a"}, "/tmp/x": {"/tmp/x"}}
FIELDS = {
    "agent.team": ["dba", "dev"],
    "call.advertised": ["yes", "no", "unknown"],
    "agent.registered": [True, False],
    "session.turn": [1, 2, 3],
}


# --- plain data ---


def random_entry(r):
    out = {}
    if r.random() < 0.7:
        out["domain"] = r.sample(DOMAINS, r.randrange(1, 3))
    if r.random() < 0.7:
        out["action"] = r.choice(ACTIONS)
    if r.random() < 0.4:
        out["destructive"] = r.random() < 0.5
    if r.random() < 0.5:
        out["target"] = r.choice(list(PATTERNS))
    if r.random() < 0.2:
        out["not_target"] = r.choice(list(PATTERNS))
    return out or {"domain": "filesystem"}


def random_where(r):
    name = r.choice(list(FIELDS))
    if name == "session.turn":
        return {name: {r.choice(["lt", "lte", "gt", "gte"]): r.randrange(1, 4)}}
    value = r.choice(FIELDS[name])
    return {name: {"not": value} if r.random() < 0.4 else value}


def random_match(r, depth=0):
    out = {}
    if r.random() < (0.8 if depth == 0 else 0.4):
        out["effects"] = [random_entry(r) for _ in range(r.randrange(1, 3))]
    if r.random() < 0.5 or not out:
        out["where"] = random_where(r)
    if depth < 2 and r.random() < 0.4:
        out[r.choice(["any", "all", "none"])] = [random_match(r, depth + 1) for _ in range(r.randrange(1, 3))]
    return out


def random_action(r):
    effects = []
    for _ in range(r.randrange(0, 4)):
        full = {
            "domain": r.choice(DOMAINS),
            "action": r.choice(ACTIONS),
            "target": r.choice(TARGETS),
            "destructive": r.random() < 0.5,
            "certainty": "definite",
        }
        effects.append({k: v for k, v in full.items() if k in {"domain", "action", "certainty"} or r.random() < 0.8})
    fields = {k: r.choice(v) for k, v in FIELDS.items() if r.random() < 0.8}
    return {"tool": "x", "effects": effects, **fields, "complete": r.random() < 0.85}


# --- the naive evaluator ---


def k_and(values):
    values = list(values)
    return False if False in values else None if None in values else True


def k_or(values):
    values = list(values)
    return True if True in values else None if None in values else False


def k_not(value):
    return None if value is None else not value


def naive_value(have, want):
    if have is None:
        return None
    if isinstance(want, dict):
        ((op, inner),) = want.items()
        if op == "not":
            return None if have == "unknown" and inner != "unknown" else have != inner
        return {"lt": have < inner, "lte": have <= inner, "gt": have > inner, "gte": have >= inner}[op]
    wanted = want if isinstance(want, list) else [want]
    if have == "unknown" and "unknown" not in wanted:
        return None
    return have in wanted


def naive_target(effect, pattern):
    target = effect.get("target")
    return None if target is None else target in PATTERNS[pattern]


def naive_entry(entry, effect):
    parts = []
    for key, want in entry.items():
        if key == "target":
            parts.append(naive_target(effect, want))
        elif key == "not_target":
            parts.append(k_not(naive_target(effect, want)))
        else:
            parts.append(naive_value(effect.get(key), want))
    return k_and(parts)


def naive_rest(match, action):
    parts = [naive_value(action.get(n), w) for n, w in match.get("where", {}).items()]
    for key, join in (("any", k_or), ("all", k_and), ("none", lambda v: k_not(k_or(v)))):
        if key in match:
            parts.append(join([naive_all(m, action) for m in match[key]]))
    return k_and(parts)


def naive_all(match, action):
    """A nested group: ``effects:`` asks whether any effect of the action matches, and an open action may have more."""
    parts = [naive_rest(match, action)]
    if "effects" in match:
        found = k_or([naive_entry(e, x) for x in action["effects"] for e in match["effects"]])
        parts.append(found if action["complete"] or found else None)
    return k_and(parts)


def naive_rule(match, action):
    rest = naive_rest(match, action)
    if "effects" not in match:
        value = rest
    else:
        names = {w for e in match["effects"] for k in ("domain", "action") for w in _listed(e.get(k, []))}
        effects = action["effects"]
        if not action["complete"] and "unknown" not in names:
            effects = [x for x in effects if "unknown" not in (x["domain"], x["action"])]
        value = k_or([k_and([k_or([naive_entry(e, x) for e in match["effects"]]), rest]) for x in effects])
    missed = Result.NO_MATCH if action["complete"] else Result.NO_MATCH_SO_FAR
    return Result.MATCH if value else Result.UNDETERMINED if value is None else missed


def _listed(value):
    return value if isinstance(value, list) else [value]


# --- the comparison ---


def compiled_rules(r, count):
    matches = [random_match(r) for _ in range(count)]
    rules = [{"id": f"r.{i}", "match": m} for i, m in enumerate(matches)]
    made = check_text(json.dumps({"policy": 1, "id": "random", "rules": rules}), "random.json", NOW)
    assert made.policy is not None, made.errors
    return matches, Compiled(made.policy)


def answers(compiled, count, action):
    """What each of the rules r.0, r.1, … says of it."""
    view = compiled.view(subject_of(action))
    names = [f"r.{i}" for i in range(count)]
    found = compiled.outcomes(view, SessionState(), set(names))
    silent = Result.NO_MATCH_SO_FAR if view.open else Result.NO_MATCH
    return [found[name].result if found.get(name) else silent for name in names]


def test_random_rules_get_the_naive_answer():
    r = random.Random(11)
    seen = set()
    for _ in range(40):
        matches, compiled = compiled_rules(r, 20)
        for _ in range(15):
            action = random_action(r)
            for match, said in zip(matches, answers(compiled, len(matches), action), strict=True):
                expected = naive_rule(match, action)
                assert said == expected, (match, action)
                seen.add(expected)
    assert seen == {Result.MATCH, Result.NO_MATCH, Result.NO_MATCH_SO_FAR, Result.UNDETERMINED}


def test_hiding_a_field_never_turns_one_definite_answer_into_another():
    r = random.Random(12)
    definite = {Result.MATCH, Result.NO_MATCH}
    changed = 0
    for _ in range(40):
        matches, compiled = compiled_rules(r, 15)
        for _ in range(10):
            action = {**random_action(r), "complete": True}
            all_told = answers(compiled, len(matches), action)
            for hidden in hidings(action):
                for match, before, after in zip(
                    matches, all_told, answers(compiled, len(matches), hidden), strict=True
                ):
                    assert before == after or after not in definite, (match, action, hidden)
                    changed += before != after
    assert changed > 100, "hiding does matter"


def hidings(action):
    for name in FIELDS:
        if name in action:
            yield {k: v for k, v in action.items() if k != name}
    for i, effect in enumerate(action["effects"]):
        for key in effect:
            less = {k: v for k, v in effect.items() if k != key}
            yield {**action, "effects": [*action["effects"][:i], less, *action["effects"][i + 1 :]]}
