"""OpenCode's plugin: one JavaScript file of ours in its plugin folder.

In: a home, the control plane's address. Out: where it goes, and its text. Source: OpenCode's plugin reference, read
2026-11 (files of the folder are loaded at start); run with 1.18.33.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

MARK = "// onlooker: "
_TEXT = Path(__file__).with_name("opencode_plugin.js")


def plugin_file(home: Path, environment: Mapping[str, str]) -> Path:
    folder = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    return folder / "opencode" / "plugins" / "onlooker.js"


def plugin(control: str) -> bytes:
    return _TEXT.read_bytes().replace(b"@CONTROL@", control.encode())
