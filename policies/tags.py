"""Tags of rules, checked against pinned id tables (``policies/data``): a mapping aid, no claim of compliance.

In: a tag such as ``attack.T1485`` or ``owasp.ASI02``. Out: None, or the sentence that says what is wrong with it.
Any other prefix (``acme.ticket-12``) is the user's own and is let through.
"""

from __future__ import annotations

import difflib
from functools import cache
from pathlib import Path

from classifiers.strict_yaml import load

_DATA = Path(__file__).parent / "data"
TABLES = ("attack", "owasp")


@cache
def table(name: str) -> tuple[str, dict[str, str]]:
    """The pinned release and its ids with their names."""
    value = load((_DATA / f"{name}.yaml").read_text("utf-8"), f"{name}.yaml").value
    return value["release"], value["ids"]


def known_tag(tag: str) -> str | None:
    prefix, dot, number = tag.partition(".")
    if not dot:
        return f"tag '{tag}' needs a prefix, for example attack.T1485, owasp.ASI02 or acme.something"
    if prefix not in TABLES:
        return None
    release, ids = table(prefix)
    if number in ids:
        return None
    close = difflib.get_close_matches(number, ids, n=1, cutoff=0.8)
    hint = f"; did you mean '{close[0]}'?" if close else ""
    return f"tag '{tag}': no {number} in the {prefix} table ({release}){hint}"
