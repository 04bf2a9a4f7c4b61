"""Take a URL apart the way targets need it: scheme, host with port, path.

In: text that is or holds a URL. Out: an Address, or None when there is no host in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from urllib.parse import SplitResult, unquote, urlsplit

_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://")
_HOST_LIKE = re.compile(r"^(localhost|[\w-]+(\.[\w-]+)+|\[[0-9a-fA-F:]+\])(:\d+)?(/|$|\?)")
_DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}
_UNRESOLVED = re.compile(r"\$|\{|<|%[A-Za-z_]\w*%")


@dataclass(frozen=True, slots=True)
class Address:
    scheme: str
    host: str  # lower case, with a port only when it is not the scheme's own
    path: str  # decoded, starts with /
    query: str = ""
    user: str = ""
    segments: str = ""  # the path decoded except for ``%2F``: a slash inside one segment

    @property
    def name(self) -> str:
        """The host without its port."""
        return self.host if self.host.endswith("]") else self.host.rpartition(":")[0] or self.host


def address(text: str) -> Address | None:
    """Read ``text`` as a URL; a bare ``host/path`` counts. None when the host cannot be known."""
    text = text.strip()
    if not _SCHEME.match(text):
        if not _HOST_LIKE.match(text):
            return None
        text = "//" + text
    try:
        parts = urlsplit(text[:4096])
        port = parts.port
    except ValueError:
        return None
    return _from_parts(parts, port)


def _from_parts(parts: SplitResult, port: int | None) -> Address | None:
    name = (parts.hostname or "").lower().rstrip(".")
    if not name or _UNRESOLVED.search(name):
        return None
    name = _six(name) if ":" in name else dotted(name)
    if port is not None and port != _DEFAULT_PORTS.get(parts.scheme):
        name = f"{name}:{port}"
    segments = unquote(re.sub("%2[fF]", "%252F", parts.path)) or "/"
    return Address(
        parts.scheme or "http", name, unquote(parts.path) or "/", parts.query, parts.username or "", segments
    )


def host_of(text: str) -> str | None:
    """``host[:port]`` of a URL or of a plain host name; None when unknown."""
    found = address(text)
    if found is not None:
        return found.host
    bare = text.strip().lower()
    return bare if re.fullmatch(r"[a-z0-9][a-z0-9.-]*(:\d{1,5})?", bare) else None


def dotted(name: str) -> str:
    """IPv4 written as one number, or in octal or hex parts, as dotted decimal (inet_aton(3) accepts all of them)."""
    parts = name.split(".")
    if not all(re.fullmatch(r"0x[0-9a-f]+|\d+", p) for p in parts) or len(parts) > 4:
        return name
    numbers = [_number(p) for p in parts]
    tail_limit = 256 ** (5 - len(parts))
    if any(n is None for n in numbers) or any((n or 0) > 255 for n in numbers[:-1]) or (numbers[-1] or 0) >= tail_limit:
        return name
    value = sum((n or 0) << (8 * (3 - i)) for i, n in enumerate(numbers[:-1])) + (numbers[-1] or 0)
    return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))


def _six(name: str) -> str:
    """An IPv6 address in brackets; one that only carries an IPv4 address (``::ffff:a.b.c.d``) is that address."""
    try:
        mapped = ip_address(name.partition("%")[0])
    except ValueError:
        return f"[{name}]"
    inner = mapped.ipv4_mapped if isinstance(mapped, IPv6Address) else None
    return str(inner) if inner is not None else f"[{mapped.compressed}]"


def _number(text: str) -> int | None:
    try:
        return int(text, 16) if text.startswith("0x") else int(text, 8 if text[0] == "0" and len(text) > 1 else 10)
    except ValueError:
        return None
