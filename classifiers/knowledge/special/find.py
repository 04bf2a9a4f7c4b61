"""find: starting points, tests that filter, actions that delete, run or write (find(1), POSIX.1-2017)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from classifiers.effects import Domain, Verb
from classifiers.knowledge.find_names import Names, members
from classifiers.knowledge.model import Delegate, Json
from classifiers.knowledge.reading import Handed, Reading, Told
from classifiers.knowledge.words import Word

_READ = {"destructive": False, "reversibility": "read_only", "breadth": "recursive"}
_ONE_ARGUMENT = frozenset(
    [
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-iwholename",
        "-lname",
        "-ilname",
        "-regex",
        "-iregex",
        "-type",
        "-xtype",
        "-size",
        "-user",
        "-group",
        "-uid",
        "-gid",
        "-perm",
        "-mtime",
        "-atime",
        "-ctime",
        "-mmin",
        "-amin",
        "-cmin",
        "-newer",
        "-anewer",
        "-cnewer",
        "-samefile",
        "-inum",
        "-links",
        "-maxdepth",
        "-mindepth",
        "-fstype",
        "-printf",
        "-regextype",
        "-used",
        "-context",
        "-files0-from",
        "-flags",
        "-depth_n",
        "-mount_n",
        "-Bmin",
        "-Btime",
        "-newerXY",
    ]
)
_KINDS = frozenset({"-type", "-xtype", "-fstype", "-mindepth", "-printf"})  # narrow little or nothing
_BARE = frozenset({"-nouser", "-nogroup", "-empty", "-readable", "-writable", "-executable"})
_NARROW = (_ONE_ARGUMENT | _BARE) - _KINDS
_FILTERS = (_ONE_ARGUMENT | _BARE) - {"-maxdepth", "-mindepth"}
_NAMES = {"-name": "-name", "-iname": "-name"} | dict.fromkeys(
    ("-path", "-ipath", "-wholename", "-iwholename"), "-path"
)
_NOT = frozenset({"!", "-not"})
_OR = frozenset({"-o", "-or", ","})
_REFERENCE = re.compile(r"-samefile|-[ac]?newer|-newer[aBcm]{2}|-files0-from")  # compared with a file (not -newerXt)
_STAMP: Json = {"destructive": False, "reversibility": "read_only"}
_ATTRIBUTES = frozenset({"chmod", "chown", "chgrp"})
_HELP = frozenset({"-help", "--help", "-version", "--version"})  # print and stop
_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_WRITES = frozenset({"-fprint", "-fprint0", "-fls", "-fprintf"})
_MEMBER = re.compile(r"\{\}(?=([\w.~/-]?))")


def read(reading: Reading, name: Word, words: Sequence[Word]) -> None:
    """Add the tree read, then one item per action."""
    if words and words[0].text in _HELP:
        return
    rest, starts = _starts(words)
    listed = not starts and any(w.text == "-files0-from" for w in rest)
    where = starts or [Word(".", name.span)]
    narrowed = any(w.text in _NARROW or w.text.startswith("-newer") for w in rest)
    filtered = any(w.text in _FILTERS or w.text.startswith("-newer") for w in rest)
    for start in () if listed else where:
        reading.items.append(
            Told(Verb.READ, Domain.FILESYSTEM, start.text, {**_READ, "filtered": filtered}, start.span, start)
        )
    at, names = 0, Names()
    while at < len(rest):
        word = rest[at]
        following = rest[at + 1] if at + 1 < len(rest) else None
        negated = at >= 1 and rest[at - 1].text in _NOT
        at += 1
        if word.text in _RUNS:
            command, at = _command(rest, at)
            found = [members(s.text, test) for test in names.left() for s in where[:8]]
            _run(reading, word, command, found, filtered, prompts=word.text.startswith("-ok"), narrowed=narrowed)
        elif word.text == "-delete":
            _delete(reading, word, where, names, filtered)
        elif word.text == "(":
            names.open(negated=negated)
        elif word.text == ")":
            names.close()
        elif word.text in _OR:
            names.alternative()
        elif word.text in _WRITES and following is not None:
            fields = {"destructive": None, "reversibility": "unknown", "tags": ["overwrite"]}
            reading.items.append(
                Told(Verb.MODIFY, Domain.FILESYSTEM, following.text, fields, following.span, following)
            )
            at += 2 if word.text == "-fprintf" else 1
        elif word.text in _ONE_ARGUMENT or word.text.startswith("-newer"):
            if following is not None and _REFERENCE.fullmatch(word.text):
                reading.items.append(
                    Told(Verb.READ, Domain.FILESYSTEM, following.text, dict(_STAMP), following.span, following)
                )
            if word.text in _NAMES and following is not None:
                names.test(_NAMES[word.text], following.text, negated=negated)
            at += 1


def _starts(words: Sequence[Word]) -> tuple[Sequence[Word], list[Word]]:
    """Leading -H -L -P -D -O, then paths up to the first expression word."""
    i = 0
    while i < len(words) and (
        words[i].text in {"-H", "-L", "-P", "-E", "-X", "-x", "-s", "-d"} or words[i].text.startswith(("-O", "-D"))
    ):
        i += 2 if words[i].text == "-D" else 1
    starts: list[Word] = []
    while i < len(words) and not words[i].text.startswith("-") and words[i].text not in {"(", ")", "!", ","}:
        starts.append(words[i])
        i += 1
    return words[i:], starts


def _command(rest: Sequence[Word], at: int) -> tuple[list[Word], int]:
    """The words up to ``;`` or ``{} +``, and where the expression goes on."""
    command: list[Word] = []
    while at < len(rest):
        text = rest[at].text
        if text == ";" or (text == "+" and command and "{}" in command[-1].text):
            return command, at + 1
        command.append(rest[at])
        at += 1
    return command, at


def _run(
    reading: Reading,
    word: Word,
    command: list[Word],
    found: list[str],
    filtered: bool,
    *,
    prompts: bool,
    narrowed: bool,
) -> None:
    if not command:
        return
    if command[0].text.rpartition("/")[2] in _ATTRIBUTES and not narrowed:
        # run on every member: the whole tree
        command, filtered = [command[0], command[0].with_text("-R"), *command[1:]], False
    for target in found:
        words = tuple(_with_member(w, target) for w in command)
        fields: Json = {"condition": "prompt"} if prompts else {}
        if filtered:
            fields["filtered"] = True
        span = (word.span[0], command[-1].span[1])
        reading.items.append(Handed(Delegate("argv"), words, fields, span, f"find {word.text}"))


def _with_member(word: Word, target: str) -> Word:
    if "{}" not in word.text:
        return word
    text = target if word.text == "{}" else _MEMBER.sub(lambda m: _joined(target, m[1]), word.text)
    tree = word.text == "{}" and "*" not in target
    return Word(text, word.span, glob="*" in text, propagated=False, quoted=word.quoted, tree=tree)


def _joined(target: str, after: str) -> str:
    """``{}.bak`` and ``{}/.keep``: of members that only their starting point tells, one beside each and one in each."""
    if not after or "*" in target:
        return target
    return f"{target.rstrip('/')}/**" + ("" if after == "/" else "/*")


def _delete(reading: Reading, word: Word, where: list[Word], names: Names, filtered: bool) -> None:
    for test, start in ((t, s) for t in names.left() for s in where):
        fields = {"destructive": True, "reversibility": "irreversible", "breadth": "recursive", "filtered": filtered}
        target = members(start.text, test)
        reading.items.append(Told(Verb.DELETE, Domain.FILESYSTEM, target, fields, (start.span[0], word.span[1]), None))


SPECIAL = ("find", read)
