"""Calls that find code by name: members, modules, and the operations of cloud clients."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.code.aws_words import told_as_command
from classifiers.code.callables import callable_of
from classifiers.code.containers import loosen
from classifiers.code.ir import Class
from classifiers.code.library import Known
from classifiers.code.values import Partial, Value, unknown
from classifiers.code.ways import any_of
from classifiers.effects import Domain, OpaqueReason, Reversibility, Verb

if TYPE_CHECKING:
    from classifiers.code.calls import Site

# The first word of a cloud client's method, and what it does.
_VERBS: tuple[tuple[str, Verb, bool | None], ...] = (
    (
        "get list describe head lookup search scan query batch select download paginate all filter receive",
        Verb.READ,
        False,
    ),
    ("delete terminate remove purge deregister destroy drop", Verb.DELETE, True),
    ("create run register allocate import start copy publish send invoke", Verb.CREATE, False),
    ("upload", Verb.CREATE, False),
    ("put update modify set attach tag enable associate restore", Verb.MODIFY, None),
    ("stop reboot disable cancel detach", Verb.CONTROL, None),
    ("add authorize grant allow", Verb.GRANT, False),
)
_HARMLESS_VERBS = "generate can limit load reload page pages collections items close exceptions meta waiter wait"
_RESOURCES = (
    "Bucket TableName FunctionName SecretId DBInstanceIdentifier QueueUrl TopicArn RoleName UserName Name StackName "
    "ClusterName QueueName KeyId RepositoryName PolicyArn InstanceId InstanceIds LogGroupName GroupId VolumeId ImageId "
    "StreamName"
)


def verb(site: Site, known: Known) -> Value | None:
    """Cloud clients: ``client("s3").delete_bucket(Bucket=…)``; the method's first word is the operation."""
    name = site.func.ref.rpartition(".")[2]
    service, _colon, held = (site.own.text or "*").partition(":")
    action, destructive = _verb_of(re.split(r"_|(?=[A-Z])", name)[0].lower())
    is_client = not held and site.func.ref.startswith("boto.")
    if is_client and action is not None:  # its operations are those of the command line
        made = told_as_command(site, service, name, site.named)
        if made is not None:
            return Value(raw=site.raw, taint=site.taint | made)
    resource = held or _named(site)
    target = f"{known.roles.get('prefix', 'aws:*:*')}:{service}:{resource or '*'}"
    if action is None:
        return replace(site.own, ref=site.func.ref.partition(".")[0], taint=site.taint)
    domain = Domain.SECRETS if service in {"secretsmanager", "ssm"} and action is Verb.READ else Domain.CLOUD
    site.reader.out.add(domain, action, target, span=site.span, where="provider", destructive=destructive)
    if name in {"all", "filter"}:  # what is found can be deleted as a whole
        return replace(site.own, ref=site.func.ref.partition(".")[0], taint=site.taint)
    return Value(raw=site.raw, taint=site.taint)


def _named(site: Site) -> str | None:
    """What the call's parameters name: the object of a bucket, the first of a list."""
    given = {k: v.data[0] if isinstance(v.data, list) and v.data else v for k, v in site.named.items()}
    found = next((v.text for k, v in given.items() if k in _RESOURCES.split() and v.text), None)
    key = given.get("Key")
    return f"{found}/{key.text}" if found and key is not None and key.text else found


def resource(site: Site, _known: Known) -> Value | None:
    """``resource("s3").Bucket("logs")``: the service and what it holds, for the methods that follow."""
    texts = [v.text for v in site.args] or [_named(site)]
    held = "/".join(t or "*" for t in texts)
    if ":" in (site.own.text or ""):  # a thing within a thing: ``Bucket("logs").Object("a")``
        return Value(ref="botopart", raw=site.raw, taint=site.taint, data=f"{site.own.text}/{held}")
    return Value(ref="botopart", raw=site.raw, taint=site.taint, data=f"{site.own.text or '*'}:{held}")


def part(site: Site, known: Known) -> Value | None:
    """``resource("sqs").get_queue_by_name(QueueName="jobs")``: the request, and the thing itself for what follows."""
    verb(site, known)
    held = f"{site.own.text or '*'}:{_named(site) or '*'}"
    return Value(known=True, ref="botopart", raw=site.raw, taint=site.taint, data=held)


def paged(site: Site, known: Known) -> Value | None:
    """``client.get_paginator("list_objects_v2")``, and its ``paginate(Bucket=…)``: that operation, page by page."""
    if site.func.ref.endswith(".get_paginator"):
        operation = site.argument("0|operation_name")
        held = f"{site.own.text or '*'}|{(operation and operation.text) or 'list_pages'}"
        return Value(ref="botopages", raw=site.raw, taint=site.taint, data=held)
    service, _bar, name = (site.own.text or "*|list_pages").partition("|")
    return verb(replace(site, func=replace(site.func, ref=f"boto.{name}", known=True, data=service)), known)


def awaited(site: Site, known: Known) -> Value | None:
    """``client.get_waiter("instance_running").wait(InstanceIds=…)`` asks for the state until it is so."""
    func = replace(site.func, ref="botowait.describe_state", known=True, data=site.own.text or "*")
    return verb(replace(site, func=func), known)


def partial(site: Site, _known: Known) -> Value | None:
    """``functools.partial(f, a, b=c)``: f is called when what comes of it is."""
    if not site.args:
        return None
    held = Partial(site.args[0], tuple(site.args[1:]), dict(site.named))
    return Value(raw=site.raw, taint=site.taint, data=held)


