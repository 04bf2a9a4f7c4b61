"""The configured trust in policies: public keys from their files, and which revisions were in force, kept in the state.

In: a configuration. Out: ``Trust``; or a sentence about a key file that is none. Revisions never go down, over restarts
too: ``<state>/revisions.json`` holds ``{bundle id: revision}``.
"""

from __future__ import annotations

import json
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from policies.bundle import Bundle, BundleError, key_id
from policies.trust import Trust
from proxy.folders import private_folder
from proxy.settings import Config

FILE = "revisions.json"


def trust_of(config: Config) -> tuple[Trust, list[str]]:
    """What this installation asks of its policies, and what is wrong with it: those keys are then not trusted."""
    keys: dict[str, Ed25519PublicKey] = {}
    wrong: list[str] = []
    for name in config.trust_keys:
        try:
            key = load_pem_public_key(Path(name).read_bytes())
        except OSError as error:
            wrong.append(f"trust_keys: {name}: {error.strerror}")
            continue
        except (ValueError, TypeError):
            wrong.append(f"trust_keys: {name}: no public key in PEM")
            continue
        if isinstance(key, Ed25519PublicKey):
            keys[key_id(key)] = key
        else:
            wrong.append(f"trust_keys: {name}: expected an Ed25519 public key in PEM")
    if config.trust == "required" and not config.trust_keys:
        wrong.append("trust: required without trust_keys: no policy but the shipped ones can be loaded")
    return Trust(keys, config.trust == "required", _Revisions(_kept_in(config) / FILE)), wrong


def _kept_in(config: Config) -> Path:
    """Each ``run`` has a state of its own; what was in force once holds for all of them."""
    state = Path(config.state)
    return state.parents[1] if config.launch is not None and state.parent.name == "runs" else state


class _Revisions(dict[str, int]):
    """The file's content. One that is there and cannot be read must not let an old bundle back in."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file = file
        self._unread = ""
        try:
            self.update({str(k): int(v) for k, v in json.loads(file.read_bytes()).items()})
        except FileNotFoundError:
            pass
        except (OSError, ValueError, TypeError, AttributeError):
            self._unread = f"{file} cannot be read: which revisions were in force is not known"

    def get(self, key: str, default: int = 0) -> int:  # type: ignore[override]
        if self._unread:
            raise BundleError(self._unread)
        return super().get(key, default)


def remember(trust: Trust, bundle: Bundle | None) -> None:
    """This revision is in force. OSError when that cannot be kept: an old one could come back after a restart.

    One that nobody signed does not count: anybody could keep a signed bundle out by a high number.
    """
    revisions = trust.revisions
    if (
        bundle is None
        or bundle.signed_by is None
        or not isinstance(revisions, _Revisions)
        or revisions.get(bundle.id) >= bundle.revision
    ):
        return
    revisions[bundle.id] = bundle.revision
    private_folder(revisions.file.parent)
    draft = revisions.file.with_suffix(".draft")
    draft.write_text(json.dumps(revisions, sort_keys=True), "utf-8")
    draft.replace(revisions.file)
