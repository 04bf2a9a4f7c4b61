"""Readers of PowerShell's own calls: web cmdlets, processes, objects, modules, WMI; and native programs."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.code.handing import role_of
from classifiers.code.library import Known
from classifiers.code.values import Value, constant, hole
from classifiers.effects import Condition, Domain, Effect, FlowKind, OpaqueReason, Reversibility, Tag, Verb
from classifiers.gather import Gather, tagged
from classifiers.http import is_unread, request_effects
from classifiers.paths import located
from classifiers.windows.places import placed
from classifiers.windows.powershell_line import Place
from classifiers.windows.programs import run_program

if TYPE_CHECKING:
    from classifiers.code.calls import Site


def web(site: Site, known: Known, method: str = "") -> Value | None:
    """A request, and the file it is saved to."""
    url, verb, body = (role_of(site, known, role) for role in ("url", "verb", "body"))
    out, reader = site.reader.out, site.reader
    if known.roles.get("maybe") and (url is None or not re.match(r"https?:", url.text or "")):
        if url is not None and re.search(r"[\\/]|\.\w{2,4}$", url.text or ""):
            out.put(file_effect(site, url, Verb.READ), site.span)
        return None
    sent = role_of(site, known, "infile")
    source = None if sent is None else out.put(file_effect(site, sent, Verb.READ), site.span)
    asks = "verb" in known.roles and body is not None and isinstance(body.data, dict) and "form" not in site.named
    usual = "POST" if body is not None and not asks else "GET"  # a table is the query of a request that has no method
    method = method or (verb.text if verb is not None else None) or usual
    text = "?" if url is None else url.text if url.text is not None else url.shape or url.raw or "?"
    text = f"{known.roles['base']}{text}" if text.startswith("/") and "base" in known.roles else text
    given = body.data if body is not None and body.known else None
    if is_unread(method, text, given):
        out.hide(OpaqueReason.PAYLOAD_UNREADABLE, site.span, "what the request has run is not read")
    for effect in request_effects(method, text, given, reader.context):
        sink = out.put(effect, site.span)
        if source is not None and out.effects[source].domain is Domain.SECRETS:
            out.effects[sink] = tagged(out.effects[sink], Tag.EXFILTRATION)
            out.flow(FlowKind.EXFILTRATION, source, sink)
    saved = role_of(site, known, "outfile")
    if saved is not None:
        out.put(file_effect(site, saved, Verb.MODIFY), site.span)
    return Value(raw=site.raw, taint=site.taint, ref=known.returns)


def bits(site: Site, known: Known) -> Value | None:
    """A transfer by BITS: what is uploaded is read here and sent there."""
    kind, there = role_of(site, known, "kind"), role_of(site, known, "outfile")
    up = (kind is not None and (kind.text or "").lower().startswith("upload")) or (
        there is not None and re.match(r"https?:", there.text or "") is not None
    )
    swapped = {"url": known.roles["outfile"], "infile": known.roles["url"]}
    if up:
        return web(site, replace(known, roles=swapped), "PUT")
    source, plain = role_of(site, known, "url"), replace(known, roles={"url": "source", "outfile": "destination"})
    places = there.members if there is not None else []
    for i, one in enumerate(source.members if source is not None else [Value(raw=site.raw)]):
        own = re.search(r"//[^?#]*/([^/?#]+)", one.text or "")
        place = places[min(i, len(places) - 1)] if places else constant(own[1] if own is not None else ".")
        web(replace(site, args=[], named={"source": one, "destination": place}), plain)
    return Value(raw=site.raw, taint=site.taint)


def remote(site: Site, known: Known) -> Value | None:
    """Invoke-Command: on the machines that are named, or here; its block is read where it is handed on."""
    machine, first = role_of(site, known, "machine"), role_of(site, known, "first")
    block(site, known)
    if machine is None and first is not None and first.function is None and role_of(site, known, "block") is not None:
        machine = first  # ``icm web1 { … }``
    if machine is None:
        return None
    for item in machine.members[:24]:
        text = item.text
        raw = None if text else machine.raw or "?"
        site.reader.out.add(Domain.NETWORK, Verb.EXECUTE, text, target_raw=raw, span=site.span)
    return None


def block(site: Site, known: Known) -> Value | None:
    """A block that is handed on is read there; what stands for one and is not known is not."""
    given = role_of(site, known, "block")
    if given is not None and given.function is None and given.raw.startswith(("$", "(", "[")):
        site.reader.out.add(Domain.CODE, Verb.EXECUTE, target_raw=given.raw, span=site.span, destructive=None)
        site.reader.out.hide(OpaqueReason.DYNAMIC_COMMAND, site.span, site.raw)
    return Value(raw=site.raw, taint=site.taint)


_WRITING = re.compile(r"create|append|truncate|write")


def opened(site: Site, known: Known) -> Value | None:
    """A file stream: how it is opened says whether it is read or written."""
    path, mode, access = (role_of(site, known, role) for role in ("path", "mode", "access"))
    if path is None or path.ref:  # over a handle
        return Value(ref="[io.stream]", raw=site.raw, taint=site.taint)
    how = " ".join((v.text or v.ref or v.raw).rpartition(":")[2].lower() for v in (mode, access) if v is not None)
    reads = access is not None and how.rpartition(" ")[2].rpartition(".")[2] == "read"
    effect = file_effect(site, path, Verb.READ if reads else Verb.MODIFY)
    if not reads and _WRITING.search(how) is None:
        effect = replace(effect, destructive=None)
    made = site.reader.out.put(effect, site.span)
    return Value(ref="[io.stream]", raw=site.raw, taint=site.taint | {made})


def file_effect(site: Site, path: Value, verb: Verb) -> Effect:
    effect = Effect(Domain.FILESYSTEM, verb, path.text, destructive=None if verb is Verb.MODIFY else False)
    if verb is Verb.READ:
        effect = replace(effect, reversibility=Reversibility.READ_ONLY)
    if path.text:
        return placed(located(effect, site.reader.context))
    return placed(replace(effect, target_raw=path.shape or path.raw or "?"))


def process(site: Site, known: Known) -> Value | None:
    """Start-Process and its like: a program and its arguments as one text or a list."""
    command, args = role_of(site, known, "command"), role_of(site, known, "args")
    if command is None:
        if known.roles.get("held"):  # the program stands in the object's own settings
            native(site, [None])
        return None
    words: list[str | None] = [text_of(command)]
    if args is not None and args.known and isinstance(args.data, list):
        words += [text_of(v) for v in args.data]
    elif args is not None:
        text = text_of(args)
        words += re.findall(r'(?:"[^"]*"?|[^\s"])+', text) if text is not None else [None]
    elif words[0] is not None and known.roles.get("surface"):
        words = [*re.findall(r'(?:"[^"]*"?|[^\s"])+', words[0])]
    words = [w.strip('"') if w is not None else None for w in words]
    native(site, words, known.roles.get("condition"))
    return Value(raw=site.raw, taint=site.taint)


def native(site: Site, words: list[str | None], condition: str | None = None) -> None:
    """A program that is no cmdlet; under a condition when it is one that runs later."""
    out = site.reader.out
    inner = Gather(out.surface, at=out.at, deadline=out.deadline) if condition else out
    run_program(words, place_of(site), inner)
    if condition:
        out.absorb(inner.action(), span=site.span, condition=Condition(condition))


def command_words(site: Site) -> list[str | None]:
    return [text_of(site.reader.value(word)) for word in site.words]


_STREAMS = frozenset({"[io.streamwriter]", "[io.streamreader]"})


def new_object(site: Site, known: Known) -> Value | None:
    """The type decides what its methods do; some types act when they are made."""
    kind, com = role_of(site, known, "type"), role_of(site, known, "com")
    if com is not None:
        name = (com.text or "*").lower()
        return Value(ref=f"com:{name}", raw=site.raw, taint=site.taint)
    text = kind.text if kind is not None else None
    if text is None:
        site.reader.out.hide(OpaqueReason.DYNAMIC_COMMAND, site.span, site.raw)
        return None
    args = role_of(site, known, "args")
    name = f"[{text.lower().removeprefix('system.')}]"
    if not site.reader.library.knows_module(name) and site.reader.library.call(name) is None:
        return Value(ref=name.strip("[]"), raw=site.raw, taint=site.taint)  # only what any object can do is known
    given = args.data if args is not None and args.known and isinstance(args.data, list) else [args] if args else []
    over = name in _STREAMS and (not given or given[0].text is None)  # over a stream, that is no file
    if site.reader.library.call(name) is not None and not over:
        made = site.reader.call_library(name, [v for v in given if isinstance(v, Value)], site.span)
        return made if made.ref else Value(ref=name, raw=site.raw, taint=site.taint)
    return Value(ref=name, raw=site.raw, taint=site.taint)


def imported(site: Site, known: Known) -> Value | None:
    """A module by name is the machine's; by path it is code we have not read."""
    name = role_of(site, known, "name")
    text = name.text if name is not None else None
    if (
        text is not None
        and re.fullmatch(r"[\w.*-]+", text)
        and not text.lower().endswith((".ps1", ".psm1", ".dll", ".psd1"))
    ):
        return None
    raw = None if text else (name.raw if name is not None else "?")
    site.reader.out.add(Domain.CODE, Verb.EXECUTE, text, target_raw=raw, span=site.span, destructive=None)
    site.reader.out.hide(OpaqueReason.PAYLOAD_UNREADABLE, site.span, site.raw)
    return None


