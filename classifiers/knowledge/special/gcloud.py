"""gcloud: ``alpha`` and ``beta`` are no service, and some resources are named by an option. Targets in, mended out.

Source: Google Cloud CLI reference, "gcloud alpha", "gcloud beta"; flags of list and undeploy commands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from classifiers.effects import Domain, Verb
from classifiers.knowledge.model import Json
from classifiers.knowledge.reading import Reading, Told
from classifiers.knowledge.words import Word

_DOCUMENT = re.compile(r"[^\s{}=:@*]+\.(?:ya?ml|json|py|jar|sql|war|R)")
_KINDS = frozenset({
    "http", "https", "tcp", "ssl", "udp", "http2", "grpc", "pubsub", "app-engine", "training", "prediction", "pyspark",
    "spark", "spark-sql", "spark-r", "hive", "pig", "hadoop", "presto", "trino", "flink", "composite", "fields",
})  # fmt: skip
_RELEASES = frozenset({"alpha", "beta", "preview"})
_PARENTS = (
    "zone",
    "cluster",
    "instance",
    "topic",
    "api",
    "service",
    "keyring",
    "key",
    "repository",
    "dataset",
    "iam-account",
)


def read_gcloud(reading: Reading, name: Word, words: Sequence[Word]) -> None:
    """Name the service after a release word; a listing without a name is of the parent its option gives."""
    subs = [s.text for s in reading.parsed.subs]
    given = reading.parsed.values()
    own = given.get(subs[-2].removesuffix("s")) if len(subs) > 1 else None  # ``images export --image i1``
    parent = own or (next((given[p] for p in _PARENTS if p in given), None) if subs[:1] != ["compute"] else None)
    for at, item in enumerate(reading.items):
        if not isinstance(item, Told) or not item.target or not item.target.startswith("gcp:"):
            continue
        parts = item.target.split(":", 3)
        if len(subs) > 1 and len(parts) == 4 and parts[2] in _RELEASES:
            parts[2] = subs[1]
        if len(parts) == 4 and parts[3] == "*" and parent is not None and "tail" not in subs and "read" not in subs:
            parts[3] = parent
        reading.items[at] = replace(item, target=":".join(parts))
    _kinds(reading)
    if "export" not in subs:
        _documents(reading)
    if "add-metadata" in subs:
        _metadata(reading, " ".join(w.text for w in words))
    _ = name


def _kinds(reading: Reading) -> None:
    """``jobs create http nightly``: a word between the verb and the name says what kind of thing it is."""
    given = [w.text for w in reading.parsed.operands]
    other = next((n for n in given if n not in _KINDS and "://" not in n), "*")
    for at, item in enumerate(reading.items):
        if isinstance(item, Told) and _of_gcp(item) and item.target:
            start, _, name = item.target.rpartition(":")
            if name.startswith("//"):  # a bucket's address, told as such
                reading.items[at] = replace(item, target=f"{start.rpartition(':')[0]}:{other}")
            elif name in _KINDS and len(given) > 1:
                reading.items[at] = replace(item, target=f"{start}:{other}")
    _once(reading)


def _of_gcp(item: Told) -> bool:
    return (
        item.domain is Domain.CLOUD
        and (item.target or "").startswith("gcp:")
        and ":storage:" not in (item.target or "")
    )


def _documents(reading: Reading) -> None:
    """``run services replace shop.yaml``: the resource is named in a document, which is read."""
    told = {i.target for i in reading.items if isinstance(i, Told) and i.domain is Domain.FILESYSTEM}
    files: dict[str, Told] = {}
    for at, item in enumerate(reading.items):
        if not isinstance(item, Told) or item.domain is not Domain.CLOUD or not item.target:
            continue
        start, _, name = item.target.rpartition(":")
        if start.startswith("gcp:") and not start.endswith(":storage") and _DOCUMENT.fullmatch(name):
            reading.items[at] = replace(item, target=f"{start}:*")
            files[name] = item
    for name, item in files.items():
        if name not in told:
            fields: Json = {"destructive": False, "reversibility": "read_only"}
            reading.items.append(Told(Verb.READ, Domain.FILESYSTEM, name, fields, item.span, item.word))
    if files:
        _once(reading)


def _once(reading: Reading) -> None:
    """``app deploy app.yaml cron.yaml`` is one deployment."""
    seen: set[tuple[Verb, Domain, str | None]] = set()
    kept = []
    for item in reading.items:
        key = (item.action, item.domain, item.target) if isinstance(item, Told) else None
        if key is None or key not in seen:
            kept.append(item)
        if key is not None:
            seen.add(key)
    reading.items[:] = kept


def _metadata(reading: Reading, text: str) -> None:
    """Metadata of a machine changes; some keys are scripts it runs and keys it lets in when it starts."""
    stays = any(key in text for key in ("startup-script", "shutdown-script", "ssh-keys", "windows-keys", "user-data"))
    for item in reading.items if stays else ():
        if isinstance(item, Told) and item.action is Verb.MODIFY and item.domain is Domain.CLOUD:
            item.tag("persistence")


SPECIAL = ("gcloud", read_gcloud)
