"""Objects a manifest names (``kubectl apply -f -``): its text in, a ``kind/name`` of each object out.

In ``named``: what a command was told to do to every object of its files is said of those the call itself holds
(Kubernetes API conventions, "Objects": kind, metadata.name, metadata.namespace).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.effects import Domain
from classifiers.knowledge.reading import Item, Reading, Told
from classifiers.shell.state import Scope, State

if TYPE_CHECKING:
    from classifiers.shell.evaluate import Evaluator

APPLIERS = frozenset({"kubectl", "oc", "k", "microk8s.kubectl"})
_FILES = ("-f", "--filename")
_MAX_OBJECTS = 50
_DOCUMENTS = re.compile(r"^---.*$", re.MULTILINE)
_KIND = re.compile(r"^kind:[ \t]*[\"']?([A-Za-z]\w*)", re.MULTILINE)
_METADATA = re.compile(r"^metadata:[ \t]*\n((?:[ \t]+.*(?:\n|\Z))+)", re.MULTILINE)
_FIELD = re.compile(r"^(\s+)(name|namespace):[ \t]*[\"']?([^\s\"'#]+)", re.MULTILINE)


def objects(text: str) -> list[tuple[str, str | None]] | None:
    """``(kind/name, namespace)`` of each object; None when one of them does not say."""
    out: list[tuple[str, str | None]] = []
    for document in _DOCUMENTS.split(text):
        if not document.strip() or not re.search(r"^\s*[^#\s]", document, re.MULTILINE):
            continue
        kind, block = _KIND.search(document), _METADATA.search(document)
        depth = len(block[1]) - len(block[1].lstrip(" \t")) if block else 0
        fields = {m[2]: m[3] for m in _FIELD.finditer(block[1]) if len(m[1].lstrip("\n")) == depth} if block else {}
        if kind is None or "name" not in fields or kind[1] == "List":
            return None
        out.append((f"{kind[1].lower()}/{fields['name']}", fields.get("namespace")))
    return out[:_MAX_OBJECTS] or None


def named(ev: Evaluator, reading: Reading, state: State, scope: Scope) -> None:
    """Replace "every object" in the reading by the objects, where every file given is in the call."""
    files = [w.text for w in reading.parsed.words_of(*_FILES)]
    texts = [_text(f, state, scope) for f in files]
    if not texts or any(t is None or not ev.known(t) for t in texts):
        return
    found = [objects(t) for t in texts if t is not None]
    if all(found):
        reading.items[:] = [n for i in reading.items for n in _each(i, [o for os in found for o in os or ()])]


def _text(file: str, state: State, scope: Scope) -> str | None:
    if file == "-":
        return scope.stdin.text if scope.stdin is not None else None
    known = state.files.get(state.key(file)) if scope.where == "local" else None
    return known.text if known is not None else None


def _each(item: Item, objects: list[tuple[str, str | None]]) -> Iterator[Item]:
    if (
        not isinstance(item, Told)
        or item.domain is not Domain.CLOUD
        or not (item.target or "").endswith((":*", ":*/*"))
    ):
        yield item
        return
    context, _, namespace = (item.target or "").rpartition(":")[0].rpartition(":")
    for name, own in objects:
        yield replace(item, target=f"{context}:{own if own and namespace == '*' else namespace}:{name}")
