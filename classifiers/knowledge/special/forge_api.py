"""gh api, glab api: requests that let someone in. A reading in, changes under certain paths turned into grants.

Source: GitHub REST API "Collaborators", "Deploy keys", "Organization members"; GitLab REST API "Members".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from classifiers.effects import Domain, Verb
from classifiers.knowledge.reading import Reading, Told
from classifiers.knowledge.words import Word

_LETS_IN = re.compile(
    r"/?(?:.*/)?(?:collaborators/[^/]+|keys|deploy_keys|memberships(?:/[^/]+)?|members|invitations|user/(?:ssh_)?keys)"
)


def read_request(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    """A change of keys or members is a grant; what is deleted or only read stays so."""
    path = reading.parsed.operands[0].text.partition("?")[0] if reading.parsed.operands else ""
    for item in reading.items if _LETS_IN.fullmatch(path) else ():
        if isinstance(item, Told) and item.domain is Domain.VCS and item.action is Verb.MODIFY:
            item.action = Verb.GRANT


SPECIAL = ("forge_api", read_request)
