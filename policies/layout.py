"""The layout of policy and objective files: line ends, trailing blanks, empty lines, the schema line. Nothing else.

In: text. Out: text that means the very same (checked by reading both), so comments and order stay the author's.
"""

from __future__ import annotations

from classifiers.strict_yaml import load

SCHEMA_LINE = "# yaml-language-server: $schema="


def tidy(text: str, name: str, schema: str | None = None) -> str:
    """Raises StrictYamlError when the text is no YAML, ValueError when tidying would change what it says."""
    before = load(text, name).value
    out: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        bare = line.rstrip()
        if bare or (out and out[-1]):
            out.append(bare)
    while out and not out[-1]:
        out.pop()
    if schema is not None and not any(line.startswith(SCHEMA_LINE) for line in out[:3]):
        out.insert(0, SCHEMA_LINE + schema)
    made = "\n".join(out) + "\n"
    if load(made, name).value != before:
        raise ValueError(f"{name}: a block of text depends on its blanks; left as it is")
    return made
