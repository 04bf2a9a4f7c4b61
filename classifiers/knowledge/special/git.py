"""git: inline aliases (``-c alias.x=!…``) and configuration that names programs to run (git-config(1))."""

from __future__ import annotations

import re
from collections.abc import Sequence

from classifiers.effects import Domain, OpaqueReason, Verb
from classifiers.knowledge.arguments import Parsed
from classifiers.knowledge.model import Delegate, Json
from classifiers.knowledge.reading import Handed, Hidden, Item, Reading, Told
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
    "core.askpass",
    "interactive.difffilter",
    "imap.tunnel",
    "pager.",
)
_RUNS_PARTS = (
    ".cmd",
    "command",
    "hook",
    ".helper",
    ".textconv",
    ".clean",
    ".smudge",
    ".process",
    ".driver",
    ".program",
)
# Keys that bring in files others wrote: settings, and hooks for new repositories.
LOADS = ("include.path", "includeif.", "init.templatedir")
# Names the knowledge has and git has not: usual aliases, programs called git-NAME. The call's own alias wins.
_ALIASABLE = frozenset({
    "abort", "absorb", "archive-file", "authors", "back", "browse", "browse-ci", "brv", "bug", "changelog", "chore",
    "clang-format", "clear", "clear-soft", "coauthor", "commits-since", "continue", "count", "create-branch",
    "delete-branch", "delete-merged-branches", "delete-squashed-branches", "delete-submodule", "delete-tag", "effort",
    "fame", "feature", "filter-repo", "flow", "force-clone", "fresh-branch", "graft", "guilt", "ignore", "info",
    "last", "lfs", "lg", "local-commits", "lock", "locked", "ls", "merge-into", "merge-repo", "missing", "mr",
    "obliterate", "pr", "quick-stats", "reauthor", "rebase-patch", "refactor", "release", "rename-branch",
    "rename-tag", "reset-file", "serve", "setup", "show-merged-branches", "show-tree", "show-unmerged-branches",
    "squash", "st", "stamp", "standup", "standup-all", "summary", "touch", "undo", "unlock",
})  # fmt: skip
_EDITED = "what the editor will be told"  # how the knowledge says that an order waits for an editor
_PLAIN = re.compile(r"[\w.+-]*|/dev/null")  # one's usual program, by its name
_DEFERRED: Json = {"condition": "deferred"}
# Settings that turn a check off.
_UNCHECKED = {"http.sslverify": ("false", "0", "no", "off"), "safe.directory": ("*",), "core.protectntfs": ("false",)}


def read(reading: Reading, name: Word, words: Sequence[Word]) -> None:
    """Replace an unknown subcommand by its inline alias; tell of programs that ``-c`` makes git run."""
    parsed = reading.parsed
    settings = parsed.words_of("-c", "--config")
    for setting in settings:
        key, _, value = setting.text.partition("=")
        lower = key.lower()
        if lower in {"sequence.editor", "core.editor"} and value in {":", "true", "cat"}:
            reading.items[:] = [i for i in reading.items if not isinstance(i, Hidden) or not i.text.startswith(_EDITED)]
        elif lower.startswith("alias."):
            _alias(reading, parsed, key[6:], setting.with_text(value), words)
        elif runs(lower, value):
            _program(reading, lower, setting.with_text(value))
        elif lower.startswith(LOADS):
            _loaded(reading, lower, setting.with_text(value))
    first = parsed.subs[0].text if parsed.subs else ""
    if first == "config":
        _kept(reading, parsed)
    elif first == "grep":
        for word in parsed.words_of("-O"):
            reading.items.append(Handed(Delegate("shell"), (word,), {}, word.span, "git grep -O"))
    _ = name


def runs(key: str, value: str) -> bool:
    """Whether git runs what this key holds. A mail server that is a path is a program; ``!`` begins a command."""
    named = key.startswith(_RUNS) or (key.endswith(_RUNS_PARTS) and "." in key)
    return named or (key == "sendemail.smtpserver" and value.startswith("/")) or value.startswith("!")


def command_of(key: str, value: str) -> str | None:
    """The command line git will run for this setting; None when it is no such setting, or names one's usual program."""
    if value.startswith("!"):
        return value[1:]
    if not runs(key, value) or key == "core.hookspath" or _PLAIN.fullmatch(value):
        return None
    if key.endswith(".helper") and not value.startswith("/"):
        return None  # ``cache --timeout=600``: one of git's own helpers (gitcredentials(7))
    if key.endswith(".editor"):
        return f"{value} .git/COMMIT_EDITMSG"
    return f": | {value}" if key.startswith(("core.pager", "pager.", "interactive.")) else value


