"""gh api, glab api: requests that let someone in, and refs. A reading in, grants and ``git:host/owner/repo#ref`` out.

Source: GitHub REST API "Collaborators", "Deploy keys", "Organization members", "Git references"; GitLab "Members".
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

_REF = re.compile(r"/?repos/([^/]+/[^/]+)/git/refs(?:/(?:heads|tags)/(.+))?")
_PLACE = re.compile(r"/?repos/([^/{]+/[^/{?]+)(?:[/?]|\Z)")  # whatever of the repository it is about
_NEW_REF = re.compile(r"ref=refs/(?:heads|tags)/(.+)")
_FORCED = frozenset({"force=true", "-Fforce=true", "-fforce=true"})


def read_request(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    """A change of keys or members is a grant; what is deleted or only read stays so."""
    path = reading.parsed.operands[0].text.partition("?")[0] if reading.parsed.operands else ""
    for item in reading.items if _LETS_IN.fullmatch(path) else ():
        if isinstance(item, Told) and item.domain is Domain.VCS and item.action is Verb.MODIFY:
            item.action = Verb.GRANT
    if ref := _REF.fullmatch(path):
        _of_ref(reading, ref[1], ref[2], [w.text for w in words])
    elif place := _PLACE.match(path):
        for item in reading.items:
            if isinstance(item, Told) and item.domain is Domain.VCS and item.target:
                item.target = f"{item.target.partition('/')[0]}/{place[1]}"


def _of_ref(reading: Reading, repository: str, ref: str | None, words: list[str]) -> None:
    """``repos/o/r/git/refs/heads/x``: the ref itself, told once; a forced move of it loses what it pointed at."""
    made = next((m[1] for w in words if (m := _NEW_REF.fullmatch(w))), None)
    done: set[Verb] = set()
    for item in [i for i in reading.items if isinstance(i, Told) and i.domain is Domain.VCS and i.target]:
        verb = item.action
        if verb in done:
            reading.items.remove(item)
            continue
        done.add(verb)
        place = str(item.target).partition("/")[0]
        item.target = f"{place}/{repository}" + (f"#{ref or made}" if ref or made else "")
        if verb is Verb.MODIFY and ref is None:
            item.action, item.fields = Verb.CREATE, {**item.fields, "reversibility": "reversible"}
        elif verb is Verb.MODIFY and _FORCED & {*words}:
            item.fields = {**item.fields, "destructive": True, "reversibility": "irreversible"}
            item.tag("history_rewrite")


SPECIAL = ("forge_api", read_request)
