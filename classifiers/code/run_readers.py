"""Calls that run something: shell text, argument vectors, code, SQL, an HTTP request, a socket."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.address import address
from classifiers.code.feeding import fed, written_later
from classifiers.code.handing import literal_words, role_of, spelled, to_surface
from classifiers.code.library import Known
from classifiers.code.values import Value, constant, hole
from classifiers.effects import Domain, OpaqueReason, Verb
from classifiers.gather import decoded
from classifiers.http import is_unread, request_effects
from classifiers.paths import canonical
from classifiers.sql import classify_sql, looks_like_sql

if TYPE_CHECKING:
    from classifiers.code.calls import Site


def shell(site: Site, known: Known) -> Value | None:
    """A command as text, or as a vector, in the folder ``cwd`` names."""
    context, folder = site.reader.context, site.argument("cwd|chdir")
    if folder is None or (folder.known and not folder.text):
        return _shell(site, known)
    cwd = canonical(folder.text, context.cwd, context.home) if folder.text is not None else None
    site.reader.context = replace(context, cwd=cwd)
    try:
        return _shell(site, known)
    finally:
        site.reader.context = context


def _shell(site: Site, known: Known) -> Value | None:
    command = role_of(site, known, "command")
    if command is None:
        return None
    args = role_of(site, known, "args")
    words = literal_words(command)
    if words is None and args is not None and command.text is not None and not isinstance(args.data, dict):
        head, rest = command.text, literal_words(args)
        if rest is None and not (args.known and not args.data) and args.function is None:  # words nobody knows
            given = spelled(args) or f'"{hole(args)}"'
            return to_surface(site, "shell", {"command": f"{shlex.quote(head)} {given}"}, command)
        words = [head, *(rest or [])]
    program = role_of(site, known, "program")  # what is started, whatever name it is given
    if words is not None and program is not None and "/" in (program.text or ""):
        words = [program.text or "", *words[1:]]
    if words is not None:
        started = fed(site, known, words)
        return started or written_later(site, known, words, to_surface(site, "shell", {"argv": words}, command))
    text = command.text if command.text is not None else command.shape or spelled(command)
    if text == "":
        return None
    if text is not None and text.strip() and not text.lstrip().startswith("$"):
        started = fed(site, known, text)
        surface = known.roles.get("surface", "shell")
        return started or written_later(site, known, text, to_surface(site, surface, {"command": text}, command))
    out = site.reader.out
    told = out.add(Domain.PROCESS, Verb.EXECUTE, target_raw=command.raw or "?", span=site.span, destructive=None)
    out.hide(OpaqueReason.DYNAMIC_COMMAND, site.span, site.raw)
    if command.decoded:
        decoded(out, told)
    return None


def request(site: Site, known: Known) -> Value | None:
    """A request made now and sent later: the value holds its address, method and body."""
    method, body = role_of(site, known, "verb"), role_of(site, known, "body")
    if (fixed := known.roles.get("method")) is not None:
        method = constant(fixed)
    url = role_of(site, known, "url")
    kept = {"url": url or Value(), "method": method or Value(), "body": body or Value()}
    return Value(ref="Request", raw=site.raw, taint=site.taint, data=kept if body or method else url and url.text)


def words(site: Site, known: Known) -> Value | None:
    """``system("rm", "-r", "x")``: one argument is shell text, several are a vector."""
    given = [a for a in site.args if a.function is None]  # not Ruby's block
    if given and isinstance(given[-1].data, dict):
        given = given[:-1]
    if len(given) == 1:
        return shell(site, replace(known, roles={**known.roles, "command": "0"}))
    texts = [v.text for v in given]
    if given and None not in texts:
        vector = Value(known=True, data=given, raw=site.raw, decoded=any(v.decoded for v in given))
        return shell(
            replace(site, args=[vector, *site.args[len(given) :]]),
            replace(known, roles={**known.roles, "command": "0"}),
        )
    site.reader.out.add(
        Domain.PROCESS, Verb.EXECUTE, given[0].text if given else None, span=site.span, destructive=None
    )
    site.reader.out.hide(OpaqueReason.DYNAMIC_COMMAND, site.span, site.raw)
    return None


def code(site: Site, known: Known) -> Value | None:
    """eval, exec and their like: text that is known is read, other text is not."""
    text = role_of(site, known, "code")
    out = site.reader.out
    if text is None:
        return None
    if text.function is not None or (text.text is None and known.roles.get("maybe")):
        return None
    if text.text is None:
        told = out.add(Domain.CODE, Verb.EXECUTE, span=site.span, destructive=None)
        out.hide(OpaqueReason.PAYLOAD_UNREADABLE, site.span, site.raw)
        if text.decoded:
            decoded(out, told)
        return None
    language = known.roles.get("language", site.reader.language)
    return to_surface(site, "code", {"code": text.text, "language": language}, text)


def sql(site: Site, known: Known) -> Value | None:
    text = role_of(site, known, "sql")
    out = site.reader.out
    if text is None:
        return None
    statement = text.text if text.text is not None else (text.shape or "").replace("$", "p_")
    if not statement.strip():
        out.add(Domain.DATABASE, Verb.UNKNOWN, span=site.span, destructive=None)
        out.hide(OpaqueReason.PAYLOAD_UNREADABLE, site.span, site.raw)
        return None
    if known.roles.get("maybe") and not looks_like_sql(statement):
        return None
    own = site.own
    engine = known.roles.get("engine")
    host, database = (None, own.text) if engine == "sqlite" else _server(own.text) if engine else (None, None)
    if "server" in known.roles:  # named beside the statement, or by nobody
        told = [role_of(site, known, role) for role in ("server", "database")]
        host, database = (None if value is None else value.text for value in told)
    out.absorb(classify_sql(statement, engine, host, database, site.reader.context), span=site.span)
    return None


def _server(given: str | None) -> tuple[str | None, str | None]:
    """Host and database of what a client was made with: a URL, libpq's ``host=… dbname=…``, or a host."""
    text = given or ""
    if "://" in text:
        where = address(text)
        return (None, None) if where is None else (where.name or None, where.path.strip("/") or None)
    if "=" in text:
        pairs = dict(pair.partition("=")[::2] for pair in text.split() if "=" in pair)
        return pairs.get("host"), pairs.get("dbname")
    return text or None, None


