"""Guess a surface from the shape of the arguments alone, and say that it is a guess.

In: a tool name and its arguments. Out: (entry, reason), or None when the shape says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from classifiers.sql import looks_like_sql, starts_like_sql
from classifiers.tools.arguments import find
from classifiers.tools.format import Entry, read_entry

_COMMAND = "command|cmd|shell_command|bash_command|command_line|argv"
_LANGUAGE = "language|lang|runtime"
_URL = "url|uri|endpoint|request.url"
_BASE = "base_url|host|server"
_REQUEST = {
    "method": "method|http_method|verb|options.method|request.method",
    "body": "body|data|json|payload|request_body|options.body|request.body",
    "headers": "headers|options.headers|request.headers",
    "graphql": "query|mutation",
}
_PATH = "path|file_path|absolute_path|filename|file|target_file|relative_path"
_SAVED = "output_path|save_path|save_to|destination|dest_path|output_file|local_path|download_path|target_path"
_CWD = "cwd|workdir|working_directory|dir_path|directory"
_LANGUAGES = re.compile(
    r"python|py|javascript|js|typescript|ts|node|ruby|perl|php|bash|sh|shell|powershell|sql", re.IGNORECASE
)
# In order; the first whose `needs` are all there and of the right type answers.
_SHAPES: dict[str, tuple[str, dict[str, Any]]] = {
    "code": (
        "argument code",
        {"surface": "code", "roles": {"code": "code|source_code|snippet", "language": _LANGUAGE}},
    ),
    "command": (
        "argument command",
        {"surface": "shell", "roles": {"command": _COMMAND, "args": "args|arguments", "cwd": _CWD, "shell": "shell"}},
    ),
    "script": ("argument script", {"surface": "shell", "roles": {"command": "script", "cwd": _CWD, "shell": "shell"}}),
    "sql": (
        "argument sql",
        {
            "surface": "sql",
            "roles": {
                "sql": "sql|sql_query|sql_script|statement|query|script",
                "dialect": "dialect|engine",
                "database": "db",
            },
        },
    ),
    "patch": (
        "argument patch",
        {
            "surface": "files",
            "fixed": {"operation": "patch"},
            "roles": {"patch": "patch|diff|patch_text", "path": _PATH},
        },
    ),
    "download": (
        "arguments url and a file to save it in",
        {"surface": "http", "roles": {**_REQUEST, "url": _URL, "save": f"{_SAVED}|{_PATH}"}},
    ),
    "url": (
        "argument url",
        {"surface": "http", "roles": {**_REQUEST, "url": _URL}},
    ),
    "base": (
        "arguments base_url and path",
        {"surface": "http", "roles": {**_REQUEST, "base": _BASE, "url": "path|endpoint|route"}},
    ),
    "edit": (
        "arguments path and old_string",
        {"surface": "files", "fixed": {"operation": "edit"}, "roles": {"path": _PATH, "cwd": "cwd"}},
    ),
    "write": (
        "arguments path and content",
        {"surface": "files", "fixed": {"operation": "write"}, "roles": {"path": _PATH, "content": "content|contents"}},
    ),
}
_EDITS = ("old_string", "old_str", "oldText", "new_string", "edits", "search")
_CONTENTS = ("content", "contents", "file_text")


def guess(tool: str, arguments: Any) -> tuple[Entry, str] | None:
    if isinstance(arguments, str):
        return _text_guess(arguments)
    if not isinstance(arguments, Mapping):
        return None
    for name, (reason, _raw) in _SHAPES.items():
        if _TESTS[name](arguments, tool):
            return _named_entry(name, tool), reason
    return None


def _text_guess(text: str) -> tuple[Entry, str] | None:
    """A custom tool's raw input."""
    if text.startswith("*** Begin Patch"):
        return read_entry(
            {"surface": "files", "fixed": {"operation": "patch"}, "roles": {"patch": "."}}, ""
        ), "patch text"
    if looks_like_sql(text):
        return read_entry({"surface": "sql", "roles": {"sql": "."}}, ""), "text that is SQL"
    return None


