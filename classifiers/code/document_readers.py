"""MongoDB's clients: ``client.shop.orders.delete_many(…)`` names database, collection and operation on its way.

In: a call below the client. Out: what ``classifiers.mongodb`` says of it, or the place gone into.
Source: PyMongo 4 and Node driver 6 API references; mongosh methods reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from classifiers import mongodb
from classifiers.address import host_of
from classifiers.code.library import Known
from classifiers.code.values import Value, plain
from classifiers.effects import Domain, OpaqueReason, Verb

if TYPE_CHECKING:
    from classifiers.code.calls import Site


def document(site: Site, _known: Known) -> Value | None:
    *names, operation = site.func.ref.split(".")[1:]
    if operation.endswith("[]"):  # ``db["orders"]``
        names, operation = [*names, operation[:-2]], "collection"
    if "client" in names:  # a database's own client
        names = names[names.index("client") + 1 :]
    given = site.argument("0|name|name_or_collection|name_or_database")
    beside = mongodb.leads_beside(operation)
    if beside or mongodb.leads_into(operation):
        text = (given.text or "*") if given is not None else "*"
        ref = ".".join([site.func.ref.partition(".")[0], *([] if beside else names), text])
        return Value(ref=ref, raw=site.raw, data=site.func.data, taint=site.taint)
    host = host_of(site.func.data) if isinstance(site.func.data, str) else None
    database, *collection = names or [""]
    place = mongodb.Place(host or "", database.replace("*", ""), ".".join(collection))
    effects = mongodb.told(operation, place, None if given is None else plain(given))
    for effect in effects or ():
        site.reader.out.put(effect, site.span)
    if effects is None:
        site.reader.out.add(Domain.DATABASE, Verb.MODIFY, place.target, span=site.span, destructive=None)
        site.reader.out.hide(OpaqueReason.DYNAMIC_COMMAND, site.span, site.raw)
    return Value(raw=site.raw, taint=site.taint)
