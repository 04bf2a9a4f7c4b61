"""Words a description does not cover: a parsed command and what was told of it in, the words that stay unread out.

A description is silent about a long option whose own name says that it writes, sends, deletes or runs something, unless
the command is known to do so anyway. A ``strict`` description (many programs told of together) vouches for less: any
option whose name hints at a change, any unlisted short option, and a bare first word that could be an order, are unread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from classifiers.effects import Verb
from classifiers.knowledge.arguments import Hit, Parsed
from classifiers.knowledge.model import Slot
from classifiers.knowledge.words import Word

# Spellings that only change what is printed, whatever the program (GNU Coding Standards, "Option Table").
_PRINTS = frozenset(
    [
        "-h",
        "-?",
        "-v",
        "-V",
        "-q",
        "--help",
        "--version",
        "--help-all",
        "--no-log",
        "--dry-run",
        "--exclude-dir",
        "--include-dir",
    ]
)
_CHANGES = frozenset({Verb.CREATE, Verb.MODIFY, Verb.DELETE, Verb.SEND, Verb.EXECUTE, Verb.CONTROL, Verb.GRANT})
# What an option's name says it does, and the actions that, once told, cover it.
_TELLING: tuple[tuple[re.Pattern[str], Set[Verb]], ...] = tuple(
    (re.compile(pattern), covered)
    for pattern, covered in (
        (
            r"--(?:out|outfile|out-file|output-(?:file|dir|directory|path|to)|save|save-\w+|write|dump-to|export"
            r"|export-\w+|install|download|fix|in-?place|log-?file|report-file|init|create|edit|import)",
            _CHANGES,
        ),
        (r"--(?:uninstall|delete|delete-\w+|remove-all|purge|wipe|erase)", frozenset({Verb.DELETE, Verb.EXECUTE})),
        (r"--(?:upload|send-\w+|publish|push)", frozenset({Verb.SEND, Verb.EXECUTE})),
        (r"--(?:exec|execute|run-command|on-change)", frozenset({Verb.EXECUTE})),
        (r"--kill", frozenset({Verb.CONTROL, Verb.EXECUTE})),
    )
)
# Parts of an option's name that hint at a change, for descriptions that vouch only for what they list.
_HINTS = frozenset(
    [
        "out",
        "output",
        "outfile",
        "file",
        "dir",
        "directory",
        "folder",
        "path",
        "dest",
        "destination",
        "target",
        "save",
        "write",
        "log",
        "export",
        "import",
        "install",
        "uninstall",
        "set",
        "unset",
        "add",
        "del",
        "delete",
        "remove",
        "rm",
        "clear",
        "clean",
        "reset",
        "create",
        "new",
        "init",
        "update",
        "upgrade",
        "upload",
        "download",
        "send",
        "post",
        "put",
        "move",
        "copy",
        "kill",
        "stop",
        "start",
        "restart",
        "quit",
        "exec",
        "execute",
        "eval",
        "run",
        "cmd",
        "command",
        "script",
        "edit",
        "enable",
        "disable",
        "apply",
        "fix",
        "replace",
        "dump",
        "record",
        "extract",
        "convert",
        "generate",
        "gen",
        "sync",
        "push",
        "pull",
        "load",
        "store",
        "restore",
        "connect",
        "server",
        "listen",
        "serve",
        "daemon",
        "register",
        "mount",
        "umount",
        "unmount",
        "wipe",
        "erase",
        "format",
        "flash",
        "toggle",
        "switch",
        "lock",
        "unlock",
        "change",
        "open",
        "close",
        "play",
        "next",
        "prev",
        "login",
        "logout",
        "auth",
        "key",
        "password",
        "rename",
        "split",
        "merge",
        "backup",
        "build",
        "deploy",
        "publish",
        "inplace",
        "place",
        "to",
        "code",
        "force",
        "pre",
        "post",
        "prune",
        "end",
        "begin",
        "detach",
        "attach",
        "assign",
        "release",
    ]
)
_ORDER = re.compile(r"[a-z][a-z0-9]*(?:[-_:][a-z0-9]+)*")


def unlisted(parsed: Parsed, assigned: list[tuple[Slot, list[Word]]], told: Set[Verb]) -> Iterator[Word]:
    """The words nobody described, in the order they were given. ``told``: actions of the effects already told."""
    strict = parsed.node.strict
    for hit in parsed.hits:
        if hit.option is None and ((strict and _hints(hit)) or _tells(hit, told)):
            yield hit.word
    if strict == "words" and parsed.operands and not _a_value(parsed):
        first = parsed.operands[0]
        slot = next((s for s, words in assigned if any(w is first for w in words)), None)
        if slot is None or _order(first, slot):
            yield first


def _tells(hit: Hit, told: Set[Verb]) -> bool:
    return any(pattern.fullmatch(hit.spelling) and not covered & told for pattern, covered in _TELLING)


def _hints(hit: Hit) -> bool:
    name = hit.spelling.lstrip("-")
    if hit.spelling in _PRINTS:
        return False
    return len(name) < 2 or not _HINTS.isdisjoint(re.split(r"[-_.]", name.lower()))


def _a_value(parsed: Parsed) -> bool:
    """Whether the first operand may be the value of an unlisted option before it: then it is no order."""
    start = parsed.operands[0].span[0]
    return any(h.option is None and h.value is None and 0 < start - h.word.span[1] <= 1 for h in parsed.hits)


def _order(word: Word, slot: Slot) -> bool:
    """Whether a first operand may be an order nobody described, and not the name of what is worked on."""
    listed = any(word.text in glob.split("|") for glob, _ in slot.meaning.by_value)
    return not listed and slot.meaning.delegate is None and bool(_ORDER.fullmatch(word.text))
