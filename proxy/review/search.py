"""Actions that were asked for, worst first or newest first, a page at a time, and how many there are.

In: ``Asked``. Out: rows of the index. The rarest property asked for drives the search, the others are looked up; each
list of the index is already worst first, so a page ends the search. Values are bound, never pasted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from audit.summary import RANK
from proxy.review.asked import FILTERS, GLOBS, Asked
from proxy.review.index import Index
from proxy.review.schema import least_of

PAGE = 50
COUNTED = 10_000  # beyond this a page says "more than"
FEW = 20_000  # a driver this small may be sorted
MANY_TARGETS = 2_000
MAX_KEYS = 500  # properties one glob may stand for


@dataclass(slots=True)
class Page:
    """``total``: exact up to COUNTED, then COUNTED + 1. ``after``: where the next page begins, None at the end."""

    rows: list[sqlite3.Row]
    total: int
    after: int | None


@dataclass(slots=True)
class _Plan:
    """``driver``: a table expression with column w. ``tests``: on d.w or the action a."""

    driver: str = ""
    size: int = 1 << 62
    tests: list[str] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    joins_a: bool = False
    empty: bool = False


def find(index: Index, asked: Asked, limit: int = PAGE, *, counted: bool = True) -> Page:
    plan = _plan(index, asked)
    if plan.empty:
        return Page([], 0, None)
    rows = _rows(index, asked, plan, limit + 1)
    more = len(rows) > limit
    last = rows[limit - 1] if more else None
    after = None if last is None else int(last["n"] if asked.order == "newest" else last["w"])
    return Page(rows[:limit], _count(index, asked) if counted else 0, after)


def each(index: Index, asked: Asked, limit: int) -> Iterator[sqlite3.Row]:
    """All of them, a page after the other."""
    left = limit
    while left > 0:
        plan = _plan(index, asked)
        rows = [] if plan.empty else _rows(index, asked, plan, min(left, 1000))
        if not rows:
            return
        yield from rows
        left -= len(rows)
        last = rows[-1]
        asked = replace(asked, after=int(last["n"] if asked.order == "newest" else last["w"]))


def _rows(index: Index, asked: Asked, plan: _Plan, limit: int) -> list[sqlite3.Row]:
    tests, values = list(plan.tests), list(plan.values)
    newest = asked.order == "newest"
    source = f"{plan.driver} d CROSS JOIN actions a ON a.w = d.w" if plan.driver else "actions a"
    if newest and plan.size > FEW:  # walk back through all actions; each test is a look-up
        source, tests = "actions a", [t.replace("d.w", "a.w") for t in (*_driver_test(plan), *plan.tests)]
        values = [*(plan.values if plan.driver else values)]
    elif not plan.driver:
        tests = [t.replace("d.w", "a.w") for t in tests]
    if asked.after is not None:
        tests.append("a.n < ?" if newest else "a.w > ?" if not plan.driver else "d.w > ?")
        values.append(asked.after)
    order = "a.n DESC" if newest else "d.w" if plan.driver else "a.w"
    where = " AND ".join(tests) or "1"
    sql = f"SELECT a.* FROM {source} WHERE {where} ORDER BY {order} LIMIT ?"  # noqa: S608 - no value in the text
    return index.rows(sql, [*values, limit])


def _driver_test(plan: _Plan) -> list[str]:
    """The driver as a test, when something else drives."""
    test = f"EXISTS (SELECT 1 FROM {plan.driver} x WHERE x.w = d.w)"  # noqa: S608 - tables and numbers
    return [test] if plan.driver else []


def _count(index: Index, asked: Asked) -> int:
    exact = _exact(index, asked)
    if exact is not None:
        return min(exact, COUNTED + 1)
    plan = _plan(index, replace(asked, after=None))
    join = " CROSS JOIN actions a ON a.w = d.w" if plan.joins_a else ""
    source = f"{plan.driver} d{join}" if plan.driver else "actions a"
    tests = plan.tests if plan.driver else [t.replace("d.w", "a.w") for t in plan.tests]
    where = " AND ".join(tests) or "1"
    sql = f"SELECT count(*) FROM (SELECT 1 FROM {source} WHERE {where} LIMIT ?)"  # noqa: S608 - as above
    return int(index.rows(sql, [*plan.values, COUNTED + 1])[0][0])


def _exact(index: Index, asked: Asked) -> int | None:
    """A count the index holds: one property and nothing else."""
    if asked.text or asked.least or asked.since or asked.until or asked.marked or len(asked.filters) != 1:
        return None
    ((name, value),) = asked.filters.items()
    if name in GLOBS and value.endswith("*"):
        return None
    row = index.one("SELECT n FROM keys WHERE text = ?", (f"{FILTERS[name]}:{value}",))
    return int(row[0]) if row else 0


def _plan(index: Index, asked: Asked) -> _Plan:
    plan = _Plan()
    wanted = sorted((_keys(index, text) for text in _texts(asked)), key=lambda found: sum(n for _, n in found))
    if any(not found for found in wanted):
        plan.empty = True
        return plan
    targets = _targets(index, asked.text) if asked.text else None
    if targets is not None and not targets:
        plan.empty = True
        return plan
    _drive(index, asked, plan, wanted, targets)
    if asked.text and not (targets and plan.driver.startswith("(SELECT DISTINCT w FROM target_of")):
        plan.tests.append(
            "EXISTS (SELECT 1 FROM target_of o JOIN target g ON g.t = o.t WHERE o.w = d.w AND g.text LIKE ? ESCAPE '!')"
        )
        plan.values.append(_like(asked.text))
    if asked.least:
        plan.tests.append("d.w <= ?")
        plan.values.append(least_of(RANK[asked.least] * 5))
    if asked.marked:
        _marked(index, asked.marked, plan)
    for column, test, value in (("ts", ">=", asked.since), ("ts", "<=", asked.until and asked.until + "~")):
        if value:
            plan.tests.append(f"a.{column} {test} ?")
            plan.values.append(value)
            plan.joins_a = True
    return plan


def _drive(
    index: Index, asked: Asked, plan: _Plan, wanted: list[list[tuple[int, int]]], targets: list[int] | None
) -> None:
    """Choose what is walked: few targets, few of a time, the rarest property, or all actions."""
    rarest = sum(n for _, n in wanted[0]) if wanted else 1 << 62
    tests = [_has([k for k, _ in found]) for found in wanted]
    if targets is not None and len(targets) <= MANY_TARGETS:
        plan.driver = f"(SELECT DISTINCT w FROM target_of WHERE t IN ({_list(targets)}))"  # noqa: S608 - numbers
        plan.size = FEW
    elif asked.since and rarest > FEW and (size := _in_time(index, asked)) <= FEW:
        plan.driver, plan.size = "(SELECT w FROM actions WHERE ts >= ?)", size
        plan.values.append(asked.since)
    elif wanted:
        numbers = [k for k, _ in wanted[0]]
        one = len(numbers) == 1
        plan.driver = f"(SELECT {'' if one else 'DISTINCT '}w FROM posting WHERE {_is(numbers)})"  # noqa: S608 - numbers
        plan.size, tests = rarest, tests[1:]
    plan.tests += tests


def _has(keys: Sequence[int]) -> str:
    return f"EXISTS (SELECT 1 FROM posting p WHERE {_is(keys)} AND p.w = d.w)"  # noqa: S608 - numbers


def _is(keys: Sequence[int]) -> str:
    return f"k = {int(keys[0])}" if len(keys) == 1 else f"k IN ({_list(keys)})"


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(str(int(n)) for n in numbers)


def _marked(index: Index, marked: str, plan: _Plan) -> None:
    """``open``: whatever was not marked benign."""
    found = _keys(index, f"marked:{'benign' if marked == 'open' else marked}")
    if marked == "open":
        plan.tests += [f"NOT {_has([k for k, _ in found])}"] if found else []
    elif not found:
        plan.empty = True
    else:
        plan.tests.append(_has([k for k, _ in found]))


def _texts(asked: Asked) -> Iterator[str]:
    """Properties as the index names them; a domain and a verb asked together must hold of one effect."""
    filters = dict(asked.filters)
    if "domain" in filters and "effect" in filters:
        yield f"effect:{filters.pop('domain')}:{filters.pop('effect')}"
    for name, value in filters.items():
        yield f"{FILTERS[name]}:{value}"


def _keys(index: Index, text: str) -> list[tuple[int, int]]:
    """(number, how many actions) of a property, or of those a final ``*`` stands for."""
    if text.endswith("*") and text.partition(":")[0] in GLOBS:
        sql, low = "SELECT k, n FROM keys WHERE text >= ? AND text < ? AND n > 0 LIMIT ?", text[:-1]
        return [(r[0], r[1]) for r in index.rows(sql, (low, low + "\U0010ffff", MAX_KEYS))]
    row = index.one("SELECT k, n FROM keys WHERE text = ? AND n > 0", (text,))
    return [(row[0], row[1])] if row else []


def _targets(index: Index, text: str) -> list[int]:
    sql = "SELECT t FROM target WHERE text LIKE ? ESCAPE '!' LIMIT ?"
    return [int(r[0]) for r in index.rows(sql, (_like(text), MANY_TARGETS + 1))]


def _like(text: str) -> str:
    """Contains; ``*`` stands for anything."""
    plain = "".join("!" + c if c in "!%_" else c for c in text.lower())
    return f"%{plain.replace('*', '%')}%"


def _in_time(index: Index, asked: Asked) -> int:
    sql = "SELECT count(*) FROM (SELECT 1 FROM actions WHERE ts >= ? LIMIT ?)"
    return int(index.rows(sql, (asked.since, FEW + 1))[0][0])
