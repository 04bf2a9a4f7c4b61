"""The policies in force, source by source: loaded, watched, loaded again; the last good stays when the new is not good.

In: configured sources, the trust asked of them, the clock. Out: ``PolicySet``, and for each change what was refused.
A signed bundle is one source: it is taken whole or not at all, and when it runs out that is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from policies.bundle import MANIFEST, SIGNATURE, BundleError
from policies.policy_set import Loaded, PolicySet
from policies.trust import Trust, load_source
from proxy.trust import remember

Stamp = tuple[tuple[str, int, int], ...]
MAX_WATCHED = 4096  # files of one bundle folder


@dataclass(frozen=True, slots=True)
class Refused:
    """What did not load, and the hash of what stays in force instead (None: nothing)."""

    loaded: Loaded
    active: str | None


class InForce:
    def __init__(self, sources: Sequence[str], trust: Trust, now: datetime, cache: Path) -> None:
        self._trust, self._cache = trust, cache
        self._of: dict[str, tuple[Loaded, ...]] = {}
        self._stamps: dict[str, Stamp] = {}
        self._again: dict[str, datetime] = {}
        self._taken_in: dict[str, list[Path]] = {}  # files a source extends
        for source in dict.fromkeys(sources):
            self._of[source] = self._load(source, now)

    @property
    def policies(self) -> PolicySet:
        return PolicySet(tuple(one for group in self._of.values() for one in group))

    def poll(self, now: datetime) -> tuple[list[Refused], bool]:
        """(what was refused, whether anything else is in force now)."""
        refused: list[Refused] = []
        changed = False
        for source, old in self._of.items():
            due = self._again.get(source)
            if self._stamp(source) == self._stamps[source] and (due is None or now < due):
                continue
            new = self._load(source, now)
            if any(p.compiled is None for p in new):
                refused += self._keep(source, old, new)
            elif _said(new) != _said(old):
                self._of[source], changed = new, True
        return refused, changed

    def _keep(self, source: str, old: tuple[Loaded, ...], new: tuple[Loaded, ...]) -> list[Refused]:
        """The last good stays, marked; where there is none the refused one says so itself."""
        wrong = next(p for p in new if p.compiled is None)
        if any(p.compiled is None for p in old):
            self._of[source] = new
            return [Refused(wrong, None)]
        self._of[source] = tuple(replace(p, stale=True, error=wrong.error) for p in old)
        return [Refused(wrong, old[0].hash)]

    def _load(self, source: str, now: datetime) -> tuple[Loaded, ...]:
        before = stamp(_own_files(Path(source)))
        made = load_source(source, now, self._trust, self._cache)
        self._again.pop(source, None)
        bundle = made[0].bundle
        if bundle is not None and bundle.until is not None and now < bundle.until:
            self._again[source] = bundle.until
        if made[0].again is not None:
            self._again[source] = made[0].again
        try:
            remember(self._trust, bundle if made[0].compiled is not None else None)
        except (OSError, BundleError) as error:
            made = tuple(replace(p, error=f"{source}: its revision cannot be kept: {error}", stale=True) for p in made)
        self._taken_in[source] = [f for p in made for f in p.files if not _inside(f, source)]
        # the source's own files as they were before: what changed while they were read is a change the next time
        self._stamps[source] = before + stamp(self._taken_in[source])
        return made

    def _stamp(self, source: str) -> Stamp:
        return stamp(_own_files(Path(source))) + stamp(self._taken_in[source])


def _said(group: tuple[Loaded, ...]) -> list[tuple[object, ...]]:
    """What a change of would be a change of what is in force, or of what records say of it."""
    return [(p.hash, p.bundle, p.stale, p.state) for p in group]


def _inside(file: Path, source: str) -> bool:
    return file == Path(source) or Path(source) in file.parents


def _own_files(source: Path) -> list[Path]:
    """A bundle is watched with all its files and whether its manifest and signature are there."""
    if not (source / MANIFEST).is_file():
        return [source, source / MANIFEST]
    found = sorted(p for p in source.rglob("*") if p.is_file())[:MAX_WATCHED]
    return [*found, source / MANIFEST, source / SIGNATURE]


def stamp(paths: Sequence[Path]) -> Stamp:
    """Names, sizes and times of files, folders walked one level; a file that is gone changes the stamp."""
    out = []
    for path in paths:
        for file in sorted(path.glob("*.yaml")) if path.is_dir() else [path]:
            try:
                found = file.stat()
            except OSError:
                out.append((str(file), -1, -1))
            else:
                out.append((str(file), found.st_mtime_ns, found.st_size))
    return tuple(out)
