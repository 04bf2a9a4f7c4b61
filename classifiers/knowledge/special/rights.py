"""chmod, chown, chgrp: modes and owners that open a secret to others get ``credential_access``.

In: what was read of the call. Out: the same, tagged where the operand is a key or credential file and the mode
lets others read or write it, or a system secret gets another owner. Source: chmod(1) "MODES", chown(1).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from classifiers.context import NOWHERE
from classifiers.effects import Domain, Sensitivity, Verb
from classifiers.knowledge.reading import Reading, Told
from classifiers.knowledge.words import Word, is_known
from classifiers.paths import canonical, facts

_SECRETS = frozenset({Sensitivity.CREDENTIAL, Sensitivity.PRIVATE_KEY})
_OPEN_MODE = re.compile(r"0*[0-7]?[0-7][0-7][2-7]|(?:.*,)?[ugo]*[oa][ugoa]*[+=][rwxXst]*[rw].*|(?:.*,)?\+[rw].*")
_OWN = re.compile(r"(?:root|0)?(?:[:.](?:root|0|wheel|shadow)?)?")


def read_rights(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    """Tag what loosens the protection of a secret."""
    given = reading.parsed.operands[0].text if reading.parsed.operands else ""
    chmod = name.text.endswith("chmod")
    loosens = is_known(given) and bool(_OPEN_MODE.fullmatch(given) if chmod else not _OWN.fullmatch(given))
    for item in reading.items if loosens else ():
        if isinstance(item, Told) and _is_secret(item, system=not chmod):
            item.tag("credential_access")


def _is_secret(item: Told, *, system: bool) -> bool:
    """A home's own secrets may well change owner (``chown $USER ~/.kube/config``); the system's may not."""
    if item.domain is not Domain.FILESYSTEM or item.action is not Verb.MODIFY or not item.target:
        return False
    path = canonical(item.target)
    return facts(path, NOWHERE).sensitivity in _SECRETS and (not system or path.startswith("/etc/"))


SPECIAL = ("rights", read_rights)
