"""What a call makes of texts that are known: the texts in, a text out; None, or an error, when it cannot be said."""

from __future__ import annotations

import base64
import codecs
import ntpath
import posixpath
from collections.abc import Callable
from urllib.parse import unquote

from classifiers.code.filling import MAX_TEXT


def _b64(texts: list[str]) -> str:
    raw = texts[0].strip().translate(str.maketrans("-_", "+/"))
    data = base64.b64decode(raw + "=" * (-len(raw) % 4))
    return data.decode("utf-16-le" if b"\0" in data[:4] else "utf-8")


def _replaced(text: str, old: str, new: str) -> str | None:
    """None where what comes out would be much longer than any program."""
    grown = len(text) + text.count(old) * (len(new) - len(old))
    return text.replace(old, new) if grown <= MAX_TEXT else None


TEXT_KINDS: dict[str, Callable[[list[str]], str | None]] = {
    "b64": _b64,
    "hex": lambda texts: bytes.fromhex(texts[0]).decode("utf-8"),
    "rot13": lambda texts: codecs.decode(texts[0], "rot13"),
    "codec": lambda texts: (
        codecs.decode(texts[0], "rot13") if "rot" in texts[-1] else _b64(texts) if "64" in texts[-1] else None
    ),
    "text": lambda texts: texts[0],
    "reverse": lambda texts: texts[0][::-1],
    "lower": lambda texts: texts[0].lower(),
    "upper": lambda texts: texts[0].upper(),
    "strip": lambda texts: texts[0].strip(*texts[1:2]),
    "lstrip": lambda texts: texts[0].lstrip(*texts[1:2]),
    "rstrip": lambda texts: texts[0].rstrip(*texts[1:2]),
    "replace": lambda texts: _replaced(texts[0], texts[1], texts[2]),
    "replace_in": lambda texts: _replaced(texts[2], texts[0], texts[1]),
    "unquote": lambda texts: unquote(texts[0]),
    "concat": "".join,
    "text_join": lambda texts: posixpath.join(*texts),
    "slash_join": lambda texts: posixpath.normpath("/".join(filter(None, texts))),
    "windows_join": lambda texts: ntpath.join(*texts),
    "dirname": lambda texts: posixpath.dirname(texts[0]),
    "basename": lambda texts: posixpath.basename(texts[0]),
    "windows_basename": lambda texts: ntpath.basename(texts[0].rstrip("\\/")),
    "windows_stem": lambda texts: ntpath.splitext(ntpath.basename(texts[0]))[0],
    "windows_extension": lambda texts: ntpath.splitext(texts[0])[1],
    "windows_dirname": lambda texts: ntpath.dirname(texts[0]) or ".",
    "normpath": lambda texts: posixpath.normpath(texts[0]),
}
DECODING = frozenset({"b64", "hex", "rot13", "codec"})
