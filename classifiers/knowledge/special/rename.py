"""rename: two programs of one name; the words say which: operands in, the files renamed out.

util-linux's takes FROM TO FILE… (rename(1), util-linux 2.40), the Perl one EXPRESSION FILE… (rename(1p), File::Rename).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from classifiers.effects import Domain, Verb
from classifiers.knowledge.reading import Reading, Told
from classifiers.knowledge.words import Word

_EXPRESSION = re.compile(r"(?:s|y|tr|m)[^\w\s.]|.*[;$(]|.*::|lc$|uc$", re.DOTALL)


def read(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    """Add one change for every file; what is replaced, and by what, are no files."""
    parsed = reading.parsed
    operands = parsed.operands
    coded = parsed.given("-e") or parsed.given("-E")
    skip = 0 if coded else 1 if operands and _EXPRESSION.match(operands[0].text) else 2
    dry = parsed.given("-n")
    for file in operands[skip:]:
        fields = {"destructive": False, "reversibility": "read_only" if dry else "reversible", "dry_run": dry}
        verb = Verb.READ if dry else Verb.MODIFY
        reading.items.append(Told(verb, Domain.FILESYSTEM, file.text, fields, file.span, file))


SPECIAL = ("rename", read)
