"""A policy somebody considers, tried on what is recorded, by ``onlooker policy replay`` in a process of its own.

In: ``POST /review/policies/candidate`` with the file's text, the policy to compare with, how far back. Out: ``Trial``,
shown by its page. One trial at a time; its file is removed again; nothing that is in force changes.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from audit.files import segments
from classifiers.strict_yaml import StrictYamlError, load
from proxy.review.child import run_module
from proxy.review.site import Site

MAX_BYTES = 256 << 10  # of the candidate's text
WITHIN_S = 180.0
DAYS = ("1", "7", "30", "")


@dataclass(frozen=True, slots=True)
class Trial:
    """``against``: "" for no comparison. ``found``: the replay's JSON, or None and ``wrong`` says why."""

    text: str
    against: str
    days: str
    at: float
    took_s: float
    found: dict[str, Any] | None
    wrong: tuple[str, ...] = ()


class WrongCandidateError(ValueError):
    """The form cannot be taken. The message says what was expected."""


def read_form(values: Mapping[str, str], policies: Sequence[str]) -> tuple[str, str, str]:
    """(text, against, days). Raises WrongCandidateError."""
    text, against, days = (values.get(name, "").replace("\r\n", "\n") for name in ("text", "against", "days"))
    if not text.strip() or len(text.encode()) > MAX_BYTES:
        raise WrongCandidateError(f"Paste a policy of at most {MAX_BYTES >> 10} KiB.")
    if against not in {"", *policies} or days not in DAYS:
        raise WrongCandidateError("Choose one of the policies and one of the periods offered.")
    return text, against, days


def outside_names(text: str) -> list[str]:
    """What a candidate extends beside the shipped library: files of this machine are not read for a form."""
    try:
        value = load(text, "candidate.yaml").value
    except StrictYamlError:
        return []  # the replay says it, with line and column
    named = value.get("extends", []) if isinstance(value, dict) else []
    listed = named if isinstance(named, list) else [named]
    return [str(n) for n in listed if not str(n).startswith("onlooker:")]


def logs_since(audit_dir: Path, days: str, now: float) -> list[str]:
    """Files of the log with something written in the last ``days``."""
    paths = [s.path for s in segments(audit_dir) if s.path is not None and s.path.exists()]
    since = now - float(days) * 86400 if days else 0.0
    return sorted(str(p) for p in paths if p.stat().st_mtime >= since)


async def run(site: Site, text: str, against: str, days: str) -> Trial:
    """The trial, whatever becomes of it."""
    begun, now = time.monotonic(), time.time()
    logs = logs_since(site.config.audit_dir, days, now)
    foreign = outside_names(text)

    def told(found: dict[str, Any] | None, *wrong: str) -> Trial:
        return Trial(text, against, days, now, time.monotonic() - begun, found, wrong)

    if foreign:
        return told(None, f"extends {', '.join(foreign)}: only onlooker: policies can be extended here")
    if not logs:
        return told(None, "Nothing was recorded in this time.")
    with tempfile.TemporaryDirectory(dir=site.folder, prefix="candidate-") as folder:
        file = Path(folder) / "candidate.yaml"
        file.write_text(text, encoding="utf-8")
        argv = ["policy", "replay", *logs, "--new", str(file), "--format", "json", "--jobs", "1"]
        try:
            async with asyncio.timeout(WITHIN_S):
                code, out, err = await run_module("proxy", *argv, *(["--old", against] if against else []))
        except TimeoutError:
            return told(None, f"It took longer than {WITHIN_S:.0f} s: choose a shorter time, or use the command below.")
    if code != 0:
        said = (err or out).replace(folder + os.sep, "")
        return told(None, *(said.splitlines()[-40:] or [f"the replay ended with {code}"]))
    return told(json.loads(out))


def routes(site: Site) -> list[web.RouteDef]:
    busy = asyncio.Lock()

    async def receive(request: web.Request) -> web.Response:
        form = await site.gate.form(request)
        try:
            wanted = read_form(form, site.config.policies)
        except WrongCandidateError as error:
            raise web.HTTPBadRequest(text=str(error)) from None
        if busy.locked():
            raise web.HTTPServiceUnavailable(text="Another candidate is being tried; wait for it and send this again.")
        async with busy:
            await site.fresh()
            site.trial = await run(site, *wanted)
        raise web.HTTPSeeOther("/review/policies/candidate#differences")

    return [web.post("/policies/candidate", receive)]
