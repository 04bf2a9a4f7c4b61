"""``onlooker policy test``: run the tests written inside rules; coverage and JUnit for pipelines."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from xml.sax.saxutils import quoteattr

import click

from policies.evaluate import Compiled
from policies.inline import Failure, own_rules, run
from policies.model import Rule, Test
from policies.source import gather
from proxy.cli._policy.show import BAD_FILE, show


@dataclass(frozen=True, slots=True)
class Ran:
    rule: Rule
    test: Test
    failure: Failure | None


@click.command("test")
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--coverage", is_flag=True, help="Say which rules have match, no_match and undetermined tests.")
@click.option("--min", "minimum", type=click.IntRange(0, 100), help="Fail below this percentage of rules tested.")
@click.option("--junit", type=click.Path(path_type=Path), metavar="FILE", help="Write results as JUnit XML.")
def COMMAND(files: tuple[str, ...], coverage: bool, minimum: int | None, junit: Path | None) -> None:  # noqa: N802 - click names it
    """Run the inline tests of the files' own rules.

    Exit 1 when an expectation fails or coverage is below --min, 3 when a file is wrong.
    """
    ran: list[Ran] = []
    rules: list[Rule] = []
    for file in files:
        made = gather(file, datetime.now(UTC))
        if made.policy is None:
            show(made.errors, "text")
            sys.exit(BAD_FILE)
        compiled = Compiled(made.policy)
        rules += own_rules(compiled)
        ran += _run(compiled)
    failures = [r.failure for r in ran if r.failure is not None]
    for failure in failures:
        click.echo(str(failure))
    percent = 100 * sum(bool(r.tests) for r in rules) // max(1, len(rules))
    if coverage:
        _coverage(rules)
    click.echo(
        f"{len(ran) - len(failures)} passed, {len(failures)} failed; {percent} % of {len(rules)} rules have tests"
    )
    if junit is not None:
        junit.write_text(_junit(ran), "utf-8")
    sys.exit(1 if failures or (minimum is not None and percent < minimum) else 0)


def _run(compiled: Compiled) -> Iterator[Ran]:
    for rule in own_rules(compiled):
        for test in rule.tests:
            yield Ran(rule, test, run(compiled, rule, test))


def _coverage(rules: list[Rule]) -> None:
    for rule in rules:
        expected = [t.expect for t in rule.tests]
        marks = ", ".join(f"{w} {expected.count(w)}" for w in ("match", "no_match", "undetermined", "excepted"))
        click.echo(f"{'  ' if expected else '! '}{rule.id}: {marks}")


def _junit(ran: list[Ran]) -> str:
    failed = sum(r.failure is not None for r in ran)
    out = [f'<testsuite name="onlooker policy" tests="{len(ran)}" failures="{failed}">']
    for one in ran:
        head = f"  <testcase classname={quoteattr(one.rule.id)} name={quoteattr(one.test.at)}"
        if one.failure is None:
            out.append(head + "/>")
        else:
            out.append(f"{head}><failure message={quoteattr(str(one.failure))}/></testcase>")
    return "\n".join([*out, "</testsuite>", ""])
