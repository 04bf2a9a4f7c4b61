"""onlooker.yaml and command-line flags into one frozen ``Config``.

In: the file's path (or none) and the flags given. Out: ``Config`` with absolute paths, or ``StrictYamlError`` naming
every mistake of the file (``proxy/config_file.py``). Flags override the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from classifiers.strict_yaml import load
from proxy.config_file import read_file
from proxy.config_values import intercepted, route_spec
from proxy.settings import Config, Forward, Launch, Privacy, Retention, SpoolSettings, Transparent, spool_dir_for

ROUTES_FILE = Path(__file__).with_name("routes.yaml")
STARTER = ("onlooker:starter",)  # in force when neither file nor flag names a policy
DEFAULT_STATE = "~/.local/state/onlooker"


def build(file: Path | None = None, flags: Mapping[str, Any] | None = None, launch: Launch | None = None) -> Config:
    """The configuration. ``flags`` use the file's keys (``routes`` are added to the file's); None means not given."""
    raw = {} if file is None else read_file(file)
    base = Path.cwd() if file is None else file.resolve().parent
    given = {k: v for k, v in (flags or {}).items() if v not in (None, (), {})}
    state = str(
        _path(given.get("state") or raw.get("state") or DEFAULT_STATE, Path.cwd() if "state" in given else base)
    )
    spool = raw.get("spool", {})
    parent = spool.get("dir", "/dev/shm")  # noqa: S108 - memory-backed, a folder of our own below it
    routes = {**built_in_routes(), **raw.get("routes", {}), **given.get("routes", {})}
    forward = {**raw.get("forward", {}), **given.get("forward", {})}
    retention = {f"{k}_s" if k == "max_age" else k: v for k, v in raw.get("retention", {}).items()}
    return Config(
        state=state,
        spool=SpoolSettings(
            dir=spool_dir_for(state, str(_path(parent, base)))[0],
            cap_bytes=spool.get("cap", 256 << 20),
            overflow=spool.get("overflow", False),
        ),
        routes=routes,
        forward=Forward(
            forward.get("listen"), forward["intercept"] if "intercept" in forward else _https_hosts(routes)
        ),
        transparent=Transparent(**{**raw.get("transparent", {}), **given.get("transparent", {})}),
        policies=_files(given, raw, "policies", base) if {"policies"} & (given.keys() | raw.keys()) else STARTER,
        trust_keys=_files(given, raw, "trust_keys", base),
        objectives=_files(given, raw, "objectives", base),
        privacy=Privacy(**(given.get("privacy") or raw.get("privacy", {}))),
        session_idle_s=raw.get("session", {}).get("idle", 1800.0),
        retention=Retention(**retention),
        launch=launch,
        file=None if file is None else str(file.resolve()),
        listen_unix=_files(given, raw, "listen_unix", base),
        upstream_ca=_optional_path(given, raw, "upstream_ca", base),
        **{k: given.get(k, raw.get(k, default)) for k, default in _PLAIN.items()},
    )


# Settings that are taken as they stand, with their defaults.
_PLAIN: Mapping[str, Any] = {
    "listen": "127.0.0.1:8790",
    "control": "127.0.0.1:8791",
    "workers": 1,
    "trust": "optional",
    "tools": {},
    "agents": {},
    "sinks": (),
    "upstream_proxy": None,
    "no_proxy": (),
    "allow_remote": False,
    "mcp_server": False,
    "strip_own_headers": False,
    "control_hosts": (),
}


@cache
def built_in_routes() -> dict[str, dict[str, Any]]:
    table = load(ROUTES_FILE.read_text(encoding="utf-8"), ROUTES_FILE.name).value["routes"]
    return {name: route_spec(name, url) for name, url in table.items()}


def _https_hosts(routes: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """What is intercepted when nobody says otherwise: the hosts that routes go to over TLS."""
    urls = [urlsplit(spec["url"]) for spec in routes.values()]
    return intercepted(sorted({u.hostname for u in urls if u.scheme == "https" and u.hostname}))


def _path(text: str, base: Path) -> Path:
    path = Path(text).expanduser()
    return Path(base / path).resolve() if not path.is_absolute() else path


def _files(given: Mapping[str, Any], raw: Mapping[str, Any], key: str, base: Path) -> tuple[str, ...]:
    names, start = (given[key], Path.cwd()) if key in given else (raw.get(key, ()), base)
    return tuple(n if n.startswith("onlooker:") else str(_path(n, start)) for n in names)


def _optional_path(given: Mapping[str, Any], raw: Mapping[str, Any], key: str, base: Path) -> str | None:
    if key in given:
        return str(_path(given[key], Path.cwd()))
    return str(_path(raw[key], base)) if key in raw else None
