"""Command files to their compiled form: YAML text in, ``{program: node}`` as plain JSON out, every mistake at once.

Raises StrictYamlError (a file is wrong: ``file:line:col: what; what was expected``). The compiled form is what the
cache keeps and ``build.py`` turns into values.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any

from classifiers.effects import Domain, Verb
from classifiers.knowledge import grammar
from classifiers.knowledge.templates import FILTERS
from classifiers.strict_yaml import Mapped, Problem, StrictYamlError, load

Json = dict[str, Any]
Path = tuple[str | int, ...]


def compile_file(text: str, name: str) -> dict[str, Json]:
    """Every program of one file. ``name`` is the path shown to people (relative to the commands folder)."""
    doc = load(text, name)
    compiler = _Compiler(doc)
    out = compiler.file()
    if compiler.problems:
        raise StrictYamlError(compiler.problems)
    return out


class _Compiler:
    def __init__(self, doc: Mapped) -> None:
        self.doc = doc
        self.problems: list[Problem] = []

    def wrong(self, what: str, *path: str | int, key: bool = False) -> None:
        self.problems.append(self.doc.problem(what, *path, key=key))

    def keys(self, value: Any, allowed: Iterable[str], path: Path, what: str) -> Json:
        """``value`` as a mapping whose keys are all allowed; unknown keys are reported with the nearest known one."""
        if not isinstance(value, dict):
            self.wrong(f"{what} is a mapping, not {_kind(value)}", *path)
            return {}
        for key in value:
            if key not in allowed:
                near = difflib.get_close_matches(key, list(allowed), 1)
                hint = f"; did you mean '{near[0]}'?" if near else f"; {what} takes {', '.join(sorted(allowed))}"
                self.wrong(f"unknown key '{key}'{hint}", *path, key, key=True)
        return value

    def file(self) -> dict[str, Json]:
        top = self.keys(self.doc.value, grammar.FILE_KEYS, (), "a command file")
        for needed in ("family", "source", "commands"):
            if needed not in top:
                self.wrong(f"'{needed}' is missing")
        out: dict[str, Json] = {}
        for spelled, node in (top.get("commands") or {}).items():
            path = ("commands", spelled)
            names = [n.strip() for n in spelled.split("|")]
            compiled = self.node(node, path, names[0])
            for name in names:
                if name in out:
                    self.wrong(f"'{name}' is described twice in this file", *path, key=True)
                out[name] = compiled if name == names[0] else {"alias": names[0], "line": compiled["line"]}
        return out

    def node(self, value: Any, path: Path, name: str) -> Json:
        node = self.keys({} if value is None else value, grammar.NODE_KEYS, path, "a command")
        out: Json = {"name": name, "line": self.doc.key_mark(*path)[0]}
        self.plain(node, out, path)
        if "options" in node:
            out["options"] = self.options(node["options"], (*path, "options"))
        if "takes_value" in node:
            words = node["takes_value"]
            bare = words.split() if isinstance(words, str) else list(words)
            told = {s for o in out.get("options", ()) if set(o) - {"spell"} for s in o["spell"]}
            taken = [[s for s in w.split("|") if s not in told] for w in bare]  # what says more than that stands
            out.setdefault("options", []).extend({"spell": spelled, "values": 1} for spelled in taken if spelled)
        if "operands" in node:
            out["slots"] = self.slots(node["operands"], (*path, "operands"))
        for key in ("effects", "no_operands"):
            if key in node:
                out[key] = self.effects(node[key], (*path, key))
        if "set" in node:
            out["sets"] = self.sets(node["set"], (*path, "set"))
        if "stdin" in node:
            out["stdin"] = self.delegate(node["stdin"], (*path, "stdin"))
        if "keyed" in node:
            where = (*path, "keyed")
            keyed = node["keyed"] if isinstance(node["keyed"], dict) else self.keys(node["keyed"], (), where, "keyed")
            out["keyed"] = {k: self.meaning(v, (*where, k), grammar.MEANING_KEYS) for k, v in keyed.items()}
        if "subcommands" in node:
            out["subs"] = self.subcommands(node["subcommands"], (*path, "subcommands"))
        if not any(
            k in node
            for k in ("effects", "operands", "subcommands", "special", "same_as", "no_operands", "stdin", "keyed")
        ):
            self.wrong(
                "a command says what it does: effects, operands or subcommands (effects: [] is pure output)",
                *path,
                key=True,
            )
        return out

    def plain(self, node: Json, out: Json, path: Path) -> None:
        """Keys whose value is kept as it is, after a look at its kind."""
        for key, allowed in (
            ("style", grammar.STYLES),
            ("unknown_options", {"flag", "value"}),
            ("unknown_subcommand", {"opaque", "operand"}),
            ("strict", {"words", "options"}),
        ):
            if key in node:
                out[key] = self.one_of(node[key], allowed, (*path, key))
        for key in ("via", "special", "same_as", "unread"):
            if key in node:
                out[key] = str(node[key])
        if node.get("posix"):
            out["posix"] = True
        if "help" in node:
            out["help"] = str(node["help"]).split()

    def subcommands(self, value: Any, path: Path) -> Json:
        out: Json = {}
        if not isinstance(value, dict):
            self.wrong("subcommands is a mapping of words to commands", *path)
            return out
        for spelled, node in value.items():
            names = [n.strip() for n in spelled.split("|")]
            compiled = self.node(node, (*path, spelled), names[0])
            out[names[0]] = compiled
            out.update(dict.fromkeys(names[1:], names[0]))  # the other names say where it is
        return out

    def options(self, value: Any, path: Path) -> list[Json]:
        out: list[Json] = []
        if not isinstance(value, dict):
            self.wrong("options is a mapping of spellings to what they mean", *path)
            return out
        for spelled, spec in value.items():
            here = (*path, spelled)
            option = self.keys({} if spec is None else spec, grammar.OPTION_KEYS, here, "an option")
            compiled = self.meaning(option, here, grammar.OPTION_KEYS)
            compiled["spell"] = [s.strip() for s in spelled.split("|")]
            taken = option.get("value", 1 if "fills" in option else 0)
            if taken == "optional":
                compiled["values"] = -1
            elif taken:
                compiled["values"] = taken if isinstance(taken, int) and not isinstance(taken, bool) else 1
            if option.get("last") is True:
                compiled["last"] = True
            for key in ("fills", "name"):
                if key in option:
                    compiled[key] = str(option[key])
            out.append(compiled)
        return out

    def meaning(self, value: Any, path: Path, allowed: Iterable[str]) -> Json:
        spec = self.keys({} if value is None else value, allowed, path, "a meaning")
        out: Json = {}
        for key in ("effects", "instead"):
            if key in spec:
                out[key] = self.effects(spec[key], (*path, key))
        if "unread" in spec:
            out["unread"] = str(spec["unread"])
        if "delegate" in spec:
            out["delegate"] = self.delegate(spec["delegate"], (*path, "delegate"))
        if "operands" in spec:
            out["operands"] = self.slots(spec["operands"], (*path, "operands"))
        if "by_value" in spec:
            table = spec["by_value"] if isinstance(spec["by_value"], dict) else {}
            out["by_value"] = [
                [glob, self.meaning(inner, (*path, "by_value", glob), grammar.MEANING_KEYS)]
                for glob, inner in table.items()
            ]
        sets = {k: v for k, v in spec.items() if k in grammar.SETS}
        if sets:
            out["sets"] = self.sets(sets, path)
        return out

    def slots(self, value: Any, path: Path) -> list[Json]:
        out: list[Json] = []
        if not isinstance(value, list):
            self.wrong("operands is a list, in the order they are written", *path)
            return out
        for i, item in enumerate(value):
            here = (*path, i)
            if isinstance(item, str):
                item = {"effects": [item]} if " " in item else {"role": item}  # noqa: PLW2901 - the short form made long
            slot = self.keys(item, grammar.SLOT_KEYS, here, "an operand")
            compiled = self.meaning(
                {k: v for k, v in slot.items() if k in grammar.MEANING_KEYS}, here, grammar.MEANING_KEYS
            )
            sets = compiled.get("sets", {})
            if "action" in sets and "domain" in sets and "effects" not in compiled:
                compiled["effects"] = [self.finish(compiled.pop("sets"), here)]
            compiled["role"] = str(slot.get("role", ""))
            if "at" in slot:
                compiled["at"] = self.one_of(slot["at"], grammar.PLACES, (*here, "at"))
            for key in ("when", "unless"):
                if key in slot:
                    compiled[key] = _words(slot[key])
            out.append(compiled)
        return out

    def effects(self, value: Any, path: Path) -> list[Json]:
        if not isinstance(value, list):
            self.wrong("effects is a list (an empty one: no effect)", *path)
            return []
        return [self.effect(item, (*path, i)) for i, item in enumerate(value)]

    def effect(self, value: Any, path: Path) -> Json:
        if isinstance(value, str):
            return self.finish(self.line(value, path), path)
        spec = self.keys(value, {*grammar.SETS, "when", "unless"}, path, "an effect")
        sets = self.sets({k: v for k, v in spec.items() if k in grammar.SETS}, path)
        return self.finish({**sets, **{k: _words(spec[k]) for k in ("when", "unless") if k in spec}}, path)

    def line(self, text: str, path: Path) -> Json:
        """``action domain[:target] word… key=value…``."""
        words = _split(text)
        if len(words) < 2:
            self.wrong(f"an effect is 'action domain[:target] …', not '{text}'", *path)
            return {}
        domain, colon, target = words[1].partition(":")
        out: Json = {"action": words[0], "domain": domain}
        if colon:
            out["target"] = target
        for word in words[2:]:
            key, eq, value = word.partition("=")
            if eq and key in grammar.KEYED:
                out[key] = _words(value) if key in {"when", "unless"} else value
            elif word in grammar.WORDS:
                field, known = grammar.WORDS[word]
                out[field] = known
            elif word in grammar.TAGS:
                out.setdefault("tags", []).append(word)
            else:
                self.wrong(f"unknown word '{word}' in an effect; see docs/knowledge.md for the words", *path)
        self.sets({k: v for k, v in out.items() if k in grammar.SETS}, path)
        return out

    def finish(self, effect: Json, path: Path) -> Json:
        """Defaults by action, so that the interpreter has nothing to decide."""
        if not _is(Verb, effect.get("action")) or not _is(Domain, effect.get("domain")):
            self.wrong("an effect needs an action and a domain of the vocabulary", *path)
            return {}
        destructive, reversibility = grammar.DEFAULTS[effect["action"]]
        out = {"destructive": destructive, "reversibility": reversibility, **effect}
        if out["destructive"] is True and effect["action"] != "delete" and "reversibility" not in effect:
            out["reversibility"] = "irreversible"
        for name in re.findall(r"\{[^{}]*?!(\w+)", str(effect.get("target", ""))):
            if name not in FILTERS:
                self.wrong(f"'{name}' is no filter; one of {', '.join(sorted(FILTERS))}", *path)
        if effect["domain"] == "filesystem" and "target" not in effect:
            out["target"] = "{}"
        return out

    def sets(self, value: Any, path: Path) -> Json:
        out: Json = {}
        for key, given in self.keys(value, grammar.SETS, path, "effect fields").items():
            allowed = grammar.SETS.get(key)
            if isinstance(allowed, type) and allowed is not bool:
                for word in given if isinstance(given, list) else [given]:
                    if not _is(allowed, word):
                        self.wrong(f"'{word}' is no {key}; one of {', '.join(allowed)}", *path)  # type: ignore[arg-type]
            out[key] = [given] if key == "tags" and isinstance(given, str) else given
        return out

    def delegate(self, value: Any, path: Path) -> Json:
        spec = {"kind": value} if isinstance(value, str) else self.keys(value, grammar.DELEGATE_KEYS, path, "delegate")
        kind, _, language = str(spec.get("kind", "")).partition(" ")
        if kind not in grammar.DELEGATE_KINDS:
            self.wrong(f"'{kind}' is no kind of delegation; one of {', '.join(sorted(grammar.DELEGATE_KINDS))}", *path)
        out = {k: v for k, v in spec.items() if k != "kind"} | {"kind": kind, "language": language}
        if "until" in out:
            out["until"] = _words(out["until"])
        return out

    def one_of(self, value: Any, allowed: Iterable[str], path: Path) -> str:
        if value not in set(allowed):
            self.wrong(f"'{value}' is not known here; one of {', '.join(sorted(allowed))}", *path)
        return str(value)


def _is(kind: Any, word: Any) -> bool:
    return isinstance(word, str) and word in list(kind)


def _kind(value: Any) -> str:
    return {dict: "a mapping", list: "a list", str: "text", type(None): "nothing"}.get(
        type(value), type(value).__name__
    )


def _words(value: Any) -> list[str]:
    if isinstance(value, list):
        return [str(v) for v in value]
    return [w for w in re.split(r"[|\s]+", str(value)) if w]


def _split(text: str) -> list[str]:
    """Words at spaces; ``{…}`` keeps its spaces."""
    return re.findall(r"(?:\{[^{}]*\}|[^\s{])+", text)
