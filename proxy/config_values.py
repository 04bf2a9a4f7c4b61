"""How each value of onlooker.yaml and of a flag is read.

In: a value as YAML or the command line gives it. Out: the setting in its unit, or ``WrongValueError`` saying what was
expected; who reads the file adds the place.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from proxy.ca.hosts import listed_name
from proxy.relay.chain import DIRECT, chain_of
from proxy.settings import host_port

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


def version(value: Any) -> int:
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


def routes(value: Any) -> dict[str, dict[str, Any]]:
    out: dict[str, dict[str, Any]] = {}
    wrong: list[str] = []
    for name, spec in mapping(value).items():
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
    spec = {"url": value} if isinstance(value, str) else mapping(value)
    strange = next((k for k in spec if k not in _ROUTE_KEYS), None)
    if strange is not None or "url" not in spec:
        raise WrongValueError(f"route {name!r}; expected a URL, or {{url, agui, ca, cert, key}}")
    out = {"url": route_url(spec["url"]), "agui": boolean(spec.get("agui", name == "/"))}
    if "key" in spec and "cert" not in spec:
        raise WrongValueError(f"route {name!r}: a key without its cert")
    return out | {k: text(spec[k]) for k in ("ca", "cert", "key") if k in spec}


_ROUTE_KEYS = {"url", "agui", "ca", "cert", "key"}


def parent_proxy(value: Any) -> str:
    """``http://host:port`` or ``direct``. Credentials stay out of files and arguments: HTTPS_PROXY may have them."""
    said = text(value)
    if said == DIRECT:
        return said
    try:
        found = chain_of(said)
    except ValueError as error:
        raise WrongValueError(str(error)) from None
    if found.authorization:
        raise WrongValueError("credentials of a parent proxy belong in the environment's HTTPS_PROXY")
    return said


def mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise WrongValueError("expected a mapping")
    return value


def agents(value: Any) -> dict[str, Any]:
    """Known agents by name or glob; a text profile must be one there is, shaping tools a list of names."""
    from proxy.assembly.text_actions import profiles  # noqa: PLC0415 - most configurations name no agents

    for name, entry in mapping(value).items():
        profile = entry.get("text_actions") if isinstance(entry, dict) else None
        if profile is not None and profile not in profiles():
            raise WrongValueError(f"{name}: text_actions {profile!r}; expected {' or '.join(profiles())}")
        shaping = entry.get("structured_output", []) if isinstance(entry, dict) else []
        if not (isinstance(shaping, list) and all(isinstance(tool, str) for tool in shaping)):
            raise WrongValueError(f"{name}: structured_output {shaping!r}; expected a list of tool names")
    return mapping(value)


def names(value: Any) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    if not all(isinstance(i, str) for i in items):
        raise WrongValueError("expected a list of file or folder names")
    return tuple(items)


def intercepted(value: Any) -> tuple[str, ...]:
    """Hosts of the allow-list, in one spelling."""
    try:
        return tuple(listed_name(name) for name in names(value))
    except ValueError as error:
        raise WrongValueError(str(error)) from None


def socket_paths(value: Any) -> tuple[str, ...]:
    """Paths of unix sockets; the kernel takes no longer ones (unix(7): 108 bytes with the final NUL)."""
    found = names(value)
    for path in found:
        if len(path.encode()) > SOCKET_PATH_BYTES:
            raise WrongValueError(f"{path!r} is too long for a socket; expected at most {SOCKET_PATH_BYTES} bytes")
    return found


def count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 256:
        raise WrongValueError(f"{value!r} is not a number from 1 to 256")
    return value


def boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise WrongValueError(f"{value!r} is not true or false")
    return value


def text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise WrongValueError("expected a text")
    return value


def choice(*values: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if value not in values:
            raise WrongValueError(f"{value!r}; expected {' or '.join(values)}")
        return str(value)

    return check


def sinks(value: Any) -> tuple[dict[str, Any], ...]:
    if not isinstance(value, list) or not all(isinstance(s, dict) and len(s) == 1 for s in value):
        raise WrongValueError("expected a list of single-key mappings, such as [{stdout: {}}]")
    return tuple(value)


def rules(value: Any) -> tuple[dict[str, Any], ...]:
    if not isinstance(value, list) or not all(isinstance(r, dict) for r in value):
        raise WrongValueError("expected a list of rules")
    from audit.privacy import parse_rules  # noqa: PLC0415 - its keys and patterns cost 100 ms that most commands save

    try:
        parse_rules(value, "rules")
    except ValueError as error:
        raise WrongValueError(str(error)) from None
    return tuple(value)
