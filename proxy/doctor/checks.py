"""Each check looks at one thing and answers ok, note (works, with a limit) or bad, in one sentence.

In: a configuration. Out: ``Check`` values. Nothing is changed but a probe file in the state folder, removed again.
"""

from __future__ import annotations

import os
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from audit.sinks import Sink, read_options
from classifiers.discover import discover
from policies.objectives import load as load_objectives
from policies.trust import load as load_policies
from proxy.config import built_in_routes
from proxy.control.counters import running
from proxy.doctor.authority import authority
from proxy.doctor.check import Check
from proxy.folders import private_folder
from proxy.settings import Config, host_port
from proxy.status import alive, read_pids
from proxy.trust import trust_of

REACH_S = 3.0
LONG_AGO = datetime(2025, 1, 1, tzinfo=UTC).timestamp()  # a clock before this code was written is wrong
NEEDED_SHM_BYTES = 64 << 20


def run_checks(config: Config, *, offline: bool = False) -> list[Check]:
    steps: list[Callable[[Config], Iterator[Check]]] = [
        _state,
        _spool,
        _ports,
        _clock,
        _policies,
        _objectives,
        _sinks,
        authority,
    ]
    found = [check for step in steps for check in step(config)]
    return found if offline else [*found, *_upstreams(config)]


def _state(config: Config) -> Iterator[Check]:
    path = Path(config.state)
    try:
        private_folder(path)
        probe = path / ".doctor"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        yield Check("state", "bad", f"{path}: {error.strerror}")
        return
    mode = path.stat().st_mode & 0o777
    if mode & 0o077:
        yield Check("state", "bad", f"{path} is open to others (mode {mode:o}); chmod 700 it")
    else:
        yield Check("state", "ok", str(path))


def _spool(config: Config) -> Iterator[Check]:
    parent = Path(config.spool.dir).parent.parent
    if not config.spool.dir.startswith("/dev/shm/"):  # noqa: S108 - the memory-backed folder itself
        yield Check("spool", "note", f"{config.spool.dir} is not memory-backed: a slow disk can hold the relay's tick")
        return
    free = os.statvfs(parent)
    free_bytes = free.f_bavail * free.f_frsize
    if free_bytes < min(NEEDED_SHM_BYTES, config.spool.cap_bytes):
        yield Check("spool", "bad", f"{parent} has {free_bytes >> 20} MiB free: captures would become gaps")
    else:
        yield Check(
            "spool", "ok", f"{config.spool.dir}, {free_bytes >> 20} MiB free, cap {config.spool.cap_bytes >> 20} MiB"
        )


def _ports(config: Config) -> Iterator[Check]:
    here = running(Path(config.state)) if alive(read_pids(config.pids_file).get("supervisor")) else {}
    ours = {*(here.get("listen") or []), here.get("control"), *(here.get("forward") or [])}
    wanted = {"listen": config.listen, "control": config.control, "forward": config.forward.listen}
    for name, address in wanted.items():
        if address is None:
            continue
        if address in ours:
            yield Check(name, "ok", f"{address} is ours, running")
            continue
        try:
            with socket.create_server(host_port(address)):
                yield Check(name, "ok", f"{address} is free")
        except OSError as error:
            yield Check(name, "bad", f"{address}: {error.strerror}; choose another with --{name}")


def _clock(_config: Config) -> Iterator[Check]:
    now = time.time()
    said = datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds")
    yield Check("clock", "ok" if now > LONG_AGO else "bad", said)


def _policies(config: Config) -> Iterator[Check]:
    trust, wrong = trust_of(config)
    yield from (Check("policy", "bad", said) for said in wrong)
    for policy in load_policies(config.policies, datetime.now(UTC), trust).policies:
        if policy.compiled is None:
            yield Check("policy", "bad", str(policy.error))
        else:
            bundle = policy.bundle
            signed = f", {bundle.id} revision {bundle.revision} signed by {bundle.signed_by}" if bundle else ""
            yield Check("policy", "ok", f"{policy.id}: {len(policy.compiled.rules)} rules{signed}")


def _objectives(config: Config) -> Iterator[Check]:
    found = load_objectives(config.objectives)
    yield from (Check("objective", "ok", f"{o.id}: {o.name}") for o in found.by_id.values())
    yield from (Check("objective", "bad", error) for error in found.broken.values())


def _sinks(config: Config) -> Iterator[Check]:
    """Names and options only: opening one would write to it."""
    known: dict[str, Sink] = {s.name: s for s in discover("audit.sinks", "SINK")} if config.sinks else {}
    for entry in config.sinks:
        ((name, options),) = entry.items()
        try:
            if name not in known:
                raise ValueError(f"unknown sink {name!r}; expected {', '.join(sorted(known))}")  # noqa: TRY301 - said once
            read_options(name, known[name].options, options or {})
        except ValueError as error:
            yield Check("sink", "bad", str(error))
        else:
            yield Check("sink", "ok", f"{name}: its options are known")


def _upstreams(config: Config) -> Iterator[Check]:
    """Routes of the user's own; the built-in ones are only reached when somebody uses them."""
    for name, spec in config.routes.items():
        if built_in_routes().get(name) != spec:
            yield _reach(name, str(spec["url"]), config.upstream_ca)


def _reach(name: str, url: str, ca: str | None) -> Check:
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        with socket.create_connection((parts.hostname or "", port), REACH_S) as plain:
            if parts.scheme == "https":
                with ssl.create_default_context(cafile=ca).wrap_socket(plain, server_hostname=parts.hostname):
                    pass
    except ssl.SSLError as error:
        return Check(f"route {name}", "bad", f"{url}: certificate: {error.reason or error}")
    except OSError as error:
        return Check(f"route {name}", "bad", f"{url}: {error.strerror or error}")
    return Check(f"route {name}", "ok", f"{url} answers")
