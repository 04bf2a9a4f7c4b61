"""A service of the user's own: ``onlooker serve`` from login to logout, by systemd or launchd.

In: the command that serves, a home. Out: where the unit goes, its text, and what starts it. Sources: systemd.service(5)
and systemd.exec(5); launchd.plist(5). The launchd file is checked for its form only: no macOS was at hand.
"""

from __future__ import annotations

import plistlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

MARK = "onlooker: transparent audit proxy for agent tool calls"
LABEL = "example.onlooker"


@dataclass(frozen=True, slots=True)
class Manager:
    """``start`` and ``stop``: what the user runs; ``{file}`` is the unit's path."""

    place: Callable[[Path, Mapping[str, str]], Path]
    text: Callable[[Sequence[str]], bytes]
    start: str
    stop: str


def default_manager() -> str:
    return "launchd" if sys.platform == "darwin" else "systemd"


def _unit(words: Sequence[str]) -> bytes:
    return f"""[Unit]
Description={MARK}

[Service]
Type=exec
ExecStart={" ".join(_quoted(w) for w in words)}
ExecReload=/bin/kill -HUP $MAINPID
KillMode=mixed
TimeoutStopSec=80
Restart=on-failure
RestartSec=1
UMask=0077
LimitCORE=0
NoNewPrivileges=yes

[Install]
WantedBy=default.target
""".encode()


def _quoted(word: str) -> str:
    """One word of ExecStart: ``%`` and ``$`` mean something there, and so do quotes and spaces."""
    plain = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{plain}"' if plain != word or " " in word else word


def _plist(words: Sequence[str]) -> bytes:
    value = {"Label": LABEL, "ProgramArguments": list(words), "RunAtLoad": True, "KeepAlive": True, "ExitTimeOut": 80}
    text = plistlib.dumps({**value, "Umask": 0o077, "ProcessType": "Adaptive"})
    head, line, rest = text.partition(b"\n")
    return head + line + f"<!-- {MARK} -->\n".encode() + rest


def _config_home(home: Path, environment: Mapping[str, str]) -> Path:
    return Path(environment.get("XDG_CONFIG_HOME") or home / ".config")


MANAGERS: Mapping[str, Manager] = {
    "systemd": Manager(
        lambda home, environment: _config_home(home, environment) / "systemd" / "user" / "onlooker.service",
        _unit,
        "systemctl --user daemon-reload && systemctl --user enable --now onlooker",
        "systemctl --user disable --now onlooker",
    ),
    "launchd": Manager(
        lambda home, _environment: home / "Library" / "LaunchAgents" / f"{LABEL}.plist",
        _plist,
        'launchctl bootstrap "gui/$(id -u)" {file}',
        f'launchctl bootout "gui/$(id -u)/{LABEL}"',
    ),
}
