"""MongoDB's clients: ``client.shop.orders.delete_many(…)`` names database, collection and operation on its way.

In: a call below the client. Out: one effect on ``db:mongodb:<host>/<database>/<collection>``, or the place gone into.
Source: PyMongo 4 and Node driver 6 API references.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from classifiers.address import host_of
from classifiers.code.library import Known
from classifiers.code.values import Value
from classifiers.effects import Domain, Verb

if TYPE_CHECKING:
    from classifiers.code.calls import Site

_INTO = frozenset({"db", "collection", "database", "getdatabase", "getcollection", "getdefaultdatabase"})
_NAMED = (
    "dropdatabase",
    "dropcollection",
    "createcollection",
    "validatecollection",
)  # what they are for is an argument
# How an operation's name begins or ends, tried in order: what it does, and whether something is lost.
_OPERATIONS: tuple[tuple[str, Verb, bool | None], ...] = (
    ("findoneanddelete", Verb.DELETE, True),
    ("findoneand", Verb.MODIFY, None),
    ("findandmodify", Verb.MODIFY, None),
    ("delete", Verb.DELETE, True),
    ("drop", Verb.DELETE, True),
    ("remove", Verb.DELETE, True),
    ("insert", Verb.CREATE, False),
    ("create", Verb.CREATE, False),
    ("update", Verb.MODIFY, None),
    ("replace", Verb.MODIFY, None),
    ("bulkwrite", Verb.MODIFY, None),
    ("rename", Verb.MODIFY, None),
    ("runcommand", Verb.MODIFY, None),
    ("command", Verb.MODIFY, None),
    ("find", Verb.READ, False),
    ("aggregate", Verb.READ, False),
    ("count", Verb.READ, False),
    ("estimated", Verb.READ, False),
    ("distinct", Verb.READ, False),
    ("list", Verb.READ, False),
    ("watch", Verb.READ, False),
    ("index", Verb.READ, False),
    ("serverinfo", Verb.READ, False),
)


def document(site: Site, _known: Known) -> Value | None:
    *names, operation = site.func.ref.split(".")[1:]
    if operation.endswith("[]"):  # ``db["orders"]``
        names, operation = [*names, operation[:-2]], "collection"
    if "client" in names:  # a database's own client
        names = names[names.index("client") + 1 :]
    flat = operation.replace("_", "").lower()
    named = site.argument("0|name|name_or_collection|name_or_database")
    text = (named.text or "*") if named is not None else "*"
    if flat in _INTO:
        ref = ".".join([site.func.ref.partition(".")[0], *names, text.replace(".", "_")])
        return Value(ref=ref, raw=site.raw, data=site.func.data, taint=site.taint)
    found = next(((verb, lost) for start, verb, lost in _OPERATIONS if flat.startswith(start)), None)
    if found is None:
        return None
    verb, lost = found
    if flat in _NAMED and named is not None:
        names = [text] if "database" in flat else [*names[:1], text]
    host = host_of(site.func.data) if isinstance(site.func.data, str) else None
    target = "/".join([f"db:mongodb:{host or '*'}", *(names[:2] or ["*"])])
    site.reader.out.add(Domain.DATABASE, verb, target, span=site.span, destructive=lost)
    return Value(raw=site.raw, taint=site.taint)
