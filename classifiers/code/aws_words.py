"""An operation of an AWS client as the command line that makes the same request, so that both have one reading.

In: service, operation and parameters (``delete_object``, ``{"Bucket": …}``). Out: whether the command line was known;
its effects are in the collection then. Sources: boto3 and AWS SDK for JavaScript API references; aws(1).
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.code.handing import asked
from classifiers.code.values import Value, plain
from classifiers.effects import Domain, Effect, Verb

if TYPE_CHECKING:
    from collections.abc import Mapping

    from classifiers.code.calls import Site

_SERVICES = {"s3": "s3api"}
# Parameters that are content: the command line takes a file's name in their place.
_CONTENT = frozenset(
    {
        "Body",
        "ZipFile",
        "Payload",
        "Blob",
        "Data",
        "TemplateBody",
        "UserData",
        "Filename",
        "Code",
        "CiphertextBlob",
        "Plaintext",
    }
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def _dashed(name: str) -> str:
    return _HUMP.sub("-", name).replace("_", "-").lower()


def told_as_command(site: Site, service: str, operation: str, given: Mapping[str, Value]) -> frozenset[int] | None:
    """The indexes of the effects; None where the command line is not known or not all of it is read."""
    words = ["aws", _SERVICES.get(service, service), _dashed(operation)]
    for key, value in given.items():
        words += _option(key, value)
    if words[1:3] == ["lambda", "invoke"]:
        words.append("/dev/null")  # where the command line writes the answer
    action = asked(site, "shell", {"argv": words}) if re.fullmatch(r"[\w-]+", service) else None
    if action is None or not action.complete or not action.effects:
        return None
    effects = tuple(replace(e, action=Verb.READ) if _is_fetched(e) else e for e in action.effects)
    return frozenset(site.reader.out.absorb(replace(action, effects=effects), span=site.span))


def _is_fetched(effect: Effect) -> bool:
    """The command line fetches into a file what a client only reads."""
    return effect.domain is Domain.CLOUD and effect.action is Verb.RECEIVE


def _option(key: str, value: Value) -> list[str]:
    name = f"--{_dashed(key)}"
    if key in _CONTENT or not key[:1].isalpha():
        return []
    if key == "Parameters" and isinstance(value.data, dict):
        return [name, json.dumps(plain(value, "$ARG"))]
    if isinstance(value.data, list):
        texts = [v.text for v in value.data if isinstance(v, Value) and v.text]
        return [name, *texts] if texts else []
    if isinstance(value.data, bool):
        return [name] if value.data else []
    return [name, str(value.data)] if value.known and isinstance(value.data, str | int) and value.data != "" else []
