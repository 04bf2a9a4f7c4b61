"""ansible's ad hoc modules: ``-m copy -a 'src=a dest=b'`` is read as ``ansible-module copy --src=a --dest=b``.

Source: ansible(1), docs.ansible.com "Introduction to ad hoc commands". In comes the command with ``-a`` handed on as
a command line (which it is for command, shell and raw); out the module's own order, on the same hosts. In check mode
nothing is done.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence

from classifiers.effects import OpaqueReason
from classifiers.knowledge.model import Delegate
from classifiers.knowledge.reading import Handed, Hidden, Reading
from classifiers.knowledge.words import Word

_LINES = frozenset({"command", "shell", "raw"})
_KEY = re.compile(r"\w+=")


def read(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    """Put the module's order where the arguments are, or where the module is named."""
    modules = reading.parsed.words_of("-m", "--module-name")
    if reading.parsed.given("-C", "--check"):
        reading.items[:] = [i for i in reading.items if not isinstance(i, Handed)]
        return
    module = modules[-1].text.rpartition(".")[2] if modules else "command"
    if module in _LINES or reading.answered:
        return
    handed = [i for i in reading.items if isinstance(i, Handed)]
    hosts = reading.parsed.operands[0].text if reading.parsed.operands else "*"
    fields = handed[0].fields if handed else {"where": f"host:{hosts}"}
    said = handed[0].words[0] if handed else modules[-1].with_text("")
    reading.items[:] = [i for i in reading.items if not isinstance(i, Handed)]
    given = _arguments(said.text)
    if given is None:
        reading.items.append(Hidden(OpaqueReason.PAYLOAD_UNREADABLE, said.span, "arguments of a module"))
        return
    order = tuple(said.with_text(text) for text in ("ansible-module", module, *given))
    reading.items.append(Handed(Delegate("argv"), order, fields, said.span, "ansible"))


def _arguments(text: str) -> list[str] | None:
    """``a=b 'c d'`` or one JSON object, as options and operands; None when it is neither."""
    try:
        if text.lstrip().startswith("{"):
            return [f"--{k}={','.join(map(str, v)) if isinstance(v, list) else v}" for k, v in json.loads(text).items()]
        return [f"--{part}" if _KEY.match(part) else part for part in shlex.split(text)]
    except ValueError:
        return None


SPECIAL = ("ansible", read)
