"""Clients of services whose methods spell the operation: git, Kubernetes, the AWS SDK for JavaScript.

In: a call of such a client. Out: what the operation's name and arguments say.
Sources: GitPython 3.1, Kubernetes Python client 33, AWS SDK for JavaScript v3 and v2 API references.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.code.handing import to_surface
from classifiers.code.library import Known
from classifiers.code.name_readers import verb
from classifiers.code.values import Value, constant
from classifiers.effects import Domain, OpaqueReason, Verb

if TYPE_CHECKING:
    from classifiers.code.calls import Site


def git_words(site: Site, _known: Known) -> Value | None:
    """``repo.git.log("--oneline", n=3)``: the command line ``git log --oneline -n 3``."""
    words = ["git", site.func.ref.rpartition(".")[2].replace("_", "-")]
    for key, value in site.named.items():
        option = f"-{key}" if len(key) == 1 else f"--{key.replace('_', '-')}"
        if value.data is not False:
            words += [option] if value.data is True else [option, value.text or str(value.data or "$ARG")]
    for value in site.args:
        members = value.data if isinstance(value.data, list) else [value]
        words += [m.text if m.text is not None else "$ARG" for m in members if isinstance(m, Value)]
    return to_surface(site, "shell", {"argv": words}, constant(site.raw))


# (how a method begins, what it does, whether something is lost)
_ON_OBJECTS: tuple[tuple[str, Verb, bool | None], ...] = (
    ("list_", Verb.READ, False),
    ("read_", Verb.READ, False),
    ("get_", Verb.READ, False),
    ("create_", Verb.CREATE, False),
    ("delete_", Verb.DELETE, True),
    ("patch_", Verb.MODIFY, False),
    ("replace_", Verb.MODIFY, None),
)
_METHOD = re.compile(
    r"[a-z]+_(?P<all>collection_)?(?P<within>namespaced_)?(?P<kind>\w+?)"
    r"(?P<everywhere>_for_all_namespaces)?(?:_(?:scale|status|log|binding|with_http_info))*"
)


def cluster(site: Site, _known: Known) -> Value | None:
    """``v1.delete_namespaced_pod("web-0", "shop")``; what is run in a pod is not read."""
    name = site.func.ref.rpartition(".")[2]
    found, does = _METHOD.fullmatch(name), next((d for d in _ON_OBJECTS if name.startswith(d[0])), None)
    if name.startswith("connect_") and name.endswith(("_exec", "_attach")):
        pod = site.argument("0|name")
        site.reader.out.add(
            Domain.CONTAINERS, Verb.EXECUTE, f"pod:{(pod and pod.text) or '*'}", span=site.span, destructive=None
        )
        site.reader.out.hide(OpaqueReason.PAYLOAD_UNREADABLE, site.span, site.raw)
        return None
    if found is None or does is None:
        return None
    whole = does[0] in {"list_", "create_"} or found["all"] is not None
    named = None if whole else site.argument("0|name")
    place = site.argument("namespace|0" if whole else "namespace|1") if found["within"] else None
    said = (named and named.text) or _body_name(site) or "*"
    kind = found["kind"].replace("_", "")
    target = f"k8s:*:{(place and place.text) or '*'}:{kind}/{said}"
    domain = Domain.SECRETS if kind == "secret" and does[1] is Verb.READ else Domain.CLOUD
    site.reader.out.add(domain, does[1], target, span=site.span, destructive=does[2])
    return None


def _body_name(site: Site) -> str | None:
    """The name in a body's metadata, as far as the body is written out."""
    body = site.argument("body")
    meta = body.data.get("metadata") if body is not None and isinstance(body.data, dict) else None
    name = meta.data.get("name") if isinstance(meta, Value) and isinstance(meta.data, dict) else None
    return name.text if isinstance(name, Value) else None


def docker_run(site: Site, _known: Known) -> Value | None:
    """``client.containers.run("alpine", "ls /data", volumes=…)``: the command line ``docker run``."""
    image, command = site.argument("0|image"), site.argument("1|command")
    words = ["docker", "run"]
    for name in ("privileged", "detach", "remove"):
        given = site.named.get(name)
        words += [{"remove": "--rm"}.get(name, f"--{name}")] if given is not None and given.data is True else []
    volumes = site.named.get("volumes")
    mounts = volumes.data if volumes is not None and isinstance(volumes.data, dict) else {}
    for host, bound in mounts.items():
        inside = bound.data.get("bind") if isinstance(bound, Value) and isinstance(bound.data, dict) else None
        words += ["-v", f"{host}:{(inside and inside.text) or '/mnt'}"] if host else []
    words.append((image and image.text) or "$IMAGE")
    if command is not None:
        listed = command.data if isinstance(command.data, list) else None
        texts = [v.text or "$ARG" for v in listed if isinstance(v, Value)] if listed else None
        words += texts or (shlex.split(command.text) if command.text is not None else ["$COMMAND"])
    return to_surface(site, "shell", {"argv": words}, constant(site.raw))


def aws_client(site: Site, _known: Known) -> Value:
    """``new S3Client({})``, ``new AWS.S3()``: a client that knows its service."""
    return Value(ref="boto", raw=site.raw, taint=site.taint, known=True, data=_service(site.func.ref))


def aws_command(site: Site, known: Known) -> Value | None:
    """``new DeleteObjectCommand({Bucket, Key})``: the operation that ``send`` will make."""
    operation = site.func.ref.split(".")[-2].removesuffix("Command")
    func = Value(ref=f"boto.{operation[:1].lower()}{operation[1:]}", known=True, data=_service(site.func.ref))
    verb(replace(site, func=func, named=_parameters(site)), known)
    return Value(raw=site.raw, taint=site.taint)


def aws_method(site: Site, known: Known) -> Value | None:
    """``s3.deleteObject({Bucket, Key})``: the parameters are one object."""
    return verb(replace(site, named=_parameters(site)), known)


def _parameters(site: Site) -> dict[str, Value]:
    given = site.args[0].data if site.args and isinstance(site.args[0].data, dict) else {}
    return {key: value for key, value in given.items() if isinstance(value, Value)}


def _service(ref: str) -> str:
    found = re.search(r"(?:client|lib)-([\w-]+)", ref)
    return (found.group(1) if found else ref.split(".")[-2]).lower().replace("-", "")
