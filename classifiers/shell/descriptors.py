"""Descriptors a script opens and reads later: ``exec 3< file``, ``{fd}<<<text``, ``<&3``, ``/dev/fd/3``, ``read -u 3``.

In: redirections and words. Out: the stream a descriptor holds (bash(1) REDIRECTION, "Duplicating File Descriptors").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from classifiers.knowledge.words import Word
from classifiers.shell import ir
from classifiers.shell.state import State, Stream

if TYPE_CHECKING:
    from classifiers.shell.evaluate import Evaluator

_PLACE = re.compile(r"/(?:dev|proc/(?:self|thread-self|\d+|\$\$))/fd/(\d{1,6})")
_FIRST = 10  # the lowest number bash picks for ``{name}<``


def number(item: ir.Redirect, state: State) -> int | None:
    """The descriptor a redirection opens. A named one gets a number, which its variable then holds."""
    if not item.name:
        return item.fd
    held = state.vars.get(item.name)
    if isinstance(held, str) and held.isdigit() and len(held) < 7:
        return int(held)
    fresh = max([_FIRST - 1, *state.inputs, *state.sockets]) + 1
    state.vars[item.name] = str(fresh)
    return fresh


def opened(place: str, state: State) -> Stream | None:
    """What reading ``/dev/fd/3`` gives, when this script opened descriptor 3."""
    match = _PLACE.fullmatch(place)
    return None if match is None else state.inputs.get(int(match[1]))


def read_from(ev: Evaluator, words: Sequence[Word], state: State, stdin: Stream | None) -> Stream | None:
    """Where ``read`` and ``mapfile`` read: the descriptor of ``-u``, else their input."""
    for i, word in enumerate(words[1:], 1):
        match = re.fullmatch(r"-[a-zA-Z]*u(\d*)", word.text if ev.known(word.text) else "")
        if match is None:
            continue
        fd = match[1] or (words[i + 1].text if i + 1 < len(words) else "")
        return state.inputs.get(int(fd), Stream(None)) if fd.isdigit() and len(fd) < 7 else Stream(None)
    return stdin if stdin is not None else state.inputs.get(0)
