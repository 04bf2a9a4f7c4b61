"""Calls whose value decides how grave they are: file modes and environment variables.

In: the call and its table entry (``with:`` names the arguments). Out: no value; a set-user-id mode adds a grant, a
variable through which programs load code gets its tags. Sources: chmod(2); ``shell.hooks`` for the variables.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from classifiers.code.ir import Function
from classifiers.code.library import Known
from classifiers.code.values import Value, constant
from classifiers.effects import Domain, Privilege, Tag, Verb
from classifiers.gather import tagged
from classifiers.shell import hooks

if TYPE_CHECKING:
    from classifiers.code.calls import Site

_SET_ID = 0o6000
_WRITTEN = re.compile(r"(?<![\w.])0?o?[2-7][0-7]{3}(?![\w.])|S_IS[UG]ID|[ug]*[+=][rwxt]*s")


def mode(site: Site, known: Known) -> Value | None:
    """``chmod``: set-user-id or set-group-id in the mode gives whoever runs the file its owner's rights."""
    given = site.argument(known.roles.get("mode", "1"))
    number = given.data if given is not None and given.known and isinstance(given.data, int) else None
    text = (given.text or given.raw or site.raw) if given is not None else site.raw
    if bool(number & _SET_ID) if number is not None else _WRITTEN.search(text) is not None:
        site.reader.out.add(Domain.IDENTITY, Verb.GRANT, "setuid", span=site.span, privilege=Privilege.SETUID)
    return None


_BODY = ("CURLOPT_POSTFIELDS", "CURLOPT_INFILE", "CURLOPT_READDATA", "CURLOPT_MIMEPOST")
# Options that choose a method, and which (PHP manual, curl_setopt).
_METHODS = {"CURLOPT_NOBODY": "HEAD", "CURLOPT_UPLOAD": "PUT", "CURLOPT_PUT": "PUT", "CURLOPT_POST": "POST"}


def curl_handle(site: Site, _known: Known) -> Value:
    """PHP's ``curl_init``: a transfer that is described option by option and made by ``curl_exec``."""
    url = site.argument(0)
    return Value(ref="curl", raw=site.raw, data={} if url is None else {"CURLOPT_URL": url}, taint=site.taint)


def curl_option(site: Site, _known: Known) -> Value | None:
    """``curl_setopt($c, CURLOPT_POSTFIELDS, …)``, or several at once."""
    handle, option, value = (site.argument(i) for i in range(3))
    options = handle.data if handle is not None and handle.ref == "curl" else None
    if option is None or not isinstance(options, dict):
        return None
    given = option.data if isinstance(option.data, dict) else {option.ref or option.raw: value or Value()}
    options.update(given)
    return None


def curl_made(site: Site, known: Known) -> Value:
    """``curl_exec($c)``: the request itself, a library call of its own with URL, method and body."""
    handle = site.argument(known.roles.get("handle", "0"))
    options = handle.data if handle is not None and handle.ref == "curl" and isinstance(handle.data, dict) else {}
    body = next((options[name] for name in _BODY if name in options), Value())
    chosen = next((m for name, m in _METHODS.items() if name in options and options[name].data is not False), "GET")
    if chosen == "GET" and any(name in options for name in _BODY):
        chosen = "POST"
    method = options.get("CURLOPT_CUSTOMREQUEST", constant(chosen))
    return site.reader.call_library("curl.request", [options.get("CURLOPT_URL", Value()), method, body], site.span)


def hook(site: Site, _known: Known) -> Value | None:
    """A function put where the run-time calls it (``sys.excepthook = f``), or in a built-in's place."""
    name, value = site.argument(0), site.argument(1)
    if value is None:
        return None
    if isinstance(value.function, Function):
        site.reader.enter(value.function, [])
    if name is not None and name.text is not None and "builtins" in site.func.ref:
        site.reader.scopes[0][name.text] = value
    return None


def setting(site: Site, known: Known) -> Value | None:
    """An environment variable is set: ``name`` and ``value``, or one ``NAME=value``."""
    name, value = (site.argument(known.roles.get(role, i)) for i, role in enumerate(("name", "value")))
    text = name.text if name is not None else None
    if text is None:
        site.reader.out.add(Domain.ENVIRONMENT, Verb.MODIFY, None, span=site.span, target_raw=site.raw)
        return None
    label, eq, rest = text.partition("=")
    given = rest if eq else value.text if value is not None else None
    out = site.reader.out
    index = out.add(Domain.ENVIRONMENT, Verb.MODIFY, f"env:{label}", span=site.span)
    tags = [*hooks.tags(label, given)]
    if given and (hooks.loads_code(label, given) or hooks.is_command(label, given)):
        tags.append("defense_evasion")
    out.effects[index] = tagged(out.effects[index], *map(Tag, tags))
    return None
