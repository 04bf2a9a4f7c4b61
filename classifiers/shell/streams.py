"""What a command prints, when that can be known: echo, printf, cat and the decoders people hide code behind.

In: the program, its words and its input. Out: the text, or None. Decoding is done once, on literals only.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import re
import zlib
from collections.abc import Callable, Sequence

from classifiers.shell.escapes import ansi_c

MAX_TEXT = 20_000
Print = Callable[[Sequence[str], str | None], str | None]


def printed(program: str, args: Sequence[str], stdin: str | None) -> str | None:
    """The text ``program args`` prints, or None when it is not a literal's transformation."""
    handler = _PRINTERS.get(program)
    if handler is None or (stdin is not None and len(stdin) > MAX_TEXT):
        return None
    try:
        out = handler(args, stdin)
    except (ValueError, binascii.Error, OSError, EOFError, IndexError, zlib.error):
        return None
    return out if out is None or len(out) <= MAX_TEXT else None


def decodes(program: str) -> bool:
    """Whether the program turns encoded text into other text."""
    return program in _DECODERS


def unpacks(program: str, words: Sequence[str]) -> bool:
    """Whether ``program`` was told to decode, whatever its input: what comes out may be code nobody saw."""
    options = _DECODE_OPTIONS.get(program)
    return options is not None and any(w in options or (w[:1] == "-" and w[1:2] != "-" and "d" in w) for w in words[1:])


_DECODE_OPTIONS = {
    "base64": frozenset({"-d", "-D", "--decode"}),
    "base32": frozenset({"-d", "--decode"}),
    "openssl": frozenset({"-d"}),
    "xxd": frozenset({"-r", "-rp", "-pr", "-ps"}),
}


def _echo(args: Sequence[str], _stdin: str | None) -> str | None:
    rest, newline, escapes = list(args), True, False
    while rest and re.fullmatch(r"-[neE]+", rest[0]):
        newline = newline and "n" not in rest[0]
        escapes = escapes or "e" in rest[0]
        rest.pop(0)
    text = " ".join(rest)
    return (ansi_c(text) if escapes else text) + ("\n" if newline else "")


_PERCENT = "\ue000"  # stands for ``%%`` until the values are in
_STOP = "\ue001"


def _printf(args: Sequence[str], _stdin: str | None) -> str | None:
    words = list(args)
    if words[:1] == ["--"]:
        words.pop(0)
    if not words or words[0] == "-v":
        return None
    form, values = ansi_c(words[0].replace("%%", _PERCENT)), words[1:]
    spec = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?([sbdqcx])")
    count = len(spec.findall(form))
    if count == 0:
        return form.replace(_PERCENT, "%")
    out, values = "", values or [""]
    while values:
        batch, values = values[:count], values[count:]
        batch += [""] * (count - len(batch))
        queue = iter(batch)
        out += spec.sub(lambda m: _escaped(next(queue)) if m[1] == "b" else next(queue), form)  # noqa: B023 - used at once
    return out.partition(_STOP)[0].replace(_PERCENT, "%")


def _escaped(value: str) -> str:
    r"""An argument of ``%b``: ``\c`` in it ends all that printf prints."""
    text, stop, _ = value.partition("\\c")
    return ansi_c(text) + (_STOP if stop else "")


def _cat(args: Sequence[str], stdin: str | None) -> str | None:
    if args == ["/dev/null"]:
        return ""
    return stdin if all(a == "-" or re.fullmatch(r"-[a-zA-Z]+", a) for a in args) else None


def _base64(args: Sequence[str], stdin: str | None) -> str | None:
    if stdin is None or any(not a.startswith("-") for a in args):
        return None
    if any(a in {"-d", "-D", "--decode", "-di", "-id"} for a in args):
        return base64.b64decode(re.sub(r"\s", "", stdin) + "==").decode("utf-8")
    return base64.b64encode(stdin.encode()).decode() + "\n"


def _base32(args: Sequence[str], stdin: str | None) -> str | None:
    return (
        base64.b32decode(re.sub(r"\s", "", stdin)).decode("utf-8") if stdin and {"-d", "--decode"} & set(args) else None
    )


def _openssl(args: Sequence[str], stdin: str | None) -> str | None:
    return (
        _base64(["-d"], stdin)
        if args[:1] in (["base64"], ["enc"]) and "-d" in args and "-k" not in args and "-in" not in args
        else None
    )


def _xxd(args: Sequence[str], stdin: str | None) -> str | None:
    if stdin is None or not any(a.startswith("-") and "r" in a for a in args):
        return None
    return bytes.fromhex(re.sub(r"[^0-9a-fA-F]", "", stdin)).decode("utf-8")


def _rev(args: Sequence[str], stdin: str | None) -> str | None:
    return None if stdin is None or args else "\n".join(line[::-1] for line in stdin.split("\n"))


def _tac(args: Sequence[str], stdin: str | None) -> str | None:
    return None if stdin is None or args else "".join(reversed(stdin.splitlines(keepends=True)))


def _gunzip(args: Sequence[str], stdin: str | None) -> str | None:  # noqa: ARG001 - one shape
    return None if stdin is None else gzip.decompress(stdin.encode("latin-1")).decode("utf-8")


def _tr(args: Sequence[str], stdin: str | None) -> str | None:
    words = [a for a in args if not re.fullmatch(r"-[cdsCt]+", a)]
    flags = "".join(a[1:] for a in args if re.fullmatch(r"-[cdsCt]+", a))
    if stdin is None or not words or "c" in flags.lower():
        return None
    source = _set(words[0])
    if "d" in flags:
        return "".join(c for c in stdin if c not in source)
    if len(words) < 2:
        return None
    goal = _set(words[1])
    if not goal:
        return None
    goal += goal[-1] * (len(source) - len(goal))
    return stdin.translate({ord(a): b for a, b in zip(source, goal, strict=False)})


_CLASSES = {
    "[:upper:]": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "[:lower:]": "abcdefghijklmnopqrstuvwxyz",
    "[:digit:]": "0123456789",
    "[:space:]": " \t\n\r\v\f",
}


def _set(text: str) -> str:
    """tr's sets: ranges, classes, escapes."""
    for name, members in _CLASSES.items():
        text = text.replace(name, members)
    text = ansi_c(text)
    return re.sub(r"(.)-(.)", lambda m: "".join(map(chr, range(ord(m[1]), ord(m[2]) + 1))), text, flags=re.DOTALL)


def _tee(_args: Sequence[str], stdin: str | None) -> str | None:
    return stdin


_PRINTERS: dict[str, Print] = {
    "echo": _echo, "printf": _printf, "cat": _cat, "base64": _base64, "base32": _base32, "openssl": _openssl,
    "xxd": _xxd,     "rev": _rev, "tac": _tac, "gunzip": _gunzip, "zcat": _gunzip, "tr": _tr, "tee": _tee,
    "true": lambda _a, _s: "", ":": lambda _a, _s: "", "tty": lambda _a, _s: "/dev/tty\n",
}  # fmt: skip
_DECODERS = frozenset({"base64", "base32", "openssl", "xxd", "rev", "tr", "gunzip", "zcat"})
