"""``onlooker scorecard``: how well commands are read, over folders of labelled corpora; recall and false alarms.

In: JSON lines ``{"id","command","shell","labels"}``, one file per source. Labels are other people's opinions; the ones
that are wrong are listed, with reasons, in ``tests/corpora/disputes.yaml`` (``--disputes``) and left out of the rows.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from classifiers.context import Context
from classifiers.effects import Action
from classifiers.strict_yaml import load
from classifiers.surface import CallParts, surface_named
from proxy.scorecard.card import Row, rows
from proxy.scorecard.peers import Peer, installed
from proxy.scorecard.per_effect import PerEffect

Json = dict[str, Any]


def items(folders: Iterable[Path], disputed: frozenset[str]) -> Iterator[tuple[str, Json]]:
    for folder in folders:
        for file in sorted(folder.glob("*.jsonl")) if folder.is_dir() else [folder]:
            for line in file.read_text("utf-8").splitlines():
                item = json.loads(line)
                if item["id"] not in disputed:
                    yield file.stem, item


def _classify(item: Json) -> Action | None:
    name = {"powershell": "powershell", "cmd": "cmd"}.get(item["shell"], "shell")
    surface = surface_named(name)
    return (
        surface.classify(CallParts(name, {"command": item["command"]}), Context(shell=item["shell"]))
        if surface
        else None
    )


@dataclass
class _Card:
    rows: list[Row]
    effects: PerEffect = field(default_factory=PerEffect)
    times: list[float] = field(default_factory=list)  # ms per bash command
    reasons: Counter[str] = field(default_factory=Counter)

    def see(self, file: str, item: Json, peers: list[Peer]) -> None:
        start = time.thread_time()
        action = _classify(item)
        if action is None:
            return
        bash = item["shell"] == "bash"
        if bash:
            self.times.append((time.thread_time() - start) * 1000)
            self.reasons.update(o.reason.value for o in action.opaque)
        said = {p.name: p.judge(item["command"]) for p in peers} if bash else {}
        for row in self.rows:
            row.see(file, item, action)
            row.see_peers(file, item, said)
        self.effects.see(item, action)

    def lines(self, peers: list[str]) -> Iterator[list[str]]:
        """Cells of each row that counted anything: name, counted, result, target, then a peer each."""
        nobody = ["-"] * len(peers)
        for row in self.rows:
            if row.total:
                beside = ["-" if row.peer is None else _percent(row.peers_good[p], row.total) for p in peers]
                yield [row.name, f"{row.good} of {row.total}", _percent(row.good, row.total), row.target, *beside]
        for name, good, total, target in self.effects.lines():
            yield [name, f"{good} of {total}", _percent(good, total), target, *nobody]
        if self.times:
            times = sorted(self.times)
            p50, p99 = (times[min(len(times) - 1, int(len(times) * p / 100))] for p in (50, 99))
            result = f"{p50:.3f} / {p99:.2f} ms"
            yield ["both parsers, per command, p50 / p99", f"{len(times)}", result, "<= 0.6 / <= 5 ms", *nobody]


def _percent(good: int, total: int) -> str:
    return f"{100 * good / max(total, 1):.1f} %"


@click.command("scorecard")
@click.argument("corpora", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--disputes", type=click.Path(exists=True, path_type=Path), help="Labels held to be wrong, with reasons.")
@click.option("--misses", help="Print the misses of rows whose name holds this text.")
@click.option("--markdown", is_flag=True, help="A Markdown table, for docs/scorecard.md.")
def COMMAND(corpora: tuple[Path, ...], disputes: Path | None, misses: str | None, markdown: bool) -> None:  # noqa: N802 - click names it
    """Print the scorecard over CORPORA (folders or files of JSON lines)."""
    disputed = (
        frozenset(load(disputes.read_text("utf-8"), str(disputes)).value["disputes"]) if disputes else frozenset()
    )
    card, peers = _Card(rows()), installed()
    for file, item in items(corpora, disputed):
        card.see(file, item, peers)
    _print(card, [p.name for p in peers], markdown=markdown)
    why = "; ".join(f"{reason} {count}" for reason, count in card.reasons.most_common())
    click.echo(f"\ndisputed labels left out: {len(disputed)}; opaque parts by reason: {why}")
    for row in card.rows if misses else ():
        if misses and misses in row.name:
            for identity, command in row.misses:
                click.echo(f"{row.name}\t{identity}\t{command!r}")


def _print(card: _Card, peers: list[str], *, markdown: bool) -> None:
    if markdown:
        head = ["row", "counted", "result", "target", *peers]
        click.echo("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for line in card.lines(peers):
        plain = f"{line[0]:<52} {line[1]:>14} {line[2]:>18}   {line[3]:<18}" + "  ".join(line[4:])
        click.echo("| " + " | ".join(line) + " |" if markdown else plain.rstrip())
