"""Calls that name files: open with a mode, load and save by name, change of directory."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.code.feeding import PIPE
from classifiers.code.handing import role_of
from classifiers.code.library import Known
from classifiers.code.run_readers import http, shell, words
from classifiers.code.values import Value, constant
from classifiers.effects import Domain, Effect, OpaqueReason, Reversibility, Verb
from classifiers.paths import canonical, is_stream, located

if TYPE_CHECKING:
    from classifiers.code.calls import Site

_REVERSIBLE = {
    Verb.READ: Reversibility.READ_ONLY,
    Verb.CREATE: Reversibility.REVERSIBLE,
    Verb.MODIFY: Reversibility.UNKNOWN,
}


def file(site: Site, known: Known) -> Value | None:
    """open(path, mode): the mode says what happens to what is there."""
    path, mode = role_of(site, known, "path"), role_of(site, known, "mode")
    flags = mode.text if mode is not None else known.roles.get("default", "r")
    if flags in {"-|", "|-"}:  # perl: a pipe from or to a command, its words after the mode
        named = {**site.named, "stdin": PIPE} if flags == "|-" else site.named
        return words(replace(site, args=site.args[2:], named=named), replace(known, roles={}))
    flags = None if flags is None else flags.partition(":")[0].partition("|")[0]  # tarfile's "w:gz"
    out, context = site.reader.out, site.reader.context
    if path is None or (path.known and not isinstance(path.data, str | bytes)):
        return Value(ref=known.returns or "file", raw=site.raw)
    if flags is None and mode is not None and "O_" in mode.raw:
        flags = _of_constants(mode.raw)
    if path.text is not None and path is mode and (given := _IN_NAME.fullmatch(path.text)):
        flags, path = given[1], replace(path, data=given[2])  # perl's open(F, ">name")
    if flags is None:
        out.hide(OpaqueReason.PAYLOAD_UNREADABLE, site.span, site.raw)
        flags = "r+"
    if path.text is not None and (is_stream(path.text) or path.text.startswith((">&", "<&"))):
        return Value(ref=known.returns or "file", raw=site.raw)
    if (path.text is not None and path.text.startswith(("|", "-|"))) or (path.text or "").endswith("|"):
        writes = (path.text or "").startswith("|")  # perl's open(F, "|command")
        named = {**site.named, "stdin": PIPE} if writes else site.named
        command = replace(path, data=(path.text or "").removeprefix("-").strip("| "))
        return shell(replace(site, args=[command], named=named), replace(known, roles={"command": "0"}))
    for verb, destructive in _modes(flags):
        effect = Effect(
            Domain.FILESYSTEM,
            verb,
            path.text,
            None if path.text is not None else path.raw or site.raw,
            destructive,
            _REVERSIBLE[verb],
        )
        out.put(located(effect, context) if path.text is not None else effect, site.span)
    return Value(ref=known.returns or "file", raw=site.raw, taint=site.taint, data=path.text)


def piped(site: Site, known: Known) -> Value | None:
    """Ruby's ``IO.read("|command")``: a name that begins with a pipe is a command."""
    path = role_of(site, known, "path")
    if path is None or path.text is None or not path.text.startswith("|"):
        return None
    command = replace(path, data=path.text[1:])
    return shell(replace(site, args=[command, *site.args[1:]]), replace(known, roles={"command": "0"}))


def load(site: Site, known: Known) -> Value | None:
    """A file or a URL by name, as data libraries take either."""
    path = role_of(site, known, "path")
    if path is None or (path.known and path.text is None) or path.ref in {"file", "Response"}:
        return None
    if re.match(r"\w+://", path.text if path.text is not None else path.shape or ""):
        return _requested(site, known)
    _opened(site, known, "r")
    return Value(ref=known.returns, raw=site.raw, taint=site.taint)


def _opened(site: Site, known: Known, mode: str) -> Value | None:
    """``file`` in one mode, whatever else the call is given."""
    return file(site, replace(known, roles={"path": known.roles["path"], "default": mode}))


def _requested(site: Site, known: Known) -> Value | None:
    """PHP's ``file_get_contents($url, false, $context)``: the context may say another method than GET, and a body."""
    context = role_of(site, known, "context")
    options = context.data.get("http") if context is not None and isinstance(context.data, dict) else None
    said = options.data if isinstance(options, Value) and isinstance(options.data, dict) else {}
    named = {**site.named, "method": said.get("method", constant("GET")), "body": said.get("content", Value())}
    roles = {"verb": "method", "url": known.roles["path"], "body": "body"}
    return http(replace(site, named=named), replace(known, roles=roles))


def written(site: Site, known: Known) -> Value | None:
    """A file written whole, unless a flag says that what is written comes after what is there."""
    flags = role_of(site, known, "flags")
    said = "" if flags is None else flags.text or flags.raw
    adds = said.startswith("a") or "APPEND" in said
    _opened(site, known, "a" if adds else "w")
    return None


def written_if(site: Site, known: Known) -> Value | None:
    """PHP's ``$zip->open($path, ZipArchive::CREATE)``: a flag says whether the file is made or read."""
    flags = role_of(site, known, "flags")
    makes = flags is not None and any(word in flags.raw for word in ("CREATE", "OVERWRITE", "EXCL"))
    _opened(site, known, "w" if makes else "r")
    return None


