"""curl: the method follows from the options, the URL says where; data may come from a file (curl(1))."""

from __future__ import annotations

from collections.abc import Sequence

from classifiers.effects import Domain, Verb
from classifiers.knowledge.arguments import Hit
from classifiers.knowledge.model import Delegate
from classifiers.knowledge.reading import Handed, Reading, Told
from classifiers.knowledge.templates import host
from classifiers.knowledge.words import Word

_ENGINES = ("docker.sock", "podman.sock")  # their own API, whatever host the URL names
# Orders of FTP (RFC 959) and of curl's SFTP that change something there; true: something is lost.
_CHANGES: dict[str, bool | None] = {"dele": True, "rmd": True, "rm": True, "rmdir": True, "rnto": None, "rename": None}
_CHANGES |= dict.fromkeys(("mkd", "mkdir", "site", "chmod", "chown", "chgrp", "ln", "symlink", "stor", "appe"), False)
_HARMLESS = {"destructive": False, "reversibility": "read_only"}


def read(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    """Add data files read, then the request itself for the http surface."""
    parsed = reading.parsed
    hits = [h for h in parsed.hits if h.option is not None]
    for hit in hits:
        if hit.option is not None and hit.option.name == "data" and hit.value is not None:
            _data_file(reading, hit, hit.value)
    urls = [*parsed.operands, *parsed.words_of("--url")]
    method = _method(parsed.hits)
    engine = any(w.text.endswith(_ENGINES) for w in parsed.words_of("--unix-socket"))
    body = next((h.value for h in reversed(hits) if _is_data(h) and h.value is not None), None)
    for url in urls:
        _orders(reading, url)
        if parsed.given("-O", "--remote-name-all"):
            leaf = url.text.partition("?")[0].rstrip("/").rpartition("/")[2]
            folder = parsed.values().get("output-dir", "")
            reading.items.append(_wrote(f"{folder.rstrip('/')}/{leaf}" if folder and leaf else leaf, url))
        full = url.with_text(_asked(url.text, engine=engine))
        words_out = (full,) if body is None or body.text.startswith("@") else (full, body)
        way = "GET" if " " in method else method  # an FTP order, told above
        reading.items.append(Handed(Delegate("http", way), words_out, {}, url.span, ""))


def _asked(url: str, *, engine: bool) -> str:
    """The whole URL. Through the socket of a container engine the host's name means nothing: the engine answers."""
    if engine:
        rest = url.partition("://")[2] or url.removeprefix("http:/")
        return f"http://docker/{rest.partition('/')[2] if '://' in url else rest.lstrip('/')}"
    return url if "://" in url else "http://" + url


def _orders(reading: Reading, url: Word) -> None:
    """``-Q ORDER`` (and ``-X ORDER``) of an FTP or SFTP request: what removes or renames there."""
    if not url.text.startswith(("ftp://", "ftps://", "sftp://", "scp://")):
        return
    quoting = {"-Q", "--quote", "--postquote", "--prequote", "-X", "--request"}
    for hit in reading.parsed.hits:
        if hit.spelling in quoting and hit.value is not None:
            order = hit.value.text.lstrip("-+*").partition(" ")[0].lower()
            if order in _CHANGES:
                lost = _CHANGES[order]
                fields = {"destructive": lost, "reversibility": "irreversible" if lost else "unknown"}
                reading.items.append(Told(Verb.SEND, Domain.NETWORK, host(url.text), fields, hit.value.span))


def _wrote(leaf: str, url: Word) -> Told:
    fields = {"destructive": None, "reversibility": "unknown", "tags": ["overwrite"]}
    return Told(Verb.MODIFY, Domain.FILESYSTEM, leaf or None, fields, url.span, url)


def _is_data(hit: Hit) -> bool:
    return hit.option is not None and (hit.option.name == "data" or hit.spelling in {"--data-raw", "--form-string"})


def _method(hits: Sequence[Hit]) -> str:
    for hit in reversed(hits):
        if hit.spelling in {"-X", "--request"} and hit.value is not None:
            return hit.value.text.upper()
    spelled = {h.spelling for h in hits}
    if spelled & {"-T", "--upload-file"}:
        return "PUT"
    if spelled & {"-G", "--get"}:
        return "GET"
    if spelled & {"-I", "--head"}:
        return "HEAD"
    return "POST" if any(_is_data(h) for h in hits) else "GET"


def _data_file(reading: Reading, hit: Hit, value: Word) -> None:
    """``-d @file``, ``--data-urlencode name@file``, ``-F name=@file`` and ``name=<file``."""
    text = value.text
    if hit.spelling in {"-F", "--form"}:
        rest = text.partition("=")[2]
        file = rest[1:].partition(";")[0] if rest[:1] in {"@", "<"} else ""
    elif hit.spelling == "--data-urlencode":
        file = text.partition("@")[2] if "=" not in text.partition("@")[0] else ""
    else:
        file = text[1:] if text.startswith("@") else ""
    for part in file.split(",") if hit.spelling in {"-F", "--form"} else [file]:  # -F name=@a,b sends both
        if not part or part == "-":
            continue
        current = value.with_text(part.strip("\"'"))
        reading.items.append(Told(Verb.READ, Domain.FILESYSTEM, current.text, _HARMLESS, value.span, current))


SPECIAL = ("curl", read)
