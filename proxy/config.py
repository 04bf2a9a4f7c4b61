"""onlooker.yaml and command-line flags into one frozen ``Config``.

In: the file's path (or none) and the flags given. Out: ``Config`` with absolute paths, or ``StrictYamlError`` naming
every mistake of the file as ``file:line:col: what; what was expected``. Flags override the file.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from classifiers.strict_yaml import Mapped, Problem, StrictYamlError, load
from proxy.ca.hosts import listed_name
from proxy.relay.chain import DIRECT, chain_of
from proxy.settings import (
    Config,
    Forward,
    Launch,
    Privacy,
    Retention,
    SpoolSettings,
    Transparent,
    host_port,
    spool_dir_for,
)

ROUTES_FILE = Path(__file__).with_name("routes.yaml")
STARTER = ("onlooker:starter",)  # in force when neither file nor flag names a policy
DEFAULT_STATE = "~/.local/state/onlooker"
SOCKET_PATH_BYTES = 100
RESERVED = {"o", "_onlooker"}  # path segments of the data port that are never a route

_SIZES = {"B": 1, "KB": 1000, "MB": 10**6, "GB": 10**9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_TIMES = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_ROUTE_NAME = re.compile(r"/|[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class WrongValueError(Exception):
    """One value is not what it should be; becomes a Problem at its place."""


def size_bytes(value: Any) -> int:
    """``256MiB``, ``10GB`` or a number of bytes."""
    found = re.fullmatch(r"(\d+)\s*([A-Za-z]+)", str(value))
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if not found or found[2] not in _SIZES:
        raise WrongValueError(f"{value!r} is not a size; expected bytes or a number with {', '.join(_SIZES)}")
    return int(found[1]) * _SIZES[found[2]]


def duration_s(value: Any) -> float:
    """``30s``, ``30m``, ``6h``, ``180d``."""
    found = re.fullmatch(r"(\d+)\s*([smhd])", str(value))
    if not found:
        raise WrongValueError(f"{value!r} is not a duration; expected a number with s, m, h or d")
    return int(found[1]) * _TIMES[found[2]]


def _version(value: Any) -> int:
    if value != 1:
        raise WrongValueError(f"{value!r} is a version this onlooker does not read; expected 1")
    return 1


def address(value: Any) -> str:
    """``host:port``."""
    try:
        host_port(str(value))
    except ValueError as error:
        raise WrongValueError(f"{error}, such as 127.0.0.1:8790") from None
    return str(value)


def route_url(value: Any) -> str:
    """An upstream base URL without credentials, query or fragment; a trailing slash is dropped."""
    try:
        url = urlsplit(str(value))
        port_fits = url.port is None or url.port > 0
    except ValueError:
        raise WrongValueError(f"{value!r} is not a URL") from None
    if url.scheme not in {"http", "https"} or not url.hostname or url.query or url.fragment or url.username:
        raise WrongValueError(f"{value!r} is not an upstream; expected http(s)://host[:port][/base]")
    assert port_fits
    return str(value).rstrip("/")


def _routes(value: Any) -> dict[str, dict[str, Any]]:
    out: dict[str, dict[str, Any]] = {}
    wrong: list[str] = []
    for name, spec in _mapping(value).items():
        try:
            out[name] = route_spec(name, spec)
        except WrongValueError as error:
            wrong.append(str(error) if str(error).startswith("route ") else f"route {name!r}: {error}")
    if wrong:
        raise WrongValueError("; ".join(wrong))
    return out


def route_spec(name: str, value: Any) -> dict[str, Any]:
    """A route as ``{url, agui, ca?}``; the root route fronts an application, where other origins are normal."""
    if not _ROUTE_NAME.fullmatch(name) or name in RESERVED:
        expected = f"letters, digits, '.', '_' or '-', not {' or '.join(sorted(RESERVED))}"
        raise WrongValueError(f"route name {name!r}; expected {expected}")
    spec = {"url": value} if isinstance(value, str) else _mapping(value)
    strange = next((k for k in spec if k not in _ROUTE_KEYS), None)
    if strange is not None or "url" not in spec:
        raise WrongValueError(f"route {name!r}; expected a URL, or {{url, agui, ca, cert, key}}")
    out = {"url": route_url(spec["url"]), "agui": _boolean(spec.get("agui", name == "/"))}
    if "key" in spec and "cert" not in spec:
        raise WrongValueError(f"route {name!r}: a key without its cert")
    return out | {k: _text(spec[k]) for k in ("ca", "cert", "key") if k in spec}


_ROUTE_KEYS = {"url", "agui", "ca", "cert", "key"}


def parent_proxy(value: Any) -> str:
    """``http://host:port`` or ``direct``. Credentials stay out of files and arguments: HTTPS_PROXY may have them."""
    text = _text(value)
    if text == DIRECT:
        return text
    try:
        found = chain_of(text)
    except ValueError as error:
        raise WrongValueError(str(error)) from None
    if found.authorization:
        raise WrongValueError("credentials of a parent proxy belong in the environment's HTTPS_PROXY")
    return text


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise WrongValueError("expected a mapping")
    return value


