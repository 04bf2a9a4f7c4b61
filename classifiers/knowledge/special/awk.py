"""awk: a program in an operand that may run commands, write files or open sockets (POSIX.1-2017 awk; gawk manual)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from classifiers.effects import Domain, OpaqueReason, Verb
from classifiers.knowledge.interpret import Handed, Hidden, Reading, Told
from classifiers.knowledge.model import Delegate, Json
from classifiers.knowledge.words import Word

_WROTE: Json = {"destructive": None, "reversibility": "unknown", "tags": ["overwrite"]}
_STRING = r'"((?:\\.|[^"\\])*)"'
_SYSTEM = re.compile(r"system\s*\(\s*(?:" + _STRING + r"\s*\)|(?=[^)]))")
_PIPE = re.compile(r"(?:print[^|;}\n]*\|\s*&?\s*" + _STRING + r")|(?:" + _STRING + r"\s*\|&?\s*getline)")
_DYNAMIC_PIPE = re.compile(r"\|\s*getline|print[^|;}\n]*\|\s*[a-zA-Z_(]")
_OUTPUT = re.compile(r"(?:print|printf)[^;}\n|>]*(>>?)\s*" + _STRING)
_INET = re.compile(r"/inet[46]?/(?:tcp|udp)/[^/\"]*/([^/\"]+)/([^/\"]+)")


def read_awk(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    """``system()``, pipes to commands, output files and gawk's network files."""
    if reading.parsed.given("-f", "--file"):
        return
    programs = [
        h.value for h in reading.parsed.hits if h.value is not None and h.option and h.option.fills == "program"
    ]
    for program in programs or list(reading.parsed.operands[:1]):
        text = program.text
        dynamic = False
        for match in _SYSTEM.finditer(text):
            dynamic = dynamic or match[1] is None or text[match.end() - 1] != ")"
            if match[1] is not None:
                _runs(reading, program, match[1])
        for match in _PIPE.finditer(text):
            _runs(reading, program, match[1] if match[1] is not None else match[2])
        for match in _OUTPUT.finditer(text):
            target = match[2]
            if not target.startswith("/dev/std"):
                wrote = {"destructive": False, "reversibility": "reversible"} if match[1] == ">>" else _WROTE
                reading.items.append(
                    Told(Verb.MODIFY, Domain.FILESYSTEM, target, dict(wrote), program.span, program.with_text(target))
                )
        for match in _INET.finditer(text):
            fields: Json = {"destructive": None, "reversibility": "externally_reversible"}
            reading.items.append(
                Told(Verb.SEND, Domain.NETWORK, f"{match[1]}:{match[2]}", fields, program.span, program)
            )
        if dynamic or _DYNAMIC_PIPE.search(_PIPE.sub("", text)):
            unread: Json = {"destructive": None, "reversibility": "unknown"}
            reading.items.append(Told(Verb.EXECUTE, Domain.CODE, None, unread, program.span, program))
            reading.items.append(
                Hidden(OpaqueReason.PAYLOAD_UNREADABLE, program.span, "awk runs a command made from its input")
            )


def _runs(reading: Reading, program: Word, command: str) -> None:
    text = command.replace('\\"', '"').replace("\\\\", "\\")
    reading.items.append(Handed(Delegate("shell"), (program.with_text(text),), {}, program.span, "awk system"))


SPECIAL = ("awk", read_awk)
