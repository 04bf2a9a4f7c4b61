"""The one frozen configuration every process gets, and its JSON form. Standard library only: the relay imports this.

In: nothing. Out: ``Config``, made by ``proxy/config.py`` from onlooker.yaml and flags, handed to children as JSON
(``Config.to_json`` / ``Config.from_json``). Every path is absolute, every size in bytes, every time in seconds.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class SpoolSettings:
    """``dir`` is this instance's own directory: one folder per writer below it."""

    dir: str
    cap_bytes: int = 256 << 20
    overflow: bool = False


@dataclass(frozen=True, slots=True)
class Privacy:
    """``rules``: first match wins; ``identities``: pseudonym | clear."""

    identities: str = "pseudonym"
    rules: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Retention:
    max_age_s: float = 180 * 86400.0
    max_bytes: int = 10 << 30


@dataclass(frozen=True, slots=True)
class Launch:
    """What ``onlooker run`` knows about the command it started (or None outside ``run``).

    ``nonces``: URL nonce -> objective id; a segment ``/o/<id>.<nonce>/`` with any other nonce binds nothing.
    """

    cwd: str
    session: str
    agent: str | None = None
    nonces: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Forward:
    """The forward proxy: where it listens (None: nowhere), and which hosts it may look into."""

    listen: str | None = None
    intercept: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Transparent:
    """Redirected connections: where they arrive (None: nowhere), and whether by TPROXY instead of REDIRECT."""

    listen: str | None = None
    tproxy: bool = False


@dataclass(frozen=True, slots=True)
class Config:
    """``routes``: name -> {url, agui?, ca?}; the name ``/`` is the root route (no prefix)."""

    state: str
    spool: SpoolSettings
    listen: str = "127.0.0.1:8790"
    control: str = "127.0.0.1:8791"
    workers: int = 1
    routes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    policies: tuple[str, ...] = ()
    trust: str = "optional"  # required: policies only from signed bundles (and those that come with onlooker)
    trust_keys: tuple[str, ...] = ()  # files with Ed25519 public keys, PEM
    objectives: tuple[str, ...] = ()
    tools: Mapping[str, Any] = field(default_factory=dict)
    privacy: Privacy = field(default_factory=Privacy)
    session_idle_s: float = 1800.0
    retention: Retention = field(default_factory=Retention)
    agents: Mapping[str, Any] = field(default_factory=dict)
    forward: Forward = field(default_factory=Forward)
    transparent: Transparent = field(default_factory=Transparent)
    sinks: tuple[Mapping[str, Any], ...] = ()
    upstream_ca: str | None = None  # extra CA bundle for verifying https upstreams; verification is always on
    upstream_proxy: str | None = None  # a parent proxy, or "direct"; None: what our own HTTPS_PROXY says
    no_proxy: tuple[str, ...] = ()  # reached without the parent, beside those of NO_PROXY
    allow_remote: bool = False  # a bind that is not loopback was asked for by flag
    mcp_server: bool = False  # agents may ask and declare through `onlooker mcp-server`
    strip_own_headers: bool = False  # X-Onlooker-* are forwarded unchanged unless this is set
    listen_unix: tuple[str, ...] = ()  # unix sockets the data port listens on as well, 0600
    control_hosts: tuple[str, ...] = ()  # names, beside localhost and addresses, the control plane answers to
    launch: Launch | None = None
    file: str | None = None  # the onlooker.yaml this came from

    def to_json(self) -> str:
        return json.dumps(asdict(self), default=dict)

    @classmethod
    def from_json(cls, text: str) -> Config:
        raw = json.loads(text)
        raw["spool"] = SpoolSettings(**raw["spool"])
        raw["privacy"] = Privacy(raw["privacy"]["identities"], tuple(raw["privacy"]["rules"]))
        raw["retention"] = Retention(**raw["retention"])
        raw["forward"] = Forward(raw["forward"]["listen"], tuple(raw["forward"]["intercept"]))
        raw["transparent"] = Transparent(**raw["transparent"])
        raw["launch"] = None if raw["launch"] is None else Launch(**raw["launch"])
        for name in ("policies", "trust_keys", "objectives", "sinks", "listen_unix", "control_hosts", "no_proxy"):
            raw[name] = tuple(raw[name])
        return cls(**raw)

    @classmethod
    def from_argument(cls, argument: str) -> Config:
        """A child's one argument: the JSON itself, ``@file``, or ``-`` for standard input."""
        if argument == "-":
            return cls.from_json(sys.stdin.read())
        if argument.startswith("@"):
            return cls.from_json(Path(argument[1:]).read_text(encoding="utf-8"))
        return cls.from_json(argument)

    @property
    def audit_dir(self) -> Path:
        return Path(self.state) / "audit"

    @property
    def keys_dir(self) -> Path:
        return Path(self.state) / "keys"

    @property
    def ca_dir(self) -> Path:
        return Path(self.state) / "ca"

    @property
    def pids_file(self) -> Path:
        return Path(self.state) / "pids.json"

    @property
    def token_file(self) -> Path:
        return Path(self.state) / "control.token"


def spool_dir_for(state: str, parent: str = "/dev/shm") -> tuple[str, bool]:  # noqa: S108 - the point: memory-backed
    """(directory, memory-backed?) of the spool of the instance whose state is ``state``.

    ``/dev/shm/onlooker-<uid>/<16 hex of the state path>``; where the parent is no writable directory the spool is
    ``<state>/spool`` and a disk may hold the tick (``doctor`` says so).
    """
    if os.path.isdir(parent) and os.access(parent, os.W_OK):  # noqa: PTH112 - plain os keeps the relay's imports few
        name = sha256(os.path.abspath(state).encode()).hexdigest()[:16]  # noqa: PTH100 - as above
        return f"{parent}/onlooker-{os.getuid()}/{name}", parent == "/dev/shm"  # noqa: S108 - as above
    return f"{state}/spool", False


def host_port(address: str) -> tuple[str, int]:
    """``host:port`` or ``[v6]:port`` as a pair. ValueError says what was expected."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise ValueError(f"{address!r} is not host:port")
    return host.strip("[]") or "127.0.0.1", int(port)
