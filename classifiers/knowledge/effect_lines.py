"""Effects as a command file writes them: a line or a mapping in, the effect with its defaults as plain JSON out."""

from __future__ import annotations

import re
from typing import Any

from classifiers.effects import Domain, Verb
from classifiers.knowledge import grammar
from classifiers.knowledge.checked import Checked, Json, Path
from classifiers.knowledge.templates import FILTERS


class EffectLines(Checked):
    """The part of the compiler that reads effects."""

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
        return self.finish({**sets, **{k: words_of(spec[k]) for k in ("when", "unless") if k in spec}}, path)

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
                out[key] = words_of(value) if key in {"when", "unless"} else value
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
        parts = re.findall(r"\{([^{}]*)\}", str(effect.get("target", "")))
        for name in (name for part in parts for name in part.partition(":-")[0].split("!")[1:]):
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


def _is(kind: Any, word: Any) -> bool:
    return isinstance(word, str) and word in list(kind)


def words_of(value: Any) -> list[str]:
    if isinstance(value, list):
        return [str(v) for v in value]
    return [w for w in re.split(r"[|\s]+", str(value)) if w]


def _split(text: str) -> list[str]:
    """Words at spaces; ``{…}`` keeps its spaces."""
    return re.findall(r"(?:\{[^{}]*\}|[^\s{])+", text)
