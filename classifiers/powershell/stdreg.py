"""The registry by WMI's provider (StdRegProv): a method and its arguments in, the effect on the key or value out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.code.handing import role_of
from classifiers.code.library import Known
from classifiers.code.values import Value, constant
from classifiers.effects import Domain, Effect, Reversibility, Verb
from classifiers.powershell.readers import file_effect
from classifiers.powershell.settings import set_later

if TYPE_CHECKING:
    from classifiers.code.calls import Site

_HIVES = ("HKCR", "HKCU", "HKLM", "HKU")  # from 0x80000000 on
_FIRST = 0x80000000
_DONE = {"deletekey": Verb.DELETE, "deletevalue": Verb.DELETE, "createkey": Verb.CREATE}
_LASTING = {Verb.DELETE: Reversibility.IRREVERSIBLE, Verb.READ: Reversibility.READ_ONLY}
_ASKED = ("get", "enum", "check")


def by_name(called: str, args: Value | None) -> dict[str, Value]:
    """StdRegProv's arguments by name, by the order of their names (Invoke-WmiMethod's way) when they are a list."""
    if args is None or not args.known:
        return {}
    if isinstance(args.data, dict):
        return {k: v for k, v in args.data.items() if isinstance(v, Value)}
    text = called in {"setstringvalue", "setmultistringvalue", "setexpandedstringvalue"}
    order = (
        ("hdefkey", "ssubkeyname", "svalue", "svaluename")
        if text
        else ("hdefkey", "ssubkeyname", "svaluename", "value")
    )
    return dict(zip(order, args.members, strict=False))


def registry(site: Site, known: Known) -> Value | None:
    """``$reg.SetStringValue($hive, $key, $name, $value)`` of StdRegProv."""
    roles = {"hdefkey": "key", "ssubkeyname": "sub", "svaluename": "name", "value": "value"}
    found = {name: role_of(site, known, role) for name, role in roles.items()}
    method = site.func.ref.rpartition(".")[2]
    return key_effects(site, method, {name: value for name, value in found.items() if value is not None})


def key_effects(site: Site, method: str, given: dict[str, Value]) -> Value | None:
    verb = _DONE.get(method, Verb.READ if method.startswith(_ASKED) else Verb.MODIFY)
    hive, sub, name = (given.get(key) for key in ("hdefkey", "ssubkeyname", "svaluename"))
    parts = [_hive(hive), sub.text if sub is not None else None]
    if method not in {"deletekey", "createkey"} and not method.startswith("enum"):
        parts.append(name.text if name is not None else None)
    known = all(p is not None for p in parts)
    path = constant("\\".join(p or "" for p in parts)) if known else Value(raw="\\".join(p or "$ARG" for p in parts))
    effect = file_effect(site, path, verb) if known else Effect(Domain.ENVIRONMENT, verb, target_raw=path.raw)
    lossy = {Verb.DELETE: True, Verb.MODIFY: None}.get(verb, False)
    lasting = _LASTING.get(verb, effect.reversibility)
    site.reader.out.put(replace(effect, destructive=lossy, reversibility=lasting, path_scope=None), site.span)
    value = next((v for k, v in given.items() if k.endswith("value") and k not in {"hdefkey", "svaluename"}), None)
    if verb is Verb.MODIFY and known:
        set_later(site, path.text or "", value)
    return Value(raw=site.raw, taint=site.taint)


def _hive(value: Value | None) -> str | None:
    """The hive's short name; the one of the machine when none is given."""
    if value is None:
        return "HKLM"
    text = str(value.data) if value.known else ""
    try:
        number = int(text, 0) & 0xFFFFFFFF
    except ValueError:
        return None
    return _HIVES[number - _FIRST] if 0 <= number - _FIRST < len(_HIVES) else None
