"""az: the option called after a group names the resource, and files that are read. A reading in, its targets filled in.

``az monitor log-analytics workspace create --workspace-name w`` has no ``--name``. ``@file`` hands a file's text in.
Source: Azure CLI "How to use" (learn.microsoft.com/cli/azure/use-azure-cli-successfully), reference of each group.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from classifiers.effects import Domain, OpaqueReason, Verb
from classifiers.knowledge.arguments import Hit
from classifiers.knowledge.model import Json
from classifiers.knowledge.reading import Hidden, Reading, Told
from classifiers.knowledge.words import Word

_RUNS = "customscript"  # the extension that starts what its settings say
_READ_FROM = ("--template-file", "-f", "--file")
# Options that hand a document in, and what a document's name ends with; ``--name app.zip`` and outputs are neither.
_DOCUMENT = re.compile(
    r"--[\w-]*(?:file|path|spec|template|config|src|source|manifest|yaml|body|cert|parameters|policy|rules)"
)
_OUTPUT = re.compile(r"--(?:[\w-]*-)?(?:output|out|outfile|destination|dest|download|log|target)[\w-]*")
_ENDING = re.compile(
    r"[^\s{}=:@]+\.(?:ya?ml|json|zip|jar|war|pfx|pem|cer|crt|pub|bicep|bicepparam|xml|txt|sh|ps1|csv|sql|tgz|gz)"
)
_AT = re.compile(r"(?:^|=)@([\w./~-]+)$")
_STORES = frozenset({"storage", "keyvault", "bicep", "acr", "aks", "vm"})  # their description says what a file is for


def read_az(reading: Reading, name: Word, words: Sequence[Word]) -> None:
    """Replace the ``*`` of an unnamed resource; tell of each file handed in."""
    subs = [s.text for s in reading.parsed.subs]
    given = reading.parsed.values()
    found = next((given[o] for o in _options(subs) if o in given), None)
    for at, item in enumerate(reading.items):
        if found is not None and isinstance(item, Told) and (item.target or "").startswith("azure:"):
            reading.items[at] = replace(item, target=_filled(item.target or "", found))
    if subs[-2:] == ["extension", "set"] and any(_RUNS in w.text.lower() for w in words):
        fields: Json = {"destructive": None, "reversibility": "unknown", "tags": ["remote_code"]}
        reading.items.append(Told(Verb.EXECUTE, Domain.CODE, None, fields, name.span))
        reading.items.append(Hidden(OpaqueReason.PAYLOAD_UNREADABLE, name.span, "commands the machine will run"))
    if reading.items and not (subs and subs[0] in _STORES):
        _files(reading)
    _handed(reading, words)


def _handed(reading: Reading, words: Sequence[Word]) -> None:
    """``--settings A=1 @more.json``, ``--parameters list=@a.json``: any word may hand a file's text in."""
    told = {i.target for i in reading.items if isinstance(i, Told) and i.domain is Domain.FILESYSTEM}
    for word in words:
        found = _AT.search(word.text)
        if found is not None and found[1] not in told and reading.items:
            fields: Json = {"destructive": False, "reversibility": "read_only"}
            reading.items.append(
                Told(Verb.READ, Domain.FILESYSTEM, found[1], fields, word.span, word.with_text(found[1]))
            )
            told.add(found[1])


def _document(hit: Hit) -> bool:
    named = _DOCUMENT.fullmatch(hit.spelling) and not _OUTPUT.fullmatch(hit.spelling)
    return hit.value is not None and bool(named) and _ENDING.fullmatch(hit.value.text) is not None


def _options(subs: Sequence[str]) -> Iterator[str]:
    """Options that may name the resource, the nearest group's first; only when ``--name`` does not."""
    for group in reversed(subs[:-1]):
        yield from (f"{group}-name", f"{group}-id", group)
        if group == "db":
            yield from ("database-name", "d")
    yield from ("ids", "id", "resource", "resource-id", "repository", "group-id", "work-item-id")


def _filled(target: str, found: str) -> str:
    return f"{target[:-1]}{found}" if target.endswith(":*") else target


def _files(reading: Reading) -> None:
    told = {i.target for i in reading.items if isinstance(i, Told) and i.domain is Domain.FILESYSTEM}
    for hit in reading.parsed.hits:
        if hit.value is None:
            continue
        text = hit.value.text
        path = text[1:] if text.startswith("@") else text if hit.spelling in _READ_FROM or _document(hit) else ""
        if path and path not in told:
            fields: Json = {"destructive": False, "reversibility": "read_only"}
            reading.items.append(Told(Verb.READ, Domain.FILESYSTEM, path, fields, hit.value.span, hit.value))


SPECIAL = ("az", read_az)