def save(site: Site, known: Known) -> Value | None:
    """A file written whole; without a name the text is given back instead."""
    path = role_of(site, known, "path")
    if path is None or (path.known and path.text is None) or path.ref == "file":
        return None
    return _opened(site, known, "w")


_ARCHIVES = {
    "zip": ".zip",
    "tar": ".tar",
    "gztar": ".tar.gz",
    "bztar": ".tar.bz2",
    "xztar": ".tar.xz",
    "zstdtar": ".tar.zst",
}


def archived(site: Site, known: Known) -> Value | None:
    """Python's ``shutil.make_archive(name, "zip")``: the format says how the file's name ends, and it is the result."""
    path, kind = role_of(site, known, "path"), role_of(site, known, "format")
    if path is None or path.text is None:
        return _opened(site, known, "w")
    ending = _ARCHIVES.get(kind.text or "", ".*") if kind is not None else ".*"
    made = replace(path, data=path.text + ending)
    _opened(replace(site, named={**site.named, "path": made}), replace(known, roles={"path": "path"}), "w")
    return made


def own_file(site: Site, _known: Known) -> Value | None:
    """Ruby's ``x.delete``: only a Pathname or a Tempfile has one without an argument."""
    if site.args or site.named:
        if site.func.ref[:1].isupper():  # ``User.delete(3)``: of a class nobody has described
            site.reader.out.hide(OpaqueReason.DYNAMIC_COMMAND, site.span, site.raw)
        return None
    text = site.own.text
    raw = None if text is not None else site.own.raw or site.raw
    effect = Effect(Domain.FILESYSTEM, Verb.DELETE, text, raw, True, Reversibility.IRREVERSIBLE)
    site.reader.out.put(located(effect, site.reader.context) if text is not None else effect, site.span)
    return None


_PATH_METHODS = {"mkdir": Verb.CREATE, "touch": Verb.CREATE, "chmod": Verb.MODIFY, "symlink_to": Verb.CREATE}
_PATH_METHODS |= {"hardlink_to": Verb.CREATE, "rename": Verb.MODIFY}
_PATH_OPTIONS = frozenset({"parents", "exist_ok", "mode", "target_is_directory", "follow_symlinks"})


def own_path(site: Site, _known: Known) -> Value | None:
    """A method that only path objects have in this form, of an object nobody knows: ``found.rename(there)``."""
    name, own = site.func.ref.rpartition(".")[2], site.own
    wants = 0 if name in {"mkdir", "touch"} else 1
    plain = all(not isinstance(a.data, dict) and a.function is None for a in site.args)
    if len(site.args) != wants or not plain or not set(site.named) <= _PATH_OPTIONS or own.ref in {"file", "Response"}:
        return None
    told: list[tuple[Value, Verb, bool | None]] = [(own, _PATH_METHODS[name], False)]
    told += [(site.args[0], Verb.MODIFY, None)] if name == "rename" else []
    for one, action, lost in told:
        raw = None if one.text is not None else one.raw or site.raw
        effect = Effect(Domain.FILESYSTEM, action, one.text, raw, lost, _REVERSIBLE[action])
        site.reader.out.put(located(effect, site.reader.context) if one.text is not None else effect, site.span)
    return None


def own_open(site: Site, known: Known) -> Value | None:
    """``found.open("w")``: an object nobody knows that is opened with a mode of writing is a path."""
    mode = site.argument("0|mode")
    if mode is None or mode.text is None or re.fullmatch(r"[wax]b?t?\+?", mode.text) is None:
        return None
    return file(site, replace(known, roles={"path": "self", "mode": "0|mode"}))


def chdir(site: Site, known: Known) -> Value | None:
    """What follows is relative to there."""
    path = role_of(site, known, "path")
    reader = site.reader
    text = None if path is None else path.text
    cwd = None if text is None else canonical(text, reader.context.cwd, reader.context.home)
    reader.context = replace(reader.context, cwd=cwd)
    return None


_IN_NAME = re.compile(r"\s*(\+?[<>]{1,2})\s*([^\s&<>|].*)")


def _of_constants(names: str) -> str:
    """open(2)'s flags as a mode: ``O_WRONLY|O_TRUNC``. Without O_CREAT the file is there, so its content goes."""
    if "O_TRUNC" in names:
        return "w" if "O_CREAT" in names else "truncate"
    if "O_APPEND" in names:
        return "a"
    if "O_WRONLY" in names:
        return "x" if "O_EXCL" in names else "a"
    return "r+" if "O_RDWR" in names else "x" if "O_CREAT" in names else "r"


def _modes(flags: str) -> list[tuple[Verb, bool | None]]:
    if flags == "truncate":
        return [(Verb.MODIFY, True)]
    if flags.startswith((">>", "a")):
        return [(Verb.MODIFY, False)]
    if flags.startswith((">", "w")):
        return [(Verb.MODIFY, None)]
    if flags.startswith("x"):
        return [(Verb.CREATE, False)]
    if "+" in flags:
        return [(Verb.READ, False), (Verb.MODIFY, False)]
    return [(Verb.READ, False)]
