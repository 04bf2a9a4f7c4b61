"""Words a description does not cover: a parsed command and what was told of it in, the words that stay unread out.

A description is silent about a long option whose own name says that it writes, sends, deletes or runs something,
unless the command is known to do so anyway. A ``strict`` description (a few programs told of together) vouches for
less: any option whose name hints at a change, any unlisted short option, an unlisted option directly before an
operand (which may be its value), and a bare first word that could be an order, are unread. Whatever the description,
an unlisted option whose name asks for a value (``--name``, ``--max-count``) is unread directly before an operand: it
would be taken for one; and so are one with a file's name attached (``--raw=out.bin``) and ``-o`` before one. The
other way round, where unlisted options take a value (``unknown_options: value``) one whose name asks for none and
that left no operand is unread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from classifiers.datafile import table
from classifiers.effects import Verb
from classifiers.knowledge.arguments import Hit, Parsed
from classifiers.knowledge.model import NO_MEANING, Slot
from classifiers.knowledge.words import Word

Verbs = frozenset[Verb]

# Spellings that only change what is printed, whatever the program (GNU Coding Standards, "Option Table").
_PRINTS = frozenset({"-h", "-?", "-v", "-V", "-q", "--help", "--version", "--no-log", "--exclude-dir", "--include-dir"})
_CHANGES = frozenset({Verb.CREATE, Verb.MODIFY, Verb.DELETE, Verb.SEND, Verb.EXECUTE, Verb.CONTROL, Verb.GRANT})
_WRITES = (
    r"--(?:out|outfile|out-file|output-(?:file|dir|directory|path|to)|save|save-\w+|write|dump-to|export|export-\w+"
    r"|install|download|fix|in-?place|log-?file|report-file|init|create|edit|import|(?!time)[\w-]+_out)"
)
# What an option's name says it does, and the actions that, once told, cover it.
_TELLING: tuple[tuple[re.Pattern[str], Verbs], ...] = (
    (re.compile(_WRITES), _CHANGES),
    (
        re.compile(r"--(?:uninstall|delete|delete-\w+|remove-all|purge|wipe|erase)"),
        frozenset({Verb.DELETE, Verb.EXECUTE}),
    ),
    (re.compile(r"--(?:upload|send-\w+|publish|push)"), frozenset({Verb.SEND, Verb.EXECUTE})),
    (re.compile(r"--(?:exec|execute|run-command|on-change)"), frozenset({Verb.EXECUTE})),
    (re.compile(r"--kill"), frozenset({Verb.CONTROL, Verb.EXECUTE})),
)
# Parts of an option's name that hint at a change, for descriptions that vouch only for what they list.
_HINTS = re.compile(
    r"(?:^|[-_.])(?:add|apply|assign|attach|auth|backup|begin|build|change|clean|clear|close|cmd|code|command|connect|convert"
    r"|copy|create|daemon|del|delete|deploy|dest|destination|detach|dir|directory|disable|download|dump|edit|enable|end|erase"
    r"|eval|exec|execute|export|extract|file|fix|flash|folder|force|format|gen|generate|import|init|inplace|install|key|kill"
    r"|listen|load|lock|log|login|logout|merge|mount|move|new|next|open|out|outfile|output|password|path|place|play|post|pre"
    r"|prev|prune|publish|pull|push|put|quit|record|register|release|remove|rename|replace|reset|restart|restore|rm|run|save"
    r"|script|send|serve|server|set|split|start|stop|store|switch|sync|target|to|toggle|umount|uninstall|unlock|unmount|unset"
    r"|update|upgrade|upload|wipe|write)(?:$|[-_.])",
    re.IGNORECASE,
)
# Options that name a program, listed as taking a value or not: a path or a command line there is run.
_PROGRAMS = re.compile(
    r"-{1,2}(?:[\w-]+-(?:command|cmd|exec|hook|program|wrapper|engine)|on-[\w-]+|wrapper|pipe|plugin-dir|python-expr)"
)
# Names of a file that is written beside what the program makes.
_OUTPUT = re.compile(
    r"--(?:[\w-]+-)?(?:(?:log|logger|report|dump|pid|trace|stats|status|attribute|debug|dependency|dep|header|history|state)-?file"
    r"|cookie-jar|save-\w+dir)"
)
_FILE = re.compile(r"[^:=,*?\s]*/[^:=,*?\s]*[^/:=,*?\s]|[\w-]+\.[a-zA-Z]\w{0,4}")  # a path, or a name with an ending
_ATTACHED = re.compile(r"-[A-Za-z][0-9]+")  # ``-o5`` has its value with it
_ORDER = re.compile(r"[a-z][a-z0-9]*(?:[-_:][a-z0-9]+)*")


def unlisted(parsed: Parsed, assigned: list[tuple[Slot, list[Word]]], told: Verbs) -> Iterator[Word]:
    """The words nobody described, in the order they were given. ``told``: actions of the effects already told."""
    strict = parsed.node.strict
    for hit in parsed.hits:
        if (
            hit.option is None
            and (
                (strict and _doubtful(hit, parsed))
                or (_asks(hit) and _doubtful(hit, parsed) and _counts(hit.following, parsed, assigned))
                or (strict and _hints(hit))
                or _given_file(hit, parsed)
                or (hit.word.text == "-o" and _writes_next(hit, parsed, assigned))
                or _took_the_operand(hit, parsed)
                or _tells(hit, told)
                or _shortens(hit, parsed)
            )
        ) or (Verb.EXECUTE not in told and _names_program(hit)):
            yield hit.word
    if strict == "words" and parsed.operands and not _a_value(parsed):
        first = parsed.operands[0]
        slot = next((s for s, words in assigned if any(w is first for w in words)), None)
        if slot is None or _order(first, slot):
            yield first


def _tells(hit: Hit, told: Verbs) -> bool:
    return any(pattern.fullmatch(hit.spelling) and not covered & told for pattern, covered in _TELLING)


def _shortens(hit: Hit, parsed: Parsed) -> bool:
    """Whether it may stand for a listed option with a value, and the word after it would be that value."""
    node = parsed.node
    if hit.value is not None or len(hit.spelling) < 4 or hit.spelling[:2] != "--":
        return False
    if not any(hit.following is w for w in parsed.operands):
        return False
    start = hit.spelling + ("" if node.long_options == "whole" else "-")  # else one at a word's end only
    return any(s.startswith(start) and node.options[s].values > 0 for s in node.long_names)


def _names_program(hit: Hit) -> bool:
    """Whether an option nobody gave a meaning is given a path or a command line to run."""
    given = hit.value.text if hit.value is not None else ""
    return hit.bare and _PROGRAMS.fullmatch(hit.spelling) is not None and ("/" in given or " " in given.strip())


def _hints(hit: Hit) -> bool:
    name = hit.spelling.lstrip("-")
    if hit.spelling in _PRINTS:
        return False
    return len(name) < 2 or _HINTS.search(name) is not None


def _asks(hit: Hit) -> bool:
    """Whether an option's name, by its last word, is one that has a value."""
    words = hit.spelling.lstrip("-").replace("_", "-").split("-")
    asks, flags = _asking()
    return (words[-1] in asks and words[0] not in flags) or _OUTPUT.fullmatch(hit.spelling) is not None


