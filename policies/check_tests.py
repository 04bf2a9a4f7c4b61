"""The checker's part for inline tests of rules and objectives: their shape, names and values.

In: the ``tests:`` list of a strict document. Out: ``model.Test`` values whose steps ``policies.inline`` can run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from classifiers.effects import Effect
from classifiers.strict_yaml import Path
from policies.diagnostic import Notes
from policies.model import Test
from policies.verdict import Result, Verdict
from policies.vocab import EFFECT_FIELDS, FIELDS
from policies.words import duration_s, instant, unknown_key, unknown_value

RESULTS = tuple(str(r) for r in Result)
VERDICTS = tuple(str(v) for v in Verdict)
GROUPS = tuple(sorted({name.split(".", 1)[0] for name in FIELDS} - {"effect"}))
STEP_KEYS = ("tool", "effects", "complete", "flows", "at", "server", "cwd", "home", "surface", "claimed")
CALL_KEYS = ("tool", "arguments", "server", "shell", "cwd", "home")
SHAPES = ("call", "action", "actions", "calls")


def read_tests(notes: Notes, value: Any, path: Path, outcomes: tuple[str, ...] = RESULTS) -> Iterator[Test]:
    if not isinstance(value, list):
        notes.error("'tests' is a list", *path)
        return
    for i, item in enumerate(value):
        test = _test(notes, item, (*path, i), outcomes)
        if test is not None:
            yield test


def _test(notes: Notes, item: Any, path: Path, outcomes: tuple[str, ...]) -> Test | None:
    shapes = [k for k in SHAPES if isinstance(item, dict) and k in item]
    if len(shapes) != 1:
        notes.error("a test is one call, action or list of actions, and what to expect", *path)
        return None
    shape = shapes[0]
    if "expect" not in item:
        notes.error("a test needs 'expect'", *path, code="missing")
    elif item["expect"] not in outcomes:
        notes.error(unknown_value(item["expect"], outcomes, "'expect'"), *path, "expect")
    around = {k: v for k, v in item.items() if k not in {*SHAPES, "expect", "because"}}
    for key in around:
        if key not in STEP_KEYS and key not in GROUPS and key not in FIELDS:
            notes.error(unknown_key(key, ("expect", "because", *STEP_KEYS, *GROUPS)), *path, key, key=True, code="key")
    many = isinstance(item[shape], list)
    steps = item[shape] if many else [item[shape]]
    paths = [(*path, shape, i) for i in range(len(steps))] if many else [(*path, shape)]
    is_call = shape in {"call", "calls"}
    out = [{**around, **_step(notes, s, p, call=is_call)} for s, p in zip(steps, paths, strict=True)]
    if not out:
        notes.error(f"'{shape}' is empty", *path, shape)
        return None
    return Test(tuple(out), str(item.get("expect")), notes.doc.at(*path), item.get("because"))


def _step(notes: Notes, step: Any, path: Path, *, call: bool) -> dict[str, Any]:
    if not isinstance(step, dict):
        notes.error("a mapping is expected: {tool: …, arguments: …} or {tool: …, effects: […]}", *path)
        return {}
    if call or (isinstance(step.get("call"), dict) and "tool" in step["call"]):
        inner = step if call else step["call"]
        if not isinstance(inner.get("tool"), str):
            notes.error("a call names its 'tool'", *path, code="missing")
        place = path if call else (*path, "call")
        for key in inner:
            if key not in CALL_KEYS and f"call.{key}" not in FIELDS and key not in {"approval", "definition"}:
                notes.error(unknown_key(key, CALL_KEYS), *place, key, key=True, code="key")
        rest = {} if call else {k: v for k, v in step.items() if k != "call"}
        return {**rest, "call": inner}
    for key, value in step.items():
        if key not in STEP_KEYS and key not in GROUPS and key not in FIELDS:
            notes.error(unknown_key(key, (*STEP_KEYS, *GROUPS)), *path, key, key=True, code="key")
        elif key == "effects":
            _effects(notes, value, (*path, key))
        elif key == "at" and duration_s(value) is None and instant(value) is None:
            notes.error(f"'at' is an offset such as 9s, or a time, not '{value}'", *path, key)
    return step


def _effects(notes: Notes, value: Any, path: Path) -> None:
    if not isinstance(value, list):
        notes.error("'effects' is a list", *path)
        return
    for i, effect in enumerate(value):
        if isinstance(effect, str):
            try:
                Effect.parse(effect)
            except ValueError as error:
                notes.error(f"not an effect in the one-line notation: {error}", *path, i)
        elif isinstance(effect, dict):
            _effect(notes, effect, (*path, i))
        else:
            notes.error("an effect is a mapping, or one line such as 'delete filesystem:/srv/app recursive'", *path, i)


def _effect(notes: Notes, effect: dict[str, Any], path: Path) -> None:
    for key, value in effect.items():
        field = EFFECT_FIELDS.get(key)
        if field is None:
            notes.error(unknown_key(key, EFFECT_FIELDS), *path, key, key=True, code="key")
            continue
        for one in value if field.many and isinstance(value, list) else [value]:
            if field.values and one is not None and one not in field.values:
                notes.error(unknown_value(one, field.values, f"'{key}'"), *path, key)
