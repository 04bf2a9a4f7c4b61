"""What every page is made from: the index kept fresh, the templates, the state's own files.

In: the configuration and the token. Out: ``Site``. The index follows the log while somebody looks (and a while after);
an instance whose page nobody opens pays nothing for it.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
from markupsafe import Markup

from audit.escape import html_block, terminal
from proxy.inbox import Outbox
from proxy.places import Places
from proxy.review.gate import Gate
from proxy.review.index import Index
from proxy.review.verification import Verification
from proxy.settings import Config
from proxy.status import is_fresh, read_status, status_file

POLL_S = 0.2
AWAKE_S = 120.0  # followed this long after the last request
FIRST_WAIT_S = 0.15  # a page waits this long for the newest records


def visible(value: Any) -> Any:
    """Each value a template prints: control, bidi and invisible characters show as what they are."""
    return value if isinstance(value, Markup | int | float) else terminal("" if value is None else value)


def templates() -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(Path(__file__).parent / "templates")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.ChainableUndefined, finalize=visible, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["block"] = lambda text: Markup(html_block(text))  # noqa: S704 - escaped, line ends kept
    environment.filters["words"] = lambda text: str(text).replace("_", " ")
    environment.filters["clock"] = lambda ts: f"{ts[:10]} {ts[11:19]}"
    environment.filters["part"] = lambda text: quote(str(text), safe="")  # one segment of a path
    environment.filters["number"] = lambda n: f"{n:,}"
    return environment


class Site:
    def __init__(self, config: Config, token: str, outbox: Outbox) -> None:
        self.config, self.outbox, self.gate = config, outbox, Gate(token)
        self.folder = Path(config.state) / "review"
        self.places = Places(config)
        self.templates = templates()
        self.verification = Verification(config.audit_dir)
        self.trial: object | None = None  # the last candidate policy tried (proxy/review/candidate.py)
        self.behind = True  # the log may hold more than the index
        self.error = ""
        self.changed = asyncio.Condition()
        self.watching = 0
        self._index: Index | None = None
        self._touched = 0.0
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def index(self) -> Index:
        if self._index is None:
            self._index = Index(self.config.audit_dir, self.folder)
        return self._index

    async def fresh(self) -> Index:
        """The index, up to date when that takes no longer than a moment. Raises OSError, sqlite3.Error."""
        self._touched = time.monotonic()
        if self._index is None:
            self._index = await asyncio.to_thread(Index, self.config.audit_dir, self.folder)
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._follow(), name="review")
        self._wake.set()
        async with self.changed:
            try:
                await asyncio.wait_for(self.changed.wait(), FIRST_WAIT_S)
            except TimeoutError:
                pass
        return self._index

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._index is not None:
            await asyncio.to_thread(self._index.close)

    def status(self) -> dict[str, Any]:
        """The analyzer's word; {} when it is silent."""
        found = read_status(status_file(self.config.spool.dir))
        return found if found is not None and is_fresh(found) else {}

    def render(self, template: str, values: Mapping[str, Any]) -> str:
        return self.templates.get_template(template).render(values)

    async def _follow(self) -> None:
        while True:
            if not self.watching and time.monotonic() - self._touched > AWAKE_S:
                self._wake.clear()
                await self._wake.wait()
            try:
                taken, self.error = await asyncio.to_thread(self.index.follow), ""
            except (OSError, ValueError, sqlite3.Error) as error:
                taken, self.error = 0, str(error)
            self.behind = taken > 0
            async with self.changed:
                self.changed.notify_all()
            if not taken:
                self._wake.clear()
                try:
                    await asyncio.wait_for(self._wake.wait(), POLL_S)
                except TimeoutError:
                    pass
