"""OpenCode's plugin: one JavaScript file of ours in its plugin folder, put there and taken away.

In: a home, the control plane's address. Out: plans for that file; a file that somebody else wrote is left alone.
Source: OpenCode's plugin reference, read 2026-11 (files of the folder are loaded at start); run with 1.18.33.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from proxy.install import ConfigFileError, Plan, backup_of

_OURS = "// onlooker: "
_TEXT = Path(__file__).with_name("opencode_plugin.js")


def plugin_file(home: Path, environment: Mapping[str, str]) -> Path:
    folder = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    return folder / "opencode" / "plugins" / "onlooker.js"


def plan_install(path: Path, control: str) -> Plan | None:
    before, after = _ours(path), _TEXT.read_bytes().replace(b"@CONTROL@", control.encode())
    return None if before == after else Plan(path, before, after, (f"+   plugin that posts tool calls to {control}",))


def plan_uninstall(path: Path) -> Plan | None:
    before = _ours(path)
    if before is None:
        return None
    return Plan(path, before, None, ("-   plugin of onlooker",), ends_backup=backup_of(path).exists())


def _ours(path: Path) -> bytes | None:
    """The file's bytes, None when there is none. ConfigFileError when it is not one of ours."""
    if not path.exists():
        return None
    raw = path.read_bytes()
    if not raw.startswith(_OURS.encode()):
        raise ConfigFileError(f"{path}: not written by onlooker; it is left alone")
    return raw
