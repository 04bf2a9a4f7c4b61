"""HTTPie: an optional method, a URL, then request items; ``name@file`` uploads (httpie.io/docs/cli)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from classifiers.effects import Domain, Verb
from classifiers.knowledge.model import Delegate, Json
from classifiers.knowledge.reading import Handed, Reading, Told
from classifiers.knowledge.words import Word

_READ: Json = {"destructive": False, "reversibility": "read_only"}
_FILE = re.compile(r"[^=:@]*(?::=|=)?@(.+)")  # ``@file`` alone is the whole body
_DATA = re.compile(r"@|[^=:@]+(?::=|=(?!=)|@)")


def read(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    operands = list(reading.parsed.operands)
    method = (
        operands.pop(0).text
        if operands and re.fullmatch(r"[A-Za-z]{3,8}", operands[0].text) and len(operands) > 1
        else ""
    )
    if not operands:
        return
    url, items = operands[0], operands[1:]
    parsed = reading.parsed
    sends = parsed.given("--raw") or (parsed.given("piped") and not parsed.given("--ignore-stdin", "-I"))
    for item in items:
        match = _FILE.fullmatch(item.text)
        if match:
            current = item.with_text(match[1].partition(";")[0])
            reading.items.append(Told(Verb.READ, Domain.FILESYSTEM, current.text, _READ, item.span, current))
        sends = sends or _DATA.match(item.text) is not None
    if parsed.given("--offline"):
        return  # built and shown, not sent
    text = url.text
    if text.startswith((":", "/")):
        text = "localhost" + text
    full = url.with_text(text if "://" in text else "http://" + text)
    to = Delegate("http", method.upper() or ("POST" if sends else "GET"))
    reading.items.append(Handed(to, (full,), {}, url.span, ""))


SPECIAL = ("httpie", read)
