"""NATS JetStream (extra ``nats``): one message per record; ``Nats-Msg-Id`` is its id, so the stream drops repeats.

In: records. Out: messages on ``<subject>.<kind>``; a batch is taken when the stream has acknowledged each message.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from audit.json_text import encode
from audit.sinks import TAKEN, Options, Record, Sent, SinkError, read_options, secret


class NatsSink:
    """The client library is asyncio; its loop runs on a thread of this sink's own."""

    batch_records = 256
    linger_s = 0.0

    def __init__(self, library: Any, options: Mapping[str, Any]) -> None:
        self._library, self._options = library, options
        self._client: Any = None
        self._stream: Any = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="sink-nats", daemon=True)
        self._thread.start()

    def send(self, batch: Sequence[Record]) -> Sent:
        try:
            self._run(self._publish(batch))
        except Exception as error:  # the library's errors share no base with the network's
            self._run(self._drop(), quiet=True)
            raise SinkError(f"nats: {error or type(error).__name__}") from error
        return TAKEN

    def close(self) -> None:
        self._run(self._drop(), quiet=True)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, None], *, quiet: bool = False) -> None:
        done = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            done.result(self._options["timeout_s"] * 2)
        except Exception:
            done.cancel()
            if not quiet:
                raise

    async def _publish(self, batch: Sequence[Record]) -> None:
        if self._client is None:
            await self._connect()
        subject, timeout_s = self._options["subject"], self._options["timeout_s"]
        for record in batch:  # one after the other: order is part of the record
            headers = {"Nats-Msg-Id": record["id"]}
            await self._stream.publish(
                f"{subject}.{record['kind']}", encode(record), timeout=timeout_s, headers=headers
            )

    async def _connect(self) -> None:
        timeout_s = self._options["timeout_s"]
        more = {"token": secret("nats", self._options["token"])} if self._options["token"] else {}
        client = await self._library.connect(
            self._options["url"],
            connect_timeout=timeout_s,
            allow_reconnect=False,
            max_reconnect_attempts=1,
            error_cb=_ignore,
            **more,
        )
        stream = client.jetstream(timeout=timeout_s)
        if self._options["create_stream"]:
            await stream.add_stream(name=self._options["stream"], subjects=[f"{self._options['subject']}.>"])
        self._client, self._stream = client, stream

    async def _drop(self) -> None:
        """Close the connection, and whatever the library still has under way on this loop."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


class Nats:
    name = "nats"
    options: Options = MappingProxyType(
        {
            "url": "nats://127.0.0.1:4222",
            "stream": "ONLOOKER",
            "subject": "onlooker.records",
            "create_stream": True,
            "token": "",
            "timeout_s": 5.0,
        }
    )

    def open(self, options: Options, place: Path) -> NatsSink:  # noqa: ARG002 - every sink's signature
        chosen = read_options(self.name, self.options, options)
        try:
            import nats  # noqa: PLC0415 - the extra `nats`
        except ImportError:
            raise ValueError("sink nats: needs the extra: pip install 'onlooker[nats]'") from None
        return NatsSink(nats, chosen)


async def _ignore(_error: Exception) -> None:
    """What the library reports here also fails the publish that waits for it."""


SINK = Nats()
