"""Orders programs take on standard input: their text in, the same as commands of a shell out."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from classifiers.shell.payloads.expect import expect_commands

SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "fish", "ash", "yash", "posh"})
# Programs that take orders on standard input, and how one of them is given as an argument.
_ORDERS = {"gdb": "gdb -ex", "ed": "vim -c", "vim": "vim -c"}
MAX_ORDERS = 100
_NOWHERE: Mapping[str, str | None] = {}
# Where such a text may run a command: dc's ``!`` (not its comparisons), mail's tilde escapes.
ESCAPES = {"dc": re.compile(r"!(?![<>=])(.*)"), "letter": re.compile(r"^~(?:[!|]|<\s*!)(.*)", re.MULTILINE)}
SILENT_ALONE = frozenset({*_ORDERS, *ESCAPES, "transfer", "redis"})  # at a terminal a person gives the orders
_SCHEDULE = re.compile(r"\s*(?:@\w+|(?:[-\d*,/A-Za-z]+\s+){4}[-\d*,/A-Za-z]+)\s+(.+)")
_OPENS = re.compile(r"\s*(?:open|connect)\s+(?:-\S+\s+)*([^\s-]\S*)")
_TRANSFERS = re.compile(r"\s*(?:[;\n]|&&|\|\|)\s*")


def _job(line: str) -> str:
    """The command of one crontab line (crontab(5)); settings, comments and unknown lines have none."""
    match = None if line.lstrip().startswith("#") else _SCHEDULE.fullmatch(line)
    return match[1].partition("%")[0] if match else ""


def _transfers(text: str, host: str | None) -> str:
    """The orders of a file-transfer client, each with the host it goes to; ``open`` names another."""
    out = []
    for line in _TRANSFERS.split(text):
        opened = _OPENS.match(line)
        host = opened[1] if opened else host
        out.append(_order(line, f"--at {shlex.quote(host)} " if host else ""))
    return "\n".join(out)


def _order(line: str, at: str) -> str:
    """One order of a file-transfer client as a command; ``!`` is the local shell."""
    line = line.strip().lstrip("-@")
    if line.startswith("!"):
        return line[1:]
    first, _, rest = line.partition(" ")
    return f"transfer-order {at}{first.lower()} {rest}" if line and not line.startswith("#") else ""


def _redis(line: str, host: str | None) -> str:
    """One order of redis-cli as its command line; a number before it says how often."""
    try:
        words = shlex.split(line)
    except ValueError:  # a quote that is not closed
        words = line.split()
    order = words[1:] if words and words[0].isdigit() else words
    return shlex.join(["redis-cli", *(["-h", host] if host else []), *order]) if order else ""


def orders(language: str, text: str, *, known: bool, server: Mapping[str, str | None] = _NOWHERE) -> str | None:
    """The orders of a program that takes them on standard input, as commands of a shell; None: it is no such text.

    ``server``: the host and database they go to, where these were named.
    """
    if language == "crontab":
        return "\n".join(filter(None, map(_job, text.split("\n"))))
    if language == "haproxy":
        return "\n".join(f"haproxy-socket {o.strip()}" for o in re.split(r"[;\n]", text) if o.strip())
    if not known:
        return None
    if language in ESCAPES:
        return "\n".join(ESCAPES[language].findall(text))
    if language == "redis":
        return "\n".join(filter(None, (_redis(line, server.get("host")) for line in text.split("\n"))))
    if language == "expect":
        return expect_commands(text)
    if language == "transfer":
        return _transfers(text, server.get("host"))
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if language in _ORDERS and 0 < len(lines) <= MAX_ORDERS:
        return "\n".join(f"{_ORDERS[language]} {shlex.quote(line)}" for line in lines)
    return None
