"""Hostile strings made harmless for each place they are shown in: one function per place.

In: any string of a record. Out: text that is data there and nothing else. docs/record.md says which output uses which.
"""

from __future__ import annotations

import html as _html
import json
import re

# C0, DEL, C1, line and paragraph separators, bidirectional controls (Unicode TR 36), zero-width and tag characters.
_CONTROL = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def terminal(text: object, limit: int = 0) -> str:
    r"""No control reaches the terminal; each shows as ``\\x1b``. ``limit`` cuts with an ellipsis."""
    said = _CONTROL.sub(lambda m: _visible(m[0]), str(text))
    return said if not limit or len(said) <= limit else said[: limit - 1] + "…"


def html(text: object) -> str:
    """For element content and double-quoted attributes."""
    return _html.escape(terminal(text), quote=True)


def html_block(text: object) -> str:
    """For the content of ``pre``: line ends and tabs stay."""
    parts = re.split(r"([\n\t])", str(text).replace("\r\n", "\n"))
    return "".join(part if part in {"\n", "\t"} else html(part) for part in parts)


def markdown(text: object) -> str:
    """For a table cell: no markup, no link, no cell or line end."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|<>~$&:])", r"\\\1", terminal(text))


def csv(text: object) -> str:
    """One field: quoted, and never a formula (OWASP, CSV injection)."""
    said = terminal(text)
    if said.startswith(_FORMULA):
        said = "'" + said
    return '"' + said.replace('"', '""') + '"'


def sql(text: object) -> str:
    """A string literal. Queries bind parameters where the engine lets them; this is for where it does not."""
    return "'" + str(text).replace("\x00", "").replace("'", "''") + "'"


def prometheus(text: object) -> str:
    """A label's value (exposition format 0.0.4)."""
    return terminal(text).replace("\\", "\\\\").replace('"', '\\"')


def syslog(text: object) -> str:
    """A PARAM-VALUE (RFC 5424 §6.3.3)."""
    return re.sub(r'(["\\\]])', r"\\\1", terminal(text))


def _visible(char: str) -> str:
    return json.dumps(char)[1:-1] if ord(char) > 0xFF else f"\\x{ord(char):02x}"
