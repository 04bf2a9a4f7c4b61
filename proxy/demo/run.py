"""The demonstration: onlooker started for real, two agents through it, the log read back.

In: a state folder. Out: ``Shown``: the records, whether every byte arrived as sent, the latency added.
"""

from __future__ import annotations

import asyncio
import secrets
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from classifiers.strict_yaml import load
from proxy.config import build
from proxy.demo.agents import Agents
from proxy.demo.servers import Ends
from proxy.instance import Instance
from proxy.settings import Launch

HERE = Path(__file__).parent
PROBES = 40  # head requests each way: what the relay adds to a small exchange


@dataclass(frozen=True, slots=True)
class Shown:
    records: list[dict[str, Any]]
    exchanges: int
    identical: bool
    added_ms: float
    state: str


def story() -> dict[str, Any]:
    path = HERE / "story.yaml"
    value: dict[str, Any] = load(path.read_text(encoding="utf-8"), path.name).value
    return value


def show(state: str) -> Shown:
    """Run it. Raises InstanceError when onlooker does not start."""
    told = story()
    return asyncio.run(_show(told, state))


async def _show(told: dict[str, Any], state: str) -> Shown:
    ends = Ends(told)
    runner = web.AppRunner(ends.application(), access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    upstream = f"http://127.0.0.1:{runner.addresses[0][1]}"
    nonce = secrets.token_hex(8)
    config = build(
        None,
        {
            "state": state,
            "listen": "127.0.0.1:0",
            "control": "127.0.0.1:0",
            "routes": {"model": {"url": upstream, "agui": False}, "/": {"url": upstream, "agui": True}},
            "policies": ("onlooker:starter",),
            "objectives": (str(HERE / "objective.yaml"),),
            "privacy": {"identities": "clear"},  # nobody lives in the story
        },
        Launch(cwd="/home/dev/shop", session="demo", nonces={nonce: "upgrade-django"}),
    )
    instance = Instance.start(config)  # not in a thread: a Ctrl-C meanwhile would leave behind what the thread starts
    try:
        async with aiohttp.ClientSession() as client:
            agents = Agents(told, client)
            bound = f"{instance.base}/o/upgrade-django.{nonce}/model"
            await asyncio.gather(agents.coder(bound), agents.support(instance.base))
            await asyncio.to_thread(instance.wait_analyzer)  # what is measured is the relay, not a process starting
            added_ms = await _added(client, upstream, instance.base)
    finally:
        await asyncio.to_thread(instance.stop)
        await runner.cleanup()
    identical = agents.seen == ends.seen and len(agents.seen) > 0
    return Shown(instance.records(), len(agents.seen), identical, added_ms, state)


async def _added(client: aiohttp.ClientSession, direct: str, through: str) -> float:
    """Milliseconds the relay adds to a small exchange: difference of medians, taken in turns."""
    took: dict[str, list[float]] = {direct: [], through: []}
    for base in (direct, through) * (PROBES + 2):
        started = time.perf_counter()
        async with client.head(base + "/", headers={"X-Demo": "1"}) as answer:
            await answer.read()
        took[base].append(time.perf_counter() - started)
    medians = {base: statistics.median(times[2:]) for base, times in took.items()}
    return (medians[through] - medians[direct]) * 1000