def _agents(value: Any) -> dict[str, Any]:
    """Known agents by name or glob; a text profile must be one there is, shaping tools a list of names."""
    from proxy.assembly.text_actions import profiles  # noqa: PLC0415 - most configurations name no agents

    for name, entry in _mapping(value).items():
        profile = entry.get("text_actions") if isinstance(entry, dict) else None
        if profile is not None and profile not in profiles():
            raise WrongValueError(f"{name}: text_actions {profile!r}; expected {' or '.join(profiles())}")
        shaping = entry.get("structured_output", []) if isinstance(entry, dict) else []
        if not (isinstance(shaping, list) and all(isinstance(tool, str) for tool in shaping)):
            raise WrongValueError(f"{name}: structured_output {shaping!r}; expected a list of tool names")
    return _mapping(value)


def _names(value: Any) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    if not all(isinstance(i, str) for i in items):
        raise WrongValueError("expected a list of file or folder names")
    return tuple(items)


def intercepted(value: Any) -> tuple[str, ...]:
    """Hosts of the allow-list, in one spelling."""
    try:
        return tuple(listed_name(name) for name in _names(value))
    except ValueError as error:
        raise WrongValueError(str(error)) from None


def _socket_paths(value: Any) -> tuple[str, ...]:
    """Paths of unix sockets; the kernel takes no longer ones (unix(7): 108 bytes with the final NUL)."""
    found = _names(value)
    for path in found:
        if len(path.encode()) > SOCKET_PATH_BYTES:
            raise WrongValueError(f"{path!r} is too long for a socket; expected at most {SOCKET_PATH_BYTES} bytes")
    return found


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 256:
        raise WrongValueError(f"{value!r} is not a number from 1 to 256")
    return value


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise WrongValueError(f"{value!r} is not true or false")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise WrongValueError("expected a text")
    return value


def _choice(*values: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if value not in values:
            raise WrongValueError(f"{value!r}; expected {' or '.join(values)}")
        return str(value)

    return check


def _sinks(value: Any) -> tuple[dict[str, Any], ...]:
    if not isinstance(value, list) or not all(isinstance(s, dict) and len(s) == 1 for s in value):
        raise WrongValueError("expected a list of single-key mappings, such as [{stdout: {}}]")
    return tuple(value)


def _rules(value: Any) -> tuple[dict[str, Any], ...]:
    if not isinstance(value, list) or not all(isinstance(r, dict) for r in value):
        raise WrongValueError("expected a list of rules")
    from audit.privacy import parse_rules  # noqa: PLC0415 - its keys and patterns cost 100 ms that most commands save

    try:
        parse_rules(value, "rules")
    except ValueError as error:
        raise WrongValueError(str(error)) from None
    return tuple(value)


# Every key of the file, how its value is read, and (two levels deep) what a section may hold.
_KEYS: Mapping[str, Any] = {
    "onlooker": _version,
    "listen": address,
    "control": address,
    "state": _text,
    "workers": _count,
    "routes": _routes,
    "policies": _names,
    "trust": _choice("required", "optional"),
    "trust_keys": _names,
    "objectives": _names,
    "tools": _mapping,
    "privacy": {"identities": _choice("pseudonym", "clear"), "rules": _rules},
    "spool": {"dir": _text, "cap": size_bytes, "overflow": _boolean},
    "session": {"idle": duration_s},
    "retention": {"max_age": duration_s, "max_bytes": size_bytes},
    "agents": _agents,
    "forward": {"listen": address, "intercept": intercepted},
    "transparent": {"listen": address, "tproxy": _boolean},
    "sinks": _sinks,
    "upstream_ca": _text,
    "upstream_proxy": parent_proxy,
    "no_proxy": _names,
    "allow_remote": _boolean,
    "mcp_server": _boolean,
    "strip_own_headers": _boolean,
    "listen_unix": _socket_paths,
    "control_hosts": _names,
}


@dataclass(slots=True)
class _Reader:
    doc: Mapped
    problems: list[Problem] = field(default_factory=list)

    def section(self, value: Any, keys: Mapping[str, Any], *path: str) -> dict[str, Any]:
        """The known keys of a mapping, read; every mistake is collected."""
        if not isinstance(value, dict):
            self.problems.append(self.doc.problem("expected a mapping", *path))
            return {}
        out: dict[str, Any] = {}
        for key, item in value.items():
            here = (*path, key)
            if key not in keys:
                self.problems.append(self.doc.problem(unknown_key(key, keys), *here, key=True))
            elif isinstance(keys[key], Mapping):
                out[key] = self.section(item, keys[key], *here)
            else:
                self._value(out, key, item, keys[key], here)
        return out

    def _value(
        self, out: dict[str, Any], key: str, item: Any, read: Callable[[Any], Any], here: tuple[str, ...]
    ) -> None:
        try:
            out[key] = read(item)
        except WrongValueError as error:
            self.problems.append(self.doc.problem(f"{key}: {error}", *here))


def unknown_key(key: str, known: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(key, known, 1)
    return f"unknown key {key!r}" + (f"; did you mean {near[0]!r}?" if near else f"; expected {', '.join(known)}")


def _content(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise StrictYamlError(
            [Problem(str(path), 1, 1, f"not UTF-8 at byte {error.start}; expected UTF-8 text")]
        ) from None


def read_file(path: Path) -> dict[str, Any]:
    """The file's settings, checked. Raises StrictYamlError with every mistake, OSError when it cannot be read."""
    doc = load(_content(path), str(path))
    reader = _Reader(doc)
    raw = reader.section({} if doc.value is None else doc.value, _KEYS)
    if "onlooker" not in raw and not reader.problems:
        reader.problems.append(doc.problem("the first key says the version: 'onlooker: 1'"))
    if reader.problems:
        raise StrictYamlError(reader.problems)
    return raw


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