def _named_entry(name: str, tool: str) -> Entry:
    """The shape's entry, with what the tool's name adds: a language, a shell."""
    if name == "code":
        return _entry(name, language=_language_in(tool))
    return _entry(name, surface=_shell_in(tool)) if name in {"command", "script"} else _entry(name)


@cache
def _entry(name: str, language: str = "", surface: str = "") -> Entry:
    told = {"fixed": {"language": language}} if language else {"surface": surface} if surface else {}
    return read_entry({**_SHAPES[name][1], **told}, "")


def _language_in(tool: str) -> str:
    """``run_javascript``: the tool's name says the language; an argument that says it wins."""
    return next((w for w in _words(tool) if _LANGUAGES.fullmatch(w)), "")


def _shell_in(tool: str) -> str:
    """``run_powershell``, ``cmd.exe``: the tool's name says the shell. ``run_cmd`` says nothing: cmd is any command."""
    words = _words(tool)
    if "powershell" in words or "pwsh" in words:
        return "powershell"
    return "cmd" if words == ["cmd"] or {"cmd", "exe"} <= set(words) or {"windows", "cmd"} <= set(words) else ""


def _words(tool: str) -> list[str]:
    return [w for w in re.split(r"[^a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", tool).lower()) if w]


def _text(arguments: Any, names: str) -> str | None:
    found = find(arguments, names.split("|"))
    return found.value if found is not None and isinstance(found.value, str) and found.value.strip() else None


def _is_command(arguments: Any, names: str) -> bool:
    found = find(arguments, names.split("|"))
    if found is None:
        return False
    value = found.value
    if isinstance(value, list):
        return bool(value) and all(isinstance(word, str) for word in value)
    return isinstance(value, str) and bool(value.strip())


def _is_code(arguments: Any, tool: str) -> bool:
    code = _text(arguments, "code|source_code|snippet")
    language = _text(arguments, "language|lang|runtime")
    named = language is not None and _LANGUAGES.match(language) is not None
    return code is not None and (named or len(code.split()) > 1 or "(" in code or _LANGUAGES.search(tool) is not None)


def _is_sql(arguments: Any, tool: str) -> bool:
    named, other = _text(arguments, "sql|sql_query|sql_script"), _text(arguments, "statement|query")
    if named is None and other is None and "sql" in _words(tool):
        other = _text(arguments, "script")
    if other is not None and "sql" in _words(tool):  # the tool's own name says what its query is
        return starts_like_sql(other)
    return (named is not None and starts_like_sql(named)) or (other is not None and looks_like_sql(other))


def _is_url(arguments: Any, _tool: str) -> bool:
    return _is_address(_text(arguments, _URL))


def _is_download(arguments: Any, tool: str) -> bool:
    """A file is named for it; a plain ``path`` is one only where the tool's name says that it downloads."""
    names = f"{_SAVED}|{_PATH}" if {"download", "save"} & set(_words(tool)) else _SAVED
    return _is_url(arguments, tool) and _text(arguments, names) is not None


def _is_base(arguments: Any, _tool: str) -> bool:
    return _is_address(_text(arguments, _BASE)) and _text(arguments, "path|endpoint|route") is not None


def _is_address(text: str | None) -> bool:
    return text is not None and re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*://", text) is not None


def _is_patch(arguments: Any, _tool: str) -> bool:
    text = _text(arguments, "patch|diff|patch_text")
    return text is not None and re.search(r"^(\*\*\* |--- |\+\+\+ |@@|diff --git )", text, re.MULTILINE) is not None


def _has(arguments: Any, names: tuple[str, ...]) -> bool:
    return _text(arguments, _PATH) is not None and any(find(arguments, (n,)) is not None for n in names)


_TESTS: dict[str, Callable[[Any, str], bool]] = {
    "code": _is_code,
    "command": lambda arguments, _tool: _is_command(arguments, _COMMAND),
    "script": lambda arguments, tool: not _is_sql(arguments, tool) and _is_command(arguments, "script"),
    "sql": _is_sql,
    "patch": _is_patch,
    "download": _is_download,
    "url": _is_url,
    "base": _is_base,
    "edit": lambda arguments, _tool: _has(arguments, _EDITS),
    "write": lambda arguments, _tool: _has(arguments, _CONTENTS),
}
