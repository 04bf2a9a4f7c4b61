"""Fill target templates: ``k8s:*:{namespace}:pod/{}`` and the values of a command in, targets out.

``{}`` is the operand or option value at hand; ``{name}`` an option's or operand's value; ``{sub}``, ``{sub1}`` … the
subcommand words; ``{name:-text}`` a default; ``{name!filter}`` a part of it, ``{name!one!two}`` a part of the part;
``{a,b-*}`` the first of several (globs over option names). A missing part reads ``*`` beside other text, and gives no
target when it stands alone.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from urllib.parse import urlsplit

from classifiers.knowledge.words import is_known

Values = Mapping[str, list[str]]
_PART = re.compile(r"\{([^{}]*)\}")
_NETWORK = re.compile(r"\d+(?:\.\d+){3}/\d{1,2}")
MAX_TARGETS = 64


def fill(template: str, current: str | None, values: Values) -> list[str | None]:
    """Targets for one template: one for each value of its first part that has several. None: no value at all."""
    pieces = _pieces(template)
    if len(pieces) == 1 and isinstance(pieces[0], str):
        return [pieces[0]]
    alone = len(pieces) == 1
    columns = [[p] if isinstance(p, str) else p.values(current, values) for p in pieces]
    if alone:
        return list(columns[0][:MAX_TARGETS]) or [None]
    many = next((i for i, c in enumerate(columns) if len(c) > 1), 0)
    return [
        "".join(value if i == many else (c[0] if c else "*") for i, c in enumerate(columns))
        for value in columns[many][:MAX_TARGETS] or ["*"]
    ]


class _Part:
    __slots__ = ("default", "filters", "names")

    def __init__(self, body: str) -> None:
        body, _, default = body.partition(":-")
        names, *filters = body.split("!")
        self.names = [n.strip() for n in names.split(",")] if names else [""]
        self.default = default
        self.filters = [FILTERS[name] for name in filters]

    def values(self, current: str | None, values: Values) -> list[str]:
        for name in self.names:
            found = [current] if name == "" and current is not None else _named(name, values)
            if found:
                for filtered in self.filters:
                    found = [out for v in found for out in _filtered(filtered, v)]
                return found
        return [self.default] if self.default else []


def _filtered(part: Callable[[str], str], text: str) -> list[str]:
    known = is_known(text)
    if part is _each:
        return [p for p in text.split(",") if p] if known else [text]
    return [part(text) if known or part in _SAFE else text]


def _each(text: str) -> str:
    """``a,b``: a target for each of the parts; ``_filtered`` takes them apart."""
    return text


def _named(name: str, values: Values) -> list[str]:
    if "*" not in name:
        return values.get(name, [])
    return next((v for k, v in values.items() if fnmatchcase(k, name) and v), [])


@lru_cache(maxsize=2048)
def _pieces(template: str) -> tuple[str | _Part, ...]:
    out: list[str | _Part] = []
    for i, text in enumerate(_PART.split(template)):
        if i % 2:
            out.append(_Part(text))
        elif text:
            out.append(text)
    return tuple(out) or ("",)


def host(text: str) -> str:
    """``user@host:path``, a URL or a bare host to ``host[:port]``; a network of addresses stays one."""
    if "://" in text:
        try:
            parts = urlsplit(text)
            port = f":{parts.port}" if parts.port else ""
        except ValueError:  # ``rsync://host:path``: no port
            return host(text.partition("://")[2])
        return (parts.hostname or "*") + port
    text = text.rpartition("@")[2]
    if text.startswith("["):
        return text[1:].partition("]")[0]
    if _NETWORK.fullmatch(text):
        return text
    text = text.partition("/")[0]
    left, colon, right = text.partition(":")
    return text if colon and right.isdigit() else left


def repo(text: str) -> str:
    """A git URL or scp-like address to ``host/path``; a path stays one."""
    out = text.removesuffix("/").removesuffix(".git")
    if "://" in out:
        name, path = _host_and_path(out)
        return name + path
    at, colon, path = out.partition(":")
    return f"{at.rpartition('@')[2]}/{path.lstrip('/')}" if colon and "/" not in at else out


def _host_and_path(url: str) -> tuple[str, str]:
    """Also of a URL the library refuses (``https://[x/y``): a filter has an answer for every text."""
    try:
        parts = urlsplit(url)
    except ValueError:
        name, slash, path = url.partition("://")[2].partition("/")
        return name.rpartition("@")[2], slash + path
    return parts.hostname or "", parts.path


def package(text: str) -> str:
    """``Django[argon2]>=5`` to ``django``; ``django==5.2`` keeps an exact version (PEP 503, PEP 508)."""
    name, exact, version = text.partition("==")
    bare = re.split(r"[\[<>=!~;@ ]", name, maxsplit=1)[0]
    return re.sub(r"[-_.]+", "-", bare).lower() + (
        f"=={version.partition(';')[0].strip()}" if exact and version else ""
    )


_RECIPE = re.compile(r"\t[-@+\s]*(.*)|[^\s=:#]+\s*:[^=;]*;[-@+\s]*(.*)")
_MAKE_NAME = re.compile(r"\$[({](\w+)[)}]")
_MAKE_SHELL = re.compile(r"\$\(shell\s+([^()]*)\)")


def recipes(text: str) -> str:
    """The shell lines of make's rules, and the commands of ``$(shell …)`` outside them (GNU make 5.1, 8.14)."""
    out: list[str] = []
    for line in text.split("\n"):
        recipe = _RECIPE.fullmatch(line)
        if recipe is None:
            out += _MAKE_SHELL.findall(line)
        else:
            out.append(
                _MAKE_NAME.sub(r"${\1}", _MAKE_SHELL.sub(r"$(\1)", recipe[1] or recipe[2] or "")).replace("$$", "$")
            )
    return "\n".join(out)


FILTERS: dict[str, Callable[[str], str]] = {
    "host": host,
    "repo": repo,
    "clone_dir": lambda t: posixpath.basename(repo(t).rstrip("/")) or "*",
    "pip": package,
    "base": posixpath.basename,
    "leaf": lambda t: posixpath.basename(_host_and_path(t)[1]) or "index.html",
    "dir": lambda t: posixpath.dirname(t) or ".",
    "stem": lambda t: posixpath.splitext(t)[0],
    "leaf_stem": lambda t: posixpath.splitext(posixpath.basename(t))[0],
    "before_eq": lambda t: t.partition("=")[0],
    "after_eq": lambda t: t.partition("=")[2],
    "after_space": lambda t: t.partition(" ")[2],
    "before_colon": lambda t: t.partition(":")[0],
    "after_colon": lambda t: t.partition(":")[2],
    "before_at": lambda t: t.rpartition("@")[0] or t,
    "before_percent": lambda t: t.partition("%")[0],
    "after_at": lambda t: t.partition("@")[2],
    "before_slash": lambda t: t.partition("/")[0],
    "after_slash": lambda t: t.partition("/")[2],
    "noslash": lambda t: t.lstrip("/"),
    "zip": lambda t: t if "." in posixpath.basename(t) or t == "-" else f"{t}.zip",
    "unlist": lambda t: t.replace(",", " "),
    "macro": lambda t: t.removeprefix("%{lua:").removeprefix("%(")[:-1],
    "recipes": recipes,
    "lower": str.lower,
    "upper": str.upper,
    "unscheme": lambda t: t.partition("://")[2] or t,
    "s3": lambda t: t.removeprefix("s3://"),
    "arn": lambda t: t.rpartition(":")[2],
    "noplus": lambda t: t.lstrip("+"),
    "path": lambda t: t.removeprefix("file://"),
    "unbang": lambda t: t.lstrip("+:!|").removeprefix("platform ").removeprefix("shell ").strip(),
    "after_transport": lambda t: t.partition("::")[2],
    "dspath": lambda t: re.sub(r"^/(User|Group)s/", lambda m: m[1].lower() + ":", t),
    "share_host": lambda t: re.split(r"[/\\]", t.lstrip("/\\"), maxsplit=1)[0] or "*",
    "comma": lambda t: t.partition(",")[0],
    "commas": _each,
    "last": lambda t: t.split()[-1] if t.split() else t,
    "setting_src": lambda t: next((p.partition("=")[2] for p in t.split(",") if p.startswith(("src=", "source="))), t),
    "setting_dest": lambda t: next((p.partition("=")[2] for p in t.split(",") if p.startswith(("dest=", "dst="))), t),
    "setting_file": lambda t: next((p[5:] for p in t.split(",") if p.startswith(("file=", "path="))), t.split(",")[0]),
}
_SAFE = frozenset(
    FILTERS[n]
    for n in (
        "before_eq",
        "after_eq",
        "after_space",
        "before_colon",
        "after_colon",
        "after_at",
        "after_slash",
        "unscheme",
        "noplus",
        "path",
    )
)
