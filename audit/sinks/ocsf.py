"""OCSF events as JSON lines, one file a day: API Activity (6003) per action, Detection Finding (2004) when flagged.

In: records. Out: ``<folder>/ocsf-<day>.jsonl`` (0600). ``metadata.uid`` is the record's id, for consumers to drop the
rare repeat. ``unmapped.onlooker.activity`` is ``proposed``: OCSF has no word for what a call *would* do.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any

from audit.json_text import encode
from audit.otel_names import look
from audit.sinks import TAKEN, Options, Record, Sent, SinkError, read_options
from audit.summary import effect_text, findings, severity, verdict, what, worst_effect

VERSION = "1.5.0"
SEVERITY_ID = {None: 1, "info": 1, "low": 2, "medium": 3, "high": 4, "critical": 5}
# The effect's verb → activity_id of API Activity: Create, Read, Update, Delete, else Other.
ACTIVITY_ID = {"create": 1, "read": 2, "receive": 2, "modify": 3, "grant": 3, "delete": 4}


def events(record: Record) -> list[dict[str, Any]]:
    """None for kinds OCSF has no class for."""
    if record["kind"] != "action":
        return []
    return [_activity(record), *([_finding(record)] if severity(record) else [])]


class OcsfSink:
    batch_records = 512
    linger_s = 0.0

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def send(self, batch: Sequence[Record]) -> Sent:
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for day, records in groupby(batch, lambda r: r["ts"][:10]):
                data = b"".join(encode(e) + b"\n" for r in records for e in events(r))
                if data:
                    self._append(self._folder / f"ocsf-{day}.jsonl", data)
        except OSError as error:
            raise SinkError(f"ocsf: {error}") from error
        return TAKEN

    def close(self) -> None:
        """Each batch opens and closes its file."""

    def _append(self, path: Path, data: bytes) -> None:
        """Whole or not at all: a short write is undone, so no half line stays."""
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            before = os.fstat(fd).st_size
            if os.write(fd, data) != len(data):
                os.ftruncate(fd, before)
                raise OSError(28, "the disk is full")
        finally:
            os.close(fd)


class Ocsf:
    name = "ocsf"
    options: Options = MappingProxyType({"folder": ""})

    def open(self, options: Options, place: Path) -> OcsfSink:
        chosen = read_options(self.name, self.options, options)
        return OcsfSink(Path(chosen["folder"]).expanduser() if chosen["folder"] else place)


def _common(record: Record, class_uid: int, category: int, activity: int) -> dict[str, Any]:
    worst = severity(record)
    product = {"name": "onlooker", "vendor_name": "onlooker"}
    integrity = {"log_id": record["log_id"], "seq": record["seq"], "prev": record["prev"]}
    ours = {"activity": "proposed", "verdict": verdict(record) or None, "record_integrity": integrity}
    return {
        "class_uid": class_uid,
        "category_uid": category,
        "activity_id": activity,
        "type_uid": class_uid * 100 + activity,
        "time": round(datetime.fromisoformat(record["ts"]).timestamp() * 1000),
        "severity_id": SEVERITY_ID.get(worst, 99),
        "message": what(record),
        "metadata": {"version": VERSION, "product": product, "uid": record["id"], "sequence": record["seq"]},
        "unmapped": {"onlooker": ours},
    }


def _activity(record: Record) -> dict[str, Any]:
    effect = worst_effect(record)
    peer = look(record, "origin.peer") or {}
    host, _, port = str(look(record, "exchange.upstream") or "").rpartition(":")
    actor = {"user": {"uid": str(peer.get("uid"))}, "process": {"pid": peer.get("pid"), "name": peer.get("exe")}}
    resources = [{"name": e["target"], "type": e["domain"]} for e in record["classification"]["effects"] if e["target"]]
    return _common(record, 6003, 6, ACTIVITY_ID.get(effect["action"] if effect else "", 99)) | {
        "actor": actor | {"session": {"uid": look(record, "session.id")}, "app_name": look(record, "agent.id")},
        "api": {"operation": record["call"]["name"], "request": {"uid": str(record["call"]["id"] or record["id"])}},
        "src_endpoint": {"ip": str(peer.get("addr") or "").rpartition(":")[0], "hostname": look(record, "origin.host")},
        "dst_endpoint": {"hostname": host, "port": int(port) if port.isdigit() else None},
        "resources": resources,
        "status_id": 0,  # unknown: a request was seen, not what came of it
    }


def _finding(record: Record) -> dict[str, Any]:
    found, effect = findings(record), worst_effect(record)
    title = found[0]["rule"] if found else f"objective {verdict(record)}"
    described = effect_text(effect) if effect else what(record)
    related = [{"uid": f["rule"], "severity": f["severity"], "at": f["at"]} for f in found]
    info = {"uid": record["id"], "title": title, "desc": described, "types": [f["rule"] for f in found]}
    common = _common(record, 2004, 2, 1)
    return common | {"finding_info": info, "unmapped": common["unmapped"] | {"rules": related}}


SINK = Ocsf()
