"""Command files to their compiled form: YAML text in, ``{program: node}`` as plain JSON out, every mistake at once.

Raises StrictYamlError (a file is wrong: ``file:line:col: what; what was expected``). The compiled form is what the
cache keeps and ``build.py`` turns into values.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from classifiers.knowledge import grammar
from classifiers.knowledge.checked import Json, Path
from classifiers.knowledge.effect_lines import EffectLines, words_of
from classifiers.strict_yaml import StrictYamlError, load


def compile_file(text: str, name: str) -> dict[str, Json]:
    """Every program of one file. ``name`` is the path shown to people (relative to the commands folder)."""
    doc = load(text, name)
    compiler = _Compiler(doc)
    out = compiler.file()
    if compiler.problems:
        raise StrictYamlError(compiler.problems)
    return out


def _greedy(slot: Json) -> bool:
    """Whether a slot takes every operand that is left, whatever the options are."""
    return slot.get("at", "rest") == "rest" and not slot.get("when") and not slot.get("unless")


MANY = 6  # from so many programs in one strict row on, nobody looked each of them up


class _Compiler(EffectLines):
    """Commands, their options and operands."""

    def file(self) -> dict[str, Json]:
        top = self.keys(self.doc.value, grammar.FILE_KEYS, (), "a command file")
        for needed in ("family", "source", "commands"):
            if needed not in top:
                self.wrong(f"'{needed}' is missing")
        parsing = {k: self.one_of(top[k], words, (k,)) for k, words in grammar.PARSING.items() if k in top}
        out: dict[str, Json] = {}
        for spelled, node in (top.get("commands") or {}).items():
            path = ("commands", spelled)
            names = [n.strip() for n in spelled.split("|")]
            compiled = {**parsing, **self.node(node, path, names[0])}
            if compiled.get("strict") and len(names) >= MANY:
                compiled["many"] = True
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
            *grammar.PARSING.items(),
        ):
            if key in node:
                out[key] = self.one_of(node[key], allowed, (*path, key))
        for key in ("via", "special", "same_as", "unread"):
            if key in node:
                out[key] = str(node[key])
        if node.get("posix"):
            out["posix"] = "second" if node["posix"] == "second" else True
        if "session" in node:
            out["session"] = str(node["session"]).split("|")
        if "beside" in node:
            out["beside"] = str(node["beside"]).split("|")
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
            if any("*" in s for s in compiled["spell"]):
                self.wrong("an option is spelled whole: no globs", *here)
            taken = option.get("value", 1 if "fills" in option else 0)
            if isinstance(taken, str) and taken in grammar.ATTACHED:
                compiled["values"] = grammar.ATTACHED[taken]
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
                    compiled[key] = words_of(slot[key])
            if compiled.get("at", "rest") == "rest" and any(_greedy(other) for other in out):
                self.wrong("nothing is left for it: a slot before it takes every other operand", *here)
            out.append(compiled)
        return out

    def delegate(self, value: Any, path: Path) -> Json:
        spec = {"kind": value} if isinstance(value, str) else self.keys(value, grammar.DELEGATE_KEYS, path, "delegate")
        kind, _, language = str(spec.get("kind", "")).partition(" ")
        if kind not in grammar.DELEGATE_KINDS:
            self.wrong(f"'{kind}' is no kind of delegation; one of {', '.join(sorted(grammar.DELEGATE_KINDS))}", *path)
        out = {k: v for k, v in spec.items() if k != "kind"} | {"kind": kind, "language": language}
        if "until" in out:
            out["until"] = words_of(out["until"])
        return out
