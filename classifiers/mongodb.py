"""What MongoDB's operations do, for its shell, its drivers and its tools: a name and a place in, effects out.

The table is ``mongodb.yaml``. A command document is read by the order it holds, an aggregation also by the stage that
writes its result down ($out, $merge).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from classifiers.context import NOWHERE
from classifiers.datafile import table
from classifiers.effects import Domain, Effect, Verb
from classifiers.templates import Given, fill_all

_TABLE = "mongodb.yaml"


@dataclass(frozen=True, slots=True)
class Place:
    """Where an operation works; what is not said is empty."""

    host: str = ""
    database: str = ""
    collection: str = ""

    @property
    def target(self) -> str:
        host = f"db:mongodb:{self.host or '*'}"
        if self.collection:
            return f"{host}/{self.database or '*'}/{self.collection}"
        return f"{host}/{self.database}" if self.database else host


def plain(name: str) -> str:
    """``delete_many``, ``delete-many`` and ``deleteMany`` are one name."""
    return name.replace("_", "").replace("-", "").lower()


def leads_into(name: str) -> bool:
    return plain(name) in table(_TABLE)["into"]


def leads_beside(name: str) -> bool:
    return plain(name) in table(_TABLE)["beside"]


def told(name: str, place: Place, argument: Any = None) -> list[Effect] | None:
    """The effects of one operation; None when the table knows none of that name.

    ``argument``: the first one as far as it is known, plain values (a document is a mapping).
    """
    flat = plain(name)
    if flat in table(_TABLE)["takes_order"]:
        return _order(place, argument)
    lines = _lines(flat)
    if lines is None:
        return None
    if isinstance(argument, str) and argument:
        for part, names in table(_TABLE)["names"].items():
            place = replace(place, **{part: argument}) if flat in names else place
    given = {"place": place.target, "user": _user(argument)}
    effects = fill_all(lines, lambda key: Given(given[key], given[key]), NOWHERE)
    return [*effects, *_written(argument, place)] if flat.startswith("aggregate") else effects


def _order(place: Place, argument: Any) -> list[Effect] | None:
    """``runCommand({drop: "carts"})``: the first key is the order, its value what it is about."""
    if isinstance(argument, str):
        argument = {argument: 1}
    if not isinstance(argument, Mapping) or not argument:
        return None
    name, about = next(iter(argument.items()))
    if not name or plain(name) in table(_TABLE)["takes_order"]:
        return None
    pipeline = argument.get("pipeline")
    about = about if isinstance(about, str) else ""
    if "." in about and plain(name).startswith("renamecollection"):  # it names the database too
        database, _dot, about = about.partition(".")
        place = replace(place, database=database)
    inner = replace(place, collection=about or place.collection)
    return told(name, inner, pipeline if pipeline is not None else about)


def _written(pipeline: Any, place: Place) -> list[Effect]:
    """Where an aggregation puts its result: ``{$out: "x"}``, ``{$merge: {into: {db: "d", coll: "x"}}}``."""
    out: list[Effect] = []
    for stage in pipeline if isinstance(pipeline, list) else [pipeline]:
        for name in ("$out", "$merge") if isinstance(stage, Mapping) else ():
            into = stage.get(name)
            into = into.get("into", into) if isinstance(into, Mapping) else into
            database, collection = (into.get("db"), into.get("coll")) if isinstance(into, Mapping) else ("", into)
            if name in stage:
                named = Place(place.host, str(database or place.database), str(collection or "*"))
                out.append(Effect(Domain.DATABASE, Verb.MODIFY, target=named.target, destructive=None))
    return out


def _user(argument: Any) -> str:
    """``createUser({user: "ann", …})``, ``grantRolesToUser("ann", …)``."""
    named = argument.get("user", argument.get("role")) if isinstance(argument, Mapping) else argument
    return named if isinstance(named, str) and named else "*"


def _lines(flat: str) -> list[str] | None:
    exact, beginnings = _names()
    if flat in exact:
        return exact[flat]
    return next((lines for start, lines in beginnings if flat.startswith(start)), None)


@cache
def _names() -> tuple[dict[str, list[str]], list[tuple[str, list[str]]]]:
    """Names spelled out, and beginnings of names, the longest first."""
    exact: dict[str, list[str]] = {}
    beginnings: list[tuple[str, list[str]]] = []
    for names, lines in table(_TABLE)["operations"].items():
        for name in names.split("|"):
            if name.endswith("*"):
                beginnings.append((name[:-1], lines))
            else:
                exact[name] = lines
    return exact, sorted(beginnings, key=lambda b: -len(b[0]))
