"""git: inline aliases (``-c alias.x=!…``) and configuration that names programs to run (git-config(1))."""

from __future__ import annotations

from collections.abc import Sequence

from classifiers.effects import Domain, Verb
from classifiers.knowledge.arguments import Parsed
from classifiers.knowledge.model import Delegate, Json
from classifiers.knowledge.reading import Handed, Hidden, Reading, Told
from classifiers.knowledge.words import Word

# Keys whose value git runs through a shell, or as a program.
_RUNS = (
    "core.pager",
    "core.editor",
    "core.sshcommand",
    "core.fsmonitor",
    "diff.external",
    "sequence.editor",
    "gpg.program",
    "credential.helper",
    "core.hookspath",
    "core.gitproxy",
    "pager.",
)
_RUNS_PARTS = (".cmd", ".command", ".textconv", ".clean", ".smudge", ".process", ".driver", ".program")


def read(reading: Reading, name: Word, words: Sequence[Word]) -> None:
    """Replace an unknown subcommand by its inline alias; tell of programs that ``-c`` makes git run."""
    parsed = reading.parsed
    settings = [h.value for h in parsed.hits if h.spelling in {"-c", "--config"} and h.value is not None]
    for setting in settings:
        key, _, value = setting.text.partition("=")
        lower = key.lower()
        if lower.startswith("alias."):
            _alias(reading, parsed, key[6:], setting.with_text(value), words)
        elif lower.startswith(_RUNS) or (lower.endswith(_RUNS_PARTS) and "." in lower):
            _program(reading, lower, setting.with_text(value))
    first = parsed.subs[0].text if parsed.subs else ""
    if first == "config":
        _kept(reading, parsed)
    elif first == "grep":
        for hit in parsed.hits:
            if hit.spelling == "-O" and hit.value is not None:
                reading.items.append(Handed(Delegate("shell"), (hit.value,), {}, hit.value.span, "git grep -O"))
    _ = name


def _kept(reading: Reading, parsed: Parsed) -> None:
    """``git config key value``: a program git will run from now on, or where it will fetch from, stays."""
    words = [w for w in parsed.operands if w.text not in {"set", "get"}]
    if len(words) < 2:
        return
    key, value = words[0].text.lower(), words[1].text
    runs = key.startswith(_RUNS) or (key.endswith(_RUNS_PARTS) and "." in key)
    script = runs and (key == "core.hookspath" or not value.replace("-", "").isalnum())
    if script or (key.startswith("alias.") and value.startswith("!")) or key.endswith(".insteadof"):
        for item in reading.items:
            if isinstance(item, Told) and item.action is Verb.MODIFY:
                item.fields = {**item.fields, "tags": [*item.fields.get("tags", ()), "persistence"]}


def _alias(reading: Reading, parsed: Parsed, alias: str, value: Word, words: Sequence[Word]) -> None:
    used = parsed.unknown_sub
    if used is None or used.text != alias:
        return
    reading.items[:] = [i for i in reading.items if not isinstance(i, Hidden) and not _is_unknown(i)]
    rest = tuple(words[list(words).index(used) + 1 :])
    if value.text.startswith("!"):
        script = value.with_text(" ".join([value.text[1:], *(w.text for w in rest)]))
        reading.items.append(Handed(Delegate("shell"), (script,), {}, value.span, "git alias"))
        return
    inner = tuple(value.with_text(t) for t in value.text.split())
    reading.items.append(Handed(Delegate("argv", program="git"), (*inner, *rest), {}, value.span, "git alias"))


def _is_unknown(item: object) -> bool:
    return isinstance(item, Told) and item.domain is Domain.PROCESS and item.action is Verb.EXECUTE


def _program(reading: Reading, key: str, value: Word) -> None:
    if not value.text or value.text in {
        "cat",
        "less",
        "true",
        "false",
        "store",
        "cache",
        "/dev/null",
        "vi",
        "vim",
        "nano",
    }:
        return
    if key == "core.hookspath":
        fields: Json = {"destructive": None, "reversibility": "unknown", "tags": ["persistence"]}
        reading.items.append(Told(Verb.EXECUTE, Domain.CODE, value.text, fields, value.span, value))
        return
    script = value.with_text(value.text.removeprefix("!"))
    reading.items.append(Handed(Delegate("shell"), (script,), {}, value.span, f"git -c {key}"))


SPECIAL = ("git", read)
