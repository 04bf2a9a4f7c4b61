"""What an effect's target stands for, so that patterns can be held against it.

In: an ``Effect`` and the home directory, when known. Out: a ``Target``: its form (a path, ``scheme:rest``, a host, or
nothing known), its segments, and whether it stands for everything below it. ``policies.pattern`` compares.

``~``, ``$HOME`` and the home path are one value: ``text`` is absolute when home is known, ``tilde`` is the ``~/`` form
(of any user's home: a rule about ``~/.ssh`` is about everybody's), ``own_home`` says whether it is the known one.
"""

from __future__ import annotations

import re
from enum import Enum

from classifiers.effects import Breadth, Domain, Effect
from policies.glob import is_glob


class Form(Enum):
    UNKNOWN = 0
    PATH = 1
    SCHEME = 2
    HOST = 3


SCHEME = re.compile(r"([a-z][a-z0-9_+-]+):(?![0-9]+(?:/|$)|//)")
_URL = re.compile(r"[a-z][a-z0-9+.-]*://(?:[^/@]*@)?([^/?#]*)", re.IGNORECASE)
_ADDRESS = re.compile(r"\[?[0-9a-f:.]*[.:][0-9a-f:.]*\]?(?::[0-9]+)?", re.IGNORECASE)
_HOME = re.compile(r"(?:/home/[^/]+|/Users/[^/]+|/root)(?=/|$)")
_HOSTS = {Domain.NETWORK, Domain.NETWORK_CONFIG, Domain.MESSAGING}
# Where a bare word or relative text is a path, so that an unknown working directory matters.
_FILES = {Domain.FILESYSTEM, Domain.SECRETS, Domain.STORAGE, Domain.CODE, Domain.AGENT, Domain.VCS, Domain.SCHEDULER}
_DEEP = {Breadth.RECURSIVE, Breadth.ROOT, Breadth.ALL}
_ABOVE_HOMES = {"/", "/home", "/Users", "/root", "/*", "/home/*"}


class Target:
    """One effect's target, read once per action.

    ``deep``: it stands for itself and all below it; ``simple``: an absolute path that stands for itself alone.
    """

    __slots__ = (
        "above_homes", "deep", "domain", "filtered", "form", "host", "own_home", "relative", "simple", "text", "tilde",
    )  # fmt: skip

    def __init__(self, effect: Effect, home: str | None) -> None:
        text = effect.target
        self.text, self.domain, self.filtered = text, effect.domain, bool(effect.filtered)
        self.deep = effect.breadth in _DEEP
        self.tilde: str | None = None
        self.own_home: bool | None = None
        self.relative = self.above_homes = self.simple = False
        self.host = ""
        if text is None:
            self.form = Form.UNKNOWN
        elif text[:1] in "/~" or text[:2] == "./" or text[1:3] in {":\\", ":/"}:
            self._path(text, home)
        elif effect.domain in _HOSTS or _is_address(text):
            self._host(text)
        elif SCHEME.match(text):
            self.form = Form.SCHEME
        else:
            self.form = Form.PATH
            self.relative = effect.domain in _FILES and text != "project"

    def _path(self, text: str, home: str | None) -> None:
        self.form = Form.PATH
        text = text.replace("\\", "/") if text[1:3] == ":\\" else text
        text = text[:-1] if len(text) > 1 and text.endswith("/") else text
        self.relative = text.startswith("./")
        if self.relative:
            text = text[2:]
        elif text == "~" or text.startswith("~/"):
            self.tilde, self.own_home = text, True
            text = home + text[1:] if home else text
        elif home and (text == home or text.startswith(home + "/")):
            self.tilde, self.own_home = "~" + text[len(home) :], True
        elif found := _HOME.match(text):
            self.tilde, self.own_home = "~" + text[found.end() :], None if home is None else False
        self.above_homes = text in _ABOVE_HOMES
        self.text = text
        self.simple = text[:1] == "/" and not self.deep and not is_glob(text)

    def _host(self, text: str) -> None:
        found = _URL.match(text)
        if found is None and SCHEME.match(text):
            self.form = Form.SCHEME
            return
        self.form = Form.HOST
        self.text = (found[1] if found else text.partition("/")[0]).casefold()
        self.host = strip_port(self.text)

    @property
    def wild(self) -> bool:
        """The target itself is a glob the shell would expand, or leaves a part open (``aws:*:…``)."""
        return self.text is not None and is_glob(self.text)


def strip_port(text: str) -> str:
    """``host:443`` → ``host``, ``[::1]:80`` → ``::1``; a bare IPv6 address stays whole."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text


def _is_address(text: str) -> bool:
    return text[:1] in "0123456789[" and _ADDRESS.fullmatch(text) is not None
