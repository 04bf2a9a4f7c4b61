"""All command files, compiled once and kept: a folder of YAML in, ``lookup(program)`` out.

The compiled form is one file in the user's cache folder (0700), named by the hash of every source, so editing a family
recompiles. Programs are built on first use. A cache that cannot be read or written only costs time.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from pathlib import Path

from classifiers.clock import loading
from classifiers.knowledge.build import build
from classifiers.knowledge.compile import compile_file
from classifiers.knowledge.model import Json, Node
from classifiers.strict_yaml import Problem, StrictYamlError

COMMANDS = Path(__file__).parent.parent / "commands"
FORMAT = "7"


@dataclass(slots=True)
class Knowledge:
    """Programs by name. ``blobs`` holds the compiled JSON of each, built to a ``Node`` when first asked for."""

    blobs: Mapping[str, tuple[str, str]]  # program → (file, compiled JSON text)
    built: dict[str, Node | None] = field(default_factory=dict)

    def lookup(self, program: str) -> Node | None:
        if program not in self.built:
            with loading():
                self.built[program] = self._build(program)
        return self.built[program]

    def _build(self, program: str) -> Node | None:
        found = self.blobs.get(program)
        if found is None:
            return None
        compiled: Json = json.loads(found[1])
        if "alias" in compiled:
            return self.lookup(compiled["alias"])
        return build(self._completed(compiled, {program}), found[0])

    def _completed(self, compiled: Json, seen: set[str]) -> Json:
        """With what ``same_as`` takes over: keys told here replace the other's, options are told beside its own."""
        base: str = compiled.get("same_as", "")
        if base not in self.blobs or base in seen:
            return compiled
        other = json.loads(self.blobs[base][1])
        if "alias" in other:
            other = json.loads(self.blobs[other["alias"]][1])
        other = self._completed(other, seen | {base})
        options = [*other.get("options", ()), *compiled.get("options", ())]  # the later of two tells a spelling
        taken = {k: v for k, v in other.items() if k != "many"}  # a row of its own: somebody looked it up
        return {**taken, **{k: v for k, v in compiled.items() if k != "same_as"}, "options": options}


def sources(folder: Path = COMMANDS) -> dict[str, str]:
    """Every command file's text, by its path relative to ``folder``."""
    return {str(p.relative_to(folder)): p.read_text("utf-8") for p in sorted(folder.rglob("*.yaml"))}


def compile_all(texts: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Compile every file. Raises StrictYamlError with the mistakes of all of them, a program told twice among them."""
    out, problems = compile_good(texts)
    if problems:
        raise StrictYamlError(problems)
    return out


def compile_good(texts: Mapping[str, str]) -> tuple[dict[str, tuple[str, str]], list[Problem]]:
    """Every program that could be compiled, and the mistakes: one bad file costs its own programs only."""
    out: dict[str, tuple[str, str]] = {}
    problems: list[Problem] = []
    for name, text in texts.items():
        try:
            programs = compile_file(text, name)
        except StrictYamlError as error:
            problems += error.problems
            continue
        for program, compiled in programs.items():
            if program in out:
                problems.append(
                    Problem(name, compiled["line"], 1, f"'{program}' is already described in {out[program][0]}")
                )
            out[program] = (name, json.dumps(compiled, separators=(",", ":")))
    return out, problems


@cache
@loading()
def knowledge() -> Knowledge:
    """The shipped knowledge, from the cache when it is fresh."""
    texts = sources()
    digest = blake2b(FORMAT.encode(), digest_size=16)
    for name, text in texts.items():
        digest.update(f"{name}\0{len(text)}\0{text}".encode())
    file = _cache_folder() / f"commands-{digest.hexdigest()}.json"
    kept = _read(file)
    if kept is None:
        kept, problems = compile_good(texts)
        if not problems:
            _write(file, kept)
    return Knowledge(kept)


def lookup(program: str) -> Node | None:
    return knowledge().lookup(program)


def _cache_folder() -> Path:
    root = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(root).expanduser() / "onlooker"


def _read(file: Path) -> dict[str, tuple[str, str]] | None:
    """The kept form, unless it is missing, broken, or in a folder others could write."""
    try:
        owner = file.parent.stat()
        if owner.st_uid != os.getuid() or owner.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return None
        return {k: (v[0], v[1]) for k, v in json.loads(file.read_text("utf-8")).items()}
    except (OSError, ValueError, AttributeError, IndexError, TypeError):
        return None


def _write(file: Path, kept: dict[str, tuple[str, str]]) -> None:
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for old in file.parent.glob("commands-*.json"):
            old.unlink(missing_ok=True)
        part = file.with_suffix(f".{os.getpid()}.part")
        fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8") as out:
            json.dump(kept, out, separators=(",", ":"))
        part.replace(file)
    except OSError:
        return
