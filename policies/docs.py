"""Reference pages made from the tables: the vocabulary, and the rules of a policy. Markdown.

In: ``vocab.FIELDS`` or a checked policy. Out: text that ends with a newline.
"""

from __future__ import annotations

from policies.model import Policy
from policies.tags import TABLES, table
from policies.vocab import FIELDS, Field


def vocabulary() -> str:
    out = ["| field | type | meaning | from |", "|---|---|---|---|"]
    for name, field in FIELDS.items():
        out.append(f"| `{name}` | {_type(field)} | {_cell(field.doc)} | {field.source} |")
    return "\n".join(out) + "\n"


def _type(field: Field) -> str:
    if field.values:
        words = ", ".join(field.values)
        return f"{'any of' if field.many else 'one of'} {words}"
    return {"strings": "list of text", "string": "text", "boolean": "true or false"}.get(field.type, "number")


def rules(policy: Policy) -> str:
    out = [f"# {policy.id}", "", "| rule | severity | status | what it sees | tags |", "|---|---|---|---|---|"]
    for rule in sorted(policy.rules, key=lambda r: r.id):
        tags = ", ".join(rule.tags)
        out.append(f"| `{rule.id}` | {rule.severity} | {rule.status} | {_cell(rule.description)} | {tags} |")
    releases = "; ".join(f"{name}: {table(name)[0]}" for name in TABLES)
    out += ["", f"Tags are a mapping aid, no claim of compliance. Pinned tables: {releases}."]
    return "\n".join(out) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
