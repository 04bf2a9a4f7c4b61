"""awk: a program in an operand that may run commands, write files or open sockets (POSIX.1-2017 awk; gawk manual)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from classifiers.effects import Domain, OpaqueReason, Verb
from classifiers.knowledge.model import Delegate, Json
from classifiers.knowledge.reading import Handed, Hidden, Reading, Told
from classifiers.knowledge.words import Word

_WROTE: Json = {"destructive": None, "reversibility": "unknown", "tags": ["overwrite"]}
_STRING = r'"((?:\\.|[^"\\])*)"'
_SYSTEM = re.compile(r"system\s*\(\s*(?:" + _STRING + r"\s*\)|(?=[^)]))")
_PIPE = re.compile(r"(?:print[^|;}\n]*\|\s*&?\s*" + _STRING + r")|(?:" + _STRING + r"\s*\|&?\s*getline)")
_DYNAMIC_PIPE = re.compile(r"(\w*|\))\s*\|&?\s*getline|print[^|;}\n]*\|&?\s*([a-zA-Z_]\w*|\()")
_OUTPUT = re.compile(r"(?:print|printf)[^;}\n|>]*(>>?)\s*(\"[^\"]*\")")
_INPUT = re.compile(r"getline(?:\s+[A-Za-z_]\w*(?:\[[^\]]*\])?)?\s*<\s*(\"[^\"]*\")")
_MADE_OUTPUT = re.compile(r"(?:print|printf)\b[^;}\n|>\"]*(?:\"[^\"]*\"[^;}\n|>\"]*)*(>>?)\s*(\(|\$|[A-Za-z_]\w*)")
_MADE_INPUT = re.compile(r"getline(?:\s+[A-Za-z_]\w*(?:\[[^\]]*\])?)?\s*<\s*(\(|\$|[A-Za-z_]\w*)")
_ASSIGNED = re.compile(r"\b([A-Za-z_]\w*)\s*=\s*" + _STRING + r"\s*(?=[;}\n])")
_SOCKET_NAME = re.compile(r"(\w+)\s*=\s*\"/inet")
_INET = re.compile(r"/inet[46]?/(?:tcp|udp)/[^/\"]*/([^/\"]+)/([^/\"]+)")


def read_awk(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    """``system()``, pipes to commands, output files and gawk's network files."""
    for hit in reading.parsed.hits:
        if hit.spelling in {"-l", "--load"} and hit.value is not None:
            _loads(reading, hit.value)
    if reading.parsed.given("-f", "--file"):
        return
    programs = [
        h.value for h in reading.parsed.hits if h.value is not None and h.option and h.option.fills == "program"
    ]
    for program in programs or list(reading.parsed.operands[:1]):
        names = _variables(reading, program.text)
        text = _named(program.text, names)
        dynamic = False
        if _LOAD.search(text):
            _loads(reading, program)
        for match in _SYSTEM.finditer(text):
            dynamic = dynamic or match[1] is None or text[match.end() - 1] != ")"
            if match[1] is not None:
                _runs(reading, program, match[1], printed=False)
        for match in _PIPE.finditer(text):
            printed = match[1] is not None
            _runs(reading, program, match[1] if printed else match[2], printed=printed)
        plain = re.sub(_STRING, lambda m: f'"{"." * (len(m[0]) - 2)}"', text)  # texts hold no operators
        for match in _OUTPUT.finditer(plain):
            target = text[match.start(2) + 1 : match.end(2) - 1]
            if not target.startswith("/dev/std"):
                wrote = {"destructive": False, "reversibility": "reversible"} if match[1] == ">>" else _WROTE
                reading.items.append(
                    Told(Verb.MODIFY, Domain.FILESYSTEM, target, dict(wrote), program.span, program.with_text(target))
                )
        for match in _INPUT.finditer(plain):
            read = text[match.start(1) + 1 : match.end(1) - 1]
            if not read.startswith(("/inet", "/dev/std")) and read != "-":
                known: Json = {"destructive": False, "reversibility": "read_only"}
                place = program.with_text(read)
                reading.items.append(Told(Verb.READ, Domain.FILESYSTEM, read, known, program.span, place))
        for match in _MADE_OUTPUT.finditer(plain):  # a file whose name the program makes, or was given
            wrote = {"destructive": False, "reversibility": "reversible"} if match[1] == ">>" else _WROTE
            made = names.get(match[2])
            place = program if made is None else program.with_text(made)
            reading.items.append(Told(Verb.MODIFY, Domain.FILESYSTEM, made, dict(wrote), program.span, place))
        for match in _MADE_INPUT.finditer(plain):
            named = names.get(match[1])
            if named is None or not named.startswith(("/inet", "/dev/std", "-")):
                known = {"destructive": False, "reversibility": "read_only"}
                place = program if named is None else program.with_text(named)
                reading.items.append(Told(Verb.READ, Domain.FILESYSTEM, named, known, program.span, place))
        for match in _INET.finditer(text):
            fields: Json = {"destructive": None, "reversibility": "externally_reversible"}
            reading.items.append(
                Told(Verb.SEND, Domain.NETWORK, f"{match[1]}:{match[2]}", fields, program.span, program)
            )
        if dynamic or _pipes_elsewhere(text):
            unread: Json = {"destructive": None, "reversibility": "unknown"}
            if _INET.search(text):
                unread["tags"] = ["reverse_shell"]
            reading.items.append(Told(Verb.EXECUTE, Domain.CODE, None, unread, program.span, program))
            reading.items.append(
                Hidden(OpaqueReason.PAYLOAD_UNREADABLE, program.span, "awk runs a command made from its input")
            )