def _loaded(reading: Reading, key: str, value: Word) -> None:
    fields: Json = {"destructive": False, "reversibility": "read_only"}
    reading.items.append(Told(Verb.READ, Domain.FILESYSTEM, value.text, fields, value.span, value))
    reading.items.append(_brought_in(key, value))


def _brought_in(key: str, value: Word) -> Hidden:
    return Hidden(OpaqueReason.PAYLOAD_UNREADABLE, value.span, f"{key}: what it brings in may run")


def _kept(reading: Reading, parsed: Parsed) -> None:
    """``git config key value``: a program git will run from now on, or where it will fetch from, stays."""
    words = [w for w in parsed.operands if w.text not in {"set", "get"}]
    if len(words) < 2:
        return
    key, value = words[0].text.lower(), words[1].text
    script = runs(key, value) and (key == "core.hookspath" or not value.replace("-", "").isalnum())
    tags = ["persistence"] if script or key.endswith(".insteadof") or key.startswith(LOADS) else []
    tags += ["defense_evasion"] if value.lower() in _UNCHECKED.get(key, ()) else []
    for item in reading.items if tags else ():
        if isinstance(item, Told) and item.action is Verb.MODIFY:
            item.tag(*tags)
    _will_run(reading, key, words[1])


def _will_run(reading: Reading, key: str, word: Word) -> None:
    """What git will do because of this setting, from now on."""
    via, command = f"git config {key}", command_of(key, word.text)
    if command is not None:
        reading.items.append(Handed(Delegate("shell"), (word.with_text(command),), _DEFERRED, word.span, via))
    elif key.startswith("alias."):
        inner = tuple(word.with_text(t) for t in word.text.split())
        fields: Json = {**_DEFERRED, "certainty": "possible"}
        reading.items.append(Handed(Delegate("argv", program="git"), inner, fields, word.span, via))
    elif key == "core.hookspath" and word.text != "/dev/null":
        _hooks(reading, word, "deferred")
    elif key.startswith(LOADS):
        reading.items.append(_brought_in(key, word))


def _alias(reading: Reading, parsed: Parsed, alias: str, value: Word, words: Sequence[Word]) -> None:
    used = parsed.unknown_sub or (parsed.subs[0] if parsed.subs and parsed.subs[0].text in _ALIASABLE else None)
    if used is None or used.text.lower() != alias.lower():
        return
    own = parsed.unknown_sub is None  # the name has a meaning without the alias, which goes
    reading.items[:] = [i for i in reading.items if not (_is_unknown(i) or (own and _is_of(i, used)))]
    rest = tuple(words[list(words).index(used) + 1 :])
    if value.text.startswith("!"):
        script = value.with_text(" ".join([value.text[1:], *(w.text for w in rest)]))
        reading.items.append(Handed(Delegate("shell"), (script,), {}, value.span, "git alias"))
        return
    inner = tuple(value.with_text(t) for t in value.text.split())
    reading.items.append(Handed(Delegate("argv", program="git"), (*inner, *rest), {}, value.span, "git alias"))


def _is_of(item: Item, used: Word) -> bool:
    """Whether the subcommand says this, and no option before it."""
    word = item.word if isinstance(item, Told) else None
    return item.span[0] > used.span[0] or (isinstance(item, Told) and word is None)


def _is_unknown(item: Item) -> bool:
    return isinstance(item, Hidden) or (
        isinstance(item, Told) and item.domain is Domain.PROCESS and item.action is Verb.EXECUTE
    )


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
        _hooks(reading, value, "always")
        return
    script = value.with_text(value.text.removeprefix("!"))
    reading.items.append(Handed(Delegate("shell"), (script,), {}, value.span, f"git -c {key}"))


def _hooks(reading: Reading, folder: Word, condition: str) -> None:
    fields: Json = {
        "destructive": None,
        "reversibility": "unknown",
        "tags": ["persistence"],
        "condition": condition,
    }
    reading.items.append(Told(Verb.EXECUTE, Domain.CODE, folder.text, fields, folder.span, folder))
    reading.items.append(Hidden(OpaqueReason.PAYLOAD_UNREADABLE, folder.span, "the hooks are not in the call"))


SPECIAL = ("git", read)
