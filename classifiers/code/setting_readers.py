"""Calls whose value decides how grave they are: file modes and environment variables.

In: the call and its table entry (``with:`` names the arguments). Out: no value; a set-user-id mode adds a grant, a
variable through which programs load code gets its tags. Sources: chmod(2); ``shell.hooks`` for the variables.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from classifiers.code.ir import Function
from classifiers.code.library import Known
from classifiers.code.values import Value
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


_BODY = frozenset({"CURLOPT_POSTFIELDS", "CURLOPT_INFILE", "CURLOPT_READDATA", "CURLOPT_UPLOAD", "CURLOPT_MIMEPOST"})


def curl_option(site: Site, _known: Known) -> Value | None:
    """PHP's ``curl_setopt($c, CURLOPT_POSTFIELDS, …)``: the transfer ``curl_init`` began now carries this away."""
    handle, option = site.argument(0), site.argument(1)
    if handle is not None and option is not None and (option.raw or option.ref) in _BODY:
        sent = [i for i in sorted(handle.taint) if site.reader.out.effects[i].domain is Domain.NETWORK]
        host = site.reader.out.effects[sent[0]].target if sent else None
        site.reader.out.add(Domain.NETWORK, Verb.SEND, host, span=site.span)
    return None


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