_PLATFORM = re.compile(r"(?:system|microsoft|presentation\w*|windowsbase|mscorlib)\b", re.IGNORECASE)


def add_type(site: Site, known: Known) -> Value | None:
    """Assemblies of the platform do nothing when they are loaded; source and other assemblies are not read."""
    name, path, code = (role_of(site, known, role) for role in ("name", "path", "code"))
    names = name.data if name is not None and isinstance(name.data, list) else [name] if name is not None else []
    if names and path is None and all(_PLATFORM.match(n.text or "") for n in names if isinstance(n, Value)):
        return None
    target = path.text if path is not None else name.text if name is not None else None
    raw = None if target else (code.raw if code is not None else "?")
    site.reader.out.add(Domain.CODE, Verb.EXECUTE, target, target_raw=raw, span=site.span, destructive=None)
    site.reader.out.hide(OpaqueReason.PAYLOAD_UNREADABLE, site.span, site.raw)
    return None


def place_of(site: Site) -> Place:
    return Place(site.span, site.reader.context, len(site.reader.reading) + site.reader.depth)


def text_of(value: Value) -> str | None:
    """A word as it is written: a number too; a text with unknown parts keeps what is known, ``$x`` for the rest."""
    if value.known and isinstance(value.data, int) and not isinstance(value.data, bool):
        return str(value.data)
    if value.text is not None:
        return value.text
    return value.shape or (hole(value) if value.raw.startswith("$") else None)
