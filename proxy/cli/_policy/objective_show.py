"""``onlooker objective show``: what an objective means once its sugar is written out."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from policies.model import Entry
from policies.objective import Objective
from policies.objectives import read
from proxy.cli._options import json_option
from proxy.cli._policy.show import BAD_FILE, show


@click.command("show")
@click.argument("file", type=click.Path(path_type=Path))
@json_option
def COMMAND(file: Path, as_json: bool) -> None:  # noqa: N802 - click names it
    """Print id, validity, bindings, and every line of scope and forbidden with its place."""
    objective, found = read(file)
    errors = [d for d in found if d.level == "error"]
    if objective is None or errors:
        show(errors, "text")
        sys.exit(BAD_FILE)
    click.echo(json.dumps(_json(objective), indent=2, ensure_ascii=False) if as_json else "\n".join(_lines(objective)))


def _json(o: Objective) -> dict[str, Any]:
    valid = {"from": o.valid_from and o.valid_from.isoformat(), "until": o.valid_until and o.valid_until.isoformat()}
    return {
        "id": o.id,
        "hash": o.hash,
        "statement": o.statement,
        "declared_by": o.declared_by,
        "valid": valid,
        "bind": [{k: v} for k, v in o.bind],
        "tools": None if o.tools is None else list(o.tools),
        "scope": None if o.entries is None else [{"at": e.at, "entry": describe(e)} for e in o.entries],
        "forbidden": [
            {"id": f.id, "because": f.because, "tools": list(f.tools), "entries": [describe(e) for e in f.entries]}
            for f in o.forbidden
        ],
        "budget": o.budget,
        "delegation": o.delegation,
    }


def _lines(o: Objective) -> list[str]:
    out = [f"{o.id}  {o.hash[:19]}", f"  {o.statement}" if o.statement else "  (no statement)"]
    if o.valid_from or o.valid_until:
        out.append(f"  valid {o.valid_from or 'always'} to {o.valid_until or 'open'}")
    out += [f"  bound by {kind}: {value}" for kind, value in o.bind]
    out.append("  tools: " + ("any" if o.tools is None else ", ".join(o.tools)))
    out += [f"  scope      {describe(e)}  ({e.at})" for e in o.entries or ()]
    for f in o.forbidden:
        out += [f"  forbidden  {f.id}: {describe(e)}  ({e.at})" for e in f.entries]
        out += [f"  forbidden  {f.id}: tools {', '.join(f.tools)}  ({f.at})"] if f.tools else []
    out += [f"  budget     {name} {limit}" for name, limit in o.budget.items()]
    return out


def describe(entry: Entry) -> str:
    """One entry in words: ``create, modify filesystem: /srv/** but not /srv/prod/**``."""
    actions = ", ".join(sorted(entry.actions)) if entry.actions else "any action on"
    domains = ", ".join(sorted(entry.domains)) if entry.domains else "anything"
    targets = [" | ".join(p.text for p in t.patterns) for t in entry.targets if not t.negated]
    without = [" | ".join(p.text for p in t.patterns) for t in entry.targets if t.negated]
    words = [f"{actions} {domains}"]
    words += [f": {' and '.join(targets)}"] if targets else []
    words += [f" but not {' or '.join(without)}"] if without else []
    rest = [x for x in entry.leaves if x.field not in {"effect.domain", "effect.action"}]
    words += [f" with {x.field.removeprefix('effect.')} {x.op} {x.value}" for x in rest]
    return "".join(words)
