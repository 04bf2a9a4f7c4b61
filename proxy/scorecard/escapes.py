"""Programs that can be made to do something else (GTFOBins): is what the label calls the function among the effects?

In: ``{"labels": {"function": "file-read"}}`` (or ``functions``, several) and the action. Out: whether all was read and
each function shows. A function nobody listed here asks for completeness only.
"""

from __future__ import annotations

from typing import Any

from classifiers.effects import Action, Verb

_SHOWN = {
    "file-read": {Verb.READ},
    "file-write": {Verb.MODIFY, Verb.CREATE},
    "file-upload": {Verb.SEND},
    "upload": {Verb.SEND},
    "file-download": {Verb.RECEIVE},
    "download": {Verb.RECEIVE},
    "shell": {Verb.EXECUTE},
    "command": {Verb.EXECUTE},
    "reverse-shell": {Verb.SEND, Verb.EXECUTE},
    "bind-shell": {Verb.RECEIVE, Verb.EXECUTE},
    "library-load": {Verb.EXECUTE},
}


def escape_shown(item: dict[str, Any], action: Action) -> bool:
    named = item["labels"].get("functions") or [item["labels"].get("function")]
    done = {e.action for e in action.effects}
    return action.complete and all(not _SHOWN.get(str(name)) or bool(_SHOWN[str(name)] & done) for name in named)