def member(site: Site, _known: Known) -> Value | None:
    """getattr(module, name): a name that is known is the member itself, another could be any."""
    base, name = site.argument("0"), site.argument("1")
    if base is None or name is None or not base.ref:
        return None
    if name.text is not None:
        return Value(ref=f"{base.ref}.{name.text}", raw=site.raw, taint=site.taint)
    if site.reader.library.call(base.ref) is None:
        site.reader.out.hide(OpaqueReason.DYNAMIC_COMMAND, site.span, site.raw)
    return None


def module(site: Site, _known: Known) -> Value | None:
    """__import__(name), require(name): a library we know is bound, another module is code we have not read."""
    name = site.argument("0")
    text = None if name is None else name.text
    text = (text or "").removeprefix("node:").removesuffix(".js").replace("/promises", "").removesuffix("/promise")
    dotted = text.replace("/", ".")
    known = site.reader.library.knows_package
    if text and not text.startswith((".", "/")) and (known(text) or known(dotted)):
        return Value(ref=dotted, raw=site.raw)
    if text and text.startswith((".", "/")) and text.endswith(".json"):  # parsed as data, never run
        site.reader.out.add(Domain.FILESYSTEM, Verb.READ, text, span=site.span, destructive=False)
        return Value(raw=site.raw)
    site.reader.out.add(Domain.CODE, Verb.EXECUTE, text or None, target_raw=site.raw, span=site.span, destructive=None)
    site.reader.out.hide(OpaqueReason.PAYLOAD_UNREADABLE, site.span, f"module {text or site.raw}")
    return Value(raw=site.raw)


def coderef(site: Site, _known: Known) -> Value | None:
    """Perl's ``$f->(…)``: a function known here has been read as one handed on; a name is called; another is unread."""
    held, given = site.args[0], list(site.args[1:])
    reader = site.reader
    held = callable_of(reader, held) or held
    if held.function is not None:
        return reader.enter(held.function, given)
    name = held.text or held.ref
    found = reader.scopes[0].get(name) if name else None
    if found is not None and found.function is not None:
        return reader.enter(found.function, given)
    if name and reader.library.call(name) is not None:
        return reader.call_library(name, given, site.span)
    reader.out.hide(OpaqueReason.DYNAMIC_COMMAND, site.span, site.raw)
    return Value(raw=site.raw, taint=site.taint)


def taken(site: Site, known: Known) -> Value | None:
    """The first, or last, of a list, which it then has no more."""
    held, reader = site.argument("0"), site.reader
    if held is None or not isinstance(held.data, list) or not held.data:
        return None
    members = held.members
    if reader.unsure or id(held.data) in reader.loose or len(members) != len(held.data):
        loosen(reader, held.data, changed=True)
        return any_of(reader, members, unknown(site.raw, held))
    found = held.data.pop(-1 if known.roles.get("last") else 0)
    return found if isinstance(found, Value) else None


def table(site: Site, _known: Known) -> Value | None:
    """``dict(a=1)``, ``dict(table, a=1)``."""
    given = site.args[0].data if site.args else {}
    if not isinstance(given, dict) or len(site.args) > 1:
        return None
    data = {**given, **site.named}
    return Value(known=True, data=data, raw=site.raw, taint=site.taint) if data else None


def constant_named(site: Site, _known: Known) -> Value | None:
    """Ruby's ``Object.const_get(:File)``: a class or module by its name."""
    name = site.argument("0")
    if name is not None and name.text is not None:
        return Value(ref=name.text.removeprefix("::"), raw=site.raw)
    site.reader.out.hide(OpaqueReason.DYNAMIC_COMMAND, site.span, site.raw)
    return None


def own_member(site: Site, known: Known) -> Value | None:
    """Ruby's ``File.method(:delete)``, ``File.public_send(:delete, path)``: a member by its name, or its call."""
    name, rest = site.argument("0"), list(site.args[1:])
    owner = site.func.ref.rpartition(".")[0]
    if name is None or name.text is None:
        site.reader.out.hide(OpaqueReason.DYNAMIC_COMMAND, site.span, site.raw)
        return None
    scope = site.reader.scopes[0].get(name.text)
    own = scope if scope is not None and scope.function is not None and not owner else None
    found = own or Value(ref=f"{owner}.{name.text}" if owner else name.text, raw=site.raw, data=site.func.data)
    return site.reader.call_value(found, rest, site.span) if known.roles.get("calls") else found


def mixed_in(site: Site, _known: Known) -> Value | None:
    """Ruby's ``include FileUtils``: the module's methods are ours; a module of the program's own is told of it."""
    for given in site.args:
        if isinstance(given.function, Class):
            for method in given.function.methods:
                if method.name in {"included", "extended", "prepended"}:
                    site.reader.enter(method, [])
        elif given.ref:
            site.reader.stars.append(given.ref)
    return None


def lookup(site: Site, _known: Known) -> Value | None:
    """A name that is resolved. One put together when it runs carries what it is made of to whoever answers for it."""
    name = site.argument("0|host|hostname|qname|name")
    text = None if name is None else name.text
    raw = None if text is not None or name is None else name.shape or name.raw
    verb = Verb.RECEIVE if text is not None else Verb.SEND
    more = {"reversibility": Reversibility.READ_ONLY} if text is not None else {}
    site.reader.out.add(Domain.NETWORK, verb, text, target_raw=raw, span=site.span, **more)
    return None


def _verb_of(word: str) -> tuple[Verb | None, bool | None]:
    for words_, action, destructive in _VERBS:
        if word in words_.split():
            return action, destructive
    return (Verb.MODIFY, None) if word not in _HARMLESS_VERBS.split() else (None, False)