@cache
def _asking() -> tuple[frozenset[str], frozenset[str]]:
    read = table("knowledge/asking.yaml")
    return frozenset(read["asks"].split()), frozenset(read["flags"].split())


def _given_file(hit: Hit, parsed: Parsed) -> bool:
    """Whether an option nobody listed has a file's name attached (``--raw=out.bin``): it is read or written."""
    if hit.value is None or hit.value is hit.following or parsed.node.unknown_options == "value":
        return False
    return hit.spelling.startswith("--") and _FILE.fullmatch(hit.value.text) is not None


def _next(hit: Hit, parsed: Parsed) -> Word | None:
    """The operand directly after an option."""
    end = hit.word.span[1]
    return next((w for w in parsed.operands if 0 <= w.span[0] - end <= 1), None)


def _writes_next(hit: Hit, parsed: Parsed, assigned: list[tuple[Slot, list[Word]]]) -> bool:
    """Whether ``-o``, which nobody listed, stands before a file's name: in most programs it is what is written."""
    given = _next(hit, parsed)
    return given is not None and _FILE.fullmatch(given.text) is not None and _counts(given, parsed, assigned)


def _doubtful(hit: Hit, parsed: Parsed) -> bool:
    """Whether an option nobody listed stands directly before an operand: it may be its value, and no operand at all."""
    if hit.value is not None or hit.spelling in _PRINTS or _ATTACHED.fullmatch(hit.word.text):
        return False
    return any(hit.following is w for w in parsed.operands)


def _took_the_operand(hit: Hit, parsed: Parsed) -> bool:
    """Whether an option nobody listed took the only word there was, which may be the script or file to work on."""
    if parsed.operands or hit.value is None or hit.value is not hit.following or _asks(hit):
        return False
    return any(s.meaning != NO_MEANING for s in parsed.node.slots)


def _counts(word: Word | None, parsed: Parsed, assigned: list[tuple[Slot, list[Word]]]) -> bool:
    """Whether an operand has a meaning, of its own or as a part of a target."""
    slot = next((s for s, words in assigned if any(w is word for w in words)), None)
    if slot is None or slot.meaning != NO_MEANING:
        return slot is not None
    told = (*parsed.node.effects, *(parsed.node.no_operands or ()))
    return any("{" + slot.role in (t.target or "") for t in told)


def _a_value(parsed: Parsed) -> bool:
    """Whether the first operand may be the value of an unlisted option before it: then it is no order."""
    first = parsed.operands[0]
    return any(h.option is None and h.value is None and _next(h, parsed) is first for h in parsed.hits)


def _order(word: Word, slot: Slot) -> bool:
    """Whether a first operand may be an order nobody described, and not the name of what is worked on."""
    listed = any(word.text in glob.split("|") for glob, _ in slot.meaning.by_value)
    return not listed and slot.meaning.delegate is None and bool(_ORDER.fullmatch(word.text))