def _variables(reading: Reading, text: str) -> dict[str, str]:
    """Names with one value that is known: ``-v name=value``, or one assignment of a string."""
    found: dict[str, set[str]] = {}
    for name, value in _ASSIGNED.findall(text):
        found.setdefault(name, set()).add(value)
    for word in reading.parsed.words_of("-v", "--assign"):
        name, _, value = word.text.partition("=")
        found.setdefault(name, set()).add(value)
    return {name: values.pop() for name, values in found.items() if len(values) == 1}


def _named(text: str, names: dict[str, str]) -> str:
    """The program with the commands it runs by a name put in, where that name holds one text throughout."""
    for name, value in names.items():
        changed = _CHANGED.replace("NAME", re.escape(name))
        if re.search(changed, _ASSIGNED.sub("", text)):
            continue
        said = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        put = rf"\g<1>{said.replace(chr(92), chr(92) * 2)}\g<2>"
        for use in _USES:
            text = re.sub(use.replace("NAME", re.escape(name)), put, text)
    return text


_CHANGED = (
    r"\bNAME\s*(?:[-+*/%^]?=(?!=)|\+\+|--)|(?:\+\+|--|getline\s+)NAME\b|\(\s*NAME\s+in\b|sub\s*\([^)]*\bNAME\s*\)"
    r"|function\s+\w+\s*\([^)]*\bNAME\b"
)
_USES = (r"(system\s*\(\s*)NAME(\s*\))", r"()\bNAME(\s*\|&?\s*getline)", r"(print[^|;}\n]*\|&?\s*)NAME\b()")


def _pipes_elsewhere(text: str) -> bool:
    """A pipe to or from a command the program makes; the names of its sockets are no commands."""
    sockets = {*_SOCKET_NAME.findall(text), ""} if _INET.search(text) else set()
    rest = re.sub(_STRING, '""', _PIPE.sub("", text))
    return any((m[1] or m[2] or "") not in sockets for m in _DYNAMIC_PIPE.finditer(rest))


_LOAD = re.compile(r'@(?:load|include)\s*"[^"]*/')  # a library or a program from a place of the author's choice


def _loads(reading: Reading, word: Word) -> None:
    unread: Json = {"destructive": None, "reversibility": "unknown"}
    reading.items.append(Told(Verb.EXECUTE, Domain.CODE, None, unread, word.span, word))
    reading.items.append(Hidden(OpaqueReason.PAYLOAD_UNREADABLE, word.span, "awk loads what the call does not show"))


def _runs(reading: Reading, program: Word, command: str, *, printed: bool) -> None:
    """``printed``: what the program prints is the command's standard input."""
    if _INET.match(command):
        return
    text = command.replace('\\"', '"').replace("\\\\", "\\")
    reading.items.append(
        Handed(Delegate("shell", fed=printed), (program.with_text(text),), {}, program.span, "awk system")
    )


SPECIAL = ("awk", read_awk)
