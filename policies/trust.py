"""What an installation asks of its policies: whose signature, which revision. Every source is opened through here.

In: a configured source, the time. Out: the policies behind it, loaded, each with its bundle; or one that is not loaded
and says why. What was verified is what is read: the bytes a policy was made of are held against the manifest, so a
file swapped in between, or one that a policy ``extends`` from outside the bundle, is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from policies.bundle import MANIFEST, Bundle, BundleError, read
from policies.cache import load_cached
from policies.policy_set import Loaded, PolicySet, load_one, loaded, not_loaded
from policies.source import RULES, STARTER, STARTER_FILE, Gathered


@dataclass(frozen=True, slots=True)
class Trust:
    """``required`` False: unsigned files are read, and of bundles only what is signed must be signed well.

    ``revisions``: bundle id -> the highest revision that was in force (``bundle.read``).
    """

    keys: Mapping[str, Ed25519PublicKey] = field(default_factory=dict)
    required: bool = True
    revisions: Mapping[str, int] = field(default_factory=dict)

    def bundle(self, source: str | Path, now: datetime) -> Bundle | None:
        """The bundle behind a configured path, verified; None for a source that is none and need not be."""
        if str(source) == STARTER:
            return None
        if not (Path(source) / MANIFEST).is_file():
            if self.required:
                raise BundleError("this is no signed bundle, and trust is required")
            return None
        return read(Path(source), self.keys, now, revisions=self.revisions, required=self.required)


def load_source(source: str | Path, now: datetime, trust: Trust, cache: Path | None = None) -> tuple[Loaded, ...]:
    """Every policy of one configured source; a bundle is taken whole or not at all. Never raises.

    Where trust is required the cache is not asked: who can write there could not have signed what it says.
    """
    try:
        bundle = trust.bundle(source, now)
        if bundle is None:
            return (load_one(source, now, None if trust.required else cache),)
        return _whole(bundle, {str(f): load_cached(f, now, None if trust.required else cache) for f in bundle.files})
    except BundleError as error:
        return (not_loaded(str(source), f"{source}: {error}", error.again),)


def load(sources: tuple[str | Path, ...], now: datetime, trust: Trust, cache: Path | None = None) -> PolicySet:
    """All of them, side by side."""
    return PolicySet(tuple(one for source in sources for one in load_source(source, now, trust, cache)))


def _whole(bundle: Bundle, made: Mapping[str, Gathered]) -> tuple[Loaded, ...]:
    """Files that another file of the bundle extends are part of that one, not policies of their own."""
    for name, gathered in made.items():
        _as_signed(bundle, name, gathered)
    parts = {f for name, gathered in made.items() for f in gathered.files if str(f) != name}
    out = tuple(replace(loaded(n, g), bundle=bundle) for n, g in made.items() if Path(n) not in parts)
    if not out:
        raise BundleError("there is no policy in it")
    broken = next((p for p in out if p.compiled is None), None)
    return out if broken is None else (broken,)


def _as_signed(bundle: Bundle, name: str, made: Gathered) -> None:
    known = {f.resolve(): d for f, d in bundle.digests.items()}
    for file, digest in zip(made.files, made.digests, strict=True):
        if file == STARTER_FILE or file.parent == RULES:
            continue
        if file.resolve() not in known:
            raise BundleError(f"'{name}' extends '{file}', which is not in the bundle")
        if known[file.resolve()] != digest:
            raise BundleError(f"'{file}' was changed while it was read")