_WEB = re.compile(r"https?://", re.IGNORECASE)


def http(site: Site, known: Known) -> Value | None:
    """One request: the method is fixed by the name called, or an argument."""
    url = role_of(site, known, "url")
    maybe = known.roles.get("maybe")  # only of a request made before; ``url``: or of an address
    addressed = maybe == "url" and url is not None and _WEB.match(url.text or url.shape or "") is not None
    if maybe and not addressed and (url is None or url.ref != "Request"):
        return None
    method = known.roles.get("method", "GET")
    named = role_of(site, known, "verb")
    if named is not None:
        method = named.text or "$METHOD"
    body = next((v for v in (role_of(site, known, r) for r in ("body", "json", "files")) if v is not None), None)
    if body is not None and "method" not in known.roles and named is None:
        method = "POST"
    if url is not None and isinstance(url.data, dict) and url.ref == "Request":
        kept = url.data
        method = kept["method"].text or ("POST" if kept["body"].raw or kept["body"].known else method)
        body, url = (kept["body"] if kept["body"].known else body), kept["url"]
    elif url is not None and url.text is None and url.ref == "Request":
        url = Value(known=True, data=url.data, raw=url.raw) if isinstance(url.data, str) else url
    if url is not None and isinstance(url.data, dict) and url.ref != "Request":
        url = _of_options(url, site)
    text = "?" if url is None else url.text if url.text is not None else url.shape or url.raw or "?"
    base = site.func.data
    if isinstance(base, str) and base and "://" not in text:  # a client made for one address
        text = f"{base if '://' in base else 'https://' + base}/{text.lstrip('/')}"
    context = site.reader.context
    given = body.data if body is not None and body.known else None
    for effect in request_effects(method, text, given, context):
        site.reader.out.put(effect, site.span)
    if is_unread(method, text, given):
        site.reader.out.hide(OpaqueReason.PAYLOAD_UNREADABLE, site.span, site.raw)
    if method == "$METHOD":
        site.reader.out.hide(OpaqueReason.DYNAMIC_COMMAND, site.span, site.raw)
    returns = known.returns
    return Value(ref=returns, raw=site.raw, taint=site.taint) if returns else None


def _of_options(given: Value, site: Site) -> Value:
    """Node's ``https.request({hostname, port, path, method}, …)``: the address in parts."""
    part = {key: v.text or (str(v.data) if v.known else "") for key, v in given.data.items() if isinstance(v, Value)}
    host = part.get("hostname") or part.get("host")
    if not host:
        return given
    scheme = "http" if site.func.ref.startswith("http.") else "https"
    port = f":{part['port']}" if part.get("port") and part["port"] not in {"80", "443"} else ""
    path = part.get("path") or part.get("pathname") or "/"
    return Value(known=True, data=f"{scheme}://{host.removesuffix(port)}{port}{path}", raw=given.raw, taint=given.taint)


def connect(site: Site, known: Known) -> Value | None:
    """A socket to ``(host, port)``."""
    address = role_of(site, known, "address")
    parts = address.data if address is not None and address.known and isinstance(address.data, list) else None
    if parts is None and known.roles.get("maybe"):
        return None
    host = None
    if parts and isinstance(parts[0], Value) and parts[0].text:
        port = parts[1].data if len(parts) > 1 and parts[1].known else None
        host = f"{parts[0].text}:{port}" if isinstance(port, int) else parts[0].text
    raw = None if host else (address.raw if address is not None else None)
    if known.roles.get("does") == "execute":  # a session whose commands follow
        host = (host and host.rpartition(":")[0]) or host
        site.reader.out.add(Domain.NETWORK, Verb.EXECUTE, host, target_raw=raw, span=site.span)
    else:
        site.reader.out.add(Domain.NETWORK, Verb.SEND, host, target_raw=raw, span=site.span, destructive=None)
    return Value(ref=known.returns, raw=site.raw, taint=site.taint) if known.returns else None


def pip(site: Site, _known: Known) -> Value | None:
    """pip called as a function: the list is its command line."""
    given = literal_words(site.args[0]) if site.args else None
    if given is not None:
        return to_surface(site, "shell", {"argv": ["pip", *given]}, site.args[0])
    return None
