"""``onlooker scorecard``: how well commands are read, over folders of labelled corpora; recall and false alarms.

In: JSON lines ``{"id","command","shell","labels"}``, one file per source. Labels are other people's opinions; the ones
that are wrong are listed, with reasons, in ``tests/corpora/disputes.yaml`` (``--disputes``) and left out of the rows.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from classifiers.context import Context
from classifiers.effects import Action, Domain, Tag, Verb
from classifiers.strict_yaml import load
from classifiers.surface import CallParts, surface_named
from proxy.scorecard_peers import Said, installed

Json = dict[str, Any]
RISKS = frozenset(
    {
        Tag.PERSISTENCE, Tag.CREDENTIAL_ACCESS, Tag.EXFILTRATION, Tag.REMOTE_CODE, Tag.DECODED_CODE, Tag.OBFUSCATED,
        Tag.REVERSE_SHELL, Tag.BIND_SHELL, Tag.DEFENSE_EVASION, Tag.AVAILABILITY, Tag.SELF_PROTECTION, Tag.OVERWRITE,
    }
)  # fmt: skip
# ATT&CK's Discovery tactic (TA0007) and its kin: techniques that only read.
_DISCOVERY = """T1007 T1010 T1012 T1016 T1018 T1033 T1040 T1046 T1049 T1057 T1069 T1082 T1083 T1087 T1115 T1120 T1124
T1135 T1201 T1217 T1482 T1497 T1518 T1526 T1538 T1580 T1613 T1614 T1615 T1619 T1622 T1652 T1654 T1673"""
DISCOVERY = frozenset(_DISCOVERY.split())


def alarms(action: Action, *, secrets: bool = True) -> bool:
    """Destructive, a flow, a grant, a secret or a risk tag (``secrets`` False: reading a secret does not count)."""
    if action.destructive is True or action.flows:
        return True
    return any(
        e.action is Verb.GRANT
        or bool(RISKS & set(e.tags))
        or (e.domain is Domain.SECRETS and (secrets or e.action is not Verb.READ))
        for e in action.effects
    )


@dataclass
class Row:
    """One line of the card: of the rows ``wants`` takes, how many ``holds``."""

    name: str
    target: str
    wants: Callable[[str, Json], bool]
    holds: Callable[[Json, Action], bool]
    peer: Callable[[Said], bool] | None = None  # the same question to a classifier without tags, on bash
    total: int = 0
    good: int = 0
    peers_good: Counter[str] = field(default_factory=Counter)
    misses: list[tuple[str, str]] = field(default_factory=list)

    def see(self, file: str, item: Json, action: Action) -> None:
        if not self.wants(file, item):
            return
        self.total += 1
        if self.holds(item, action):
            self.good += 1
        else:
            self.misses.append((item["id"], item["command"]))

    def see_peers(self, file: str, item: Json, said: dict[str, Said]) -> None:
        if self.peer is not None and self.wants(file, item):
            self.peers_good.update(name for name, one in said.items() if self.peer(one))


def _complete(_item: Json, action: Action) -> bool:
    return action.complete


def _from(*files: str) -> Callable[[str, Json], bool]:
    return lambda file, item: file in files and item["shell"] == "bash"


def _dangerous(file: str, item: Json) -> bool:
    labels = item["labels"]
    marks = {"dcg": "destructive", "safety_net": "destructive", "nah_rust": "dangerous", "shellfirm": "risky"}
    return file in marks and labels.get(marks[file]) is True and "mode" not in labels and item["shell"] == "bash"


def _read_only(file: str, item: Json) -> bool:
    return file in {"dippy", "codex"} and item["labels"].get("safe") is True


def _attack(shell: str) -> Callable[[str, Json], bool]:
    def wants(file: str, item: Json) -> bool:
        technique = str(item["labels"].get("attack", "")).partition(".")[0]
        return file == "atomic_red_team" and item["shell"] == shell and technique not in DISCOVERY

    return wants


def rows() -> list[Row]:
    return [
        Row("agent commands: complete", ">= 95 %", _from("intercode_agents", "agent_traj_swe"), _complete, _whole),
        Row("nl2bash: complete", ">= 92 %", _from("nl2bash"), _complete, _whole),
        Row("tldr bash: complete", ">= 60 %", _from("tldr"), _complete, _whole),
        Row("called dangerous: alarm", ">= 90 %", _dangerous, lambda _i, a: alarms(a), lambda s: s.destructive is True),
        Row(
            "called dangerous: not silent while complete",
            ">= 98 %",
            _dangerous,
            lambda _i, a: alarms(a) or not a.complete,
            lambda s: s.destructive is True or not s.complete,
        ),
        Row(
            "called read-only: destructive False",
            ">= 95 %",
            _read_only,
            lambda _i, a: a.destructive is False,
            lambda s: s.destructive is False,
        ),
        Row(
            "called read-only: no alarm but secrets",
            ">= 99 %",
            _read_only,
            lambda _i, a: not alarms(a, secrets=False),
            lambda s: s.destructive is not True,
        ),
        *(
            Row(
                f"atomic {s}: not complete and harmless",
                ">= 97 %",
                _attack(s),
                _not_harmless,
                (lambda said: said.destructive is not False or not said.complete) if s == "bash" else None,
            )
            for s in _SHELLS
        ),
        Row("hard cases", "all", lambda f, _i: f == "hard_cases", _hard),
    ]


def _whole(said: Said) -> bool:
    return said.complete


_SHELLS = ("bash", "powershell", "cmd")


def _not_silent(_item: Json, action: Action) -> bool:
    return alarms(action) or not action.complete


def _not_harmless(_item: Json, action: Action) -> bool:
    """Harmless: everything was read, nothing is lost or raised, and nothing is changed, sent or run."""
    changes = any(e.action not in {Verb.READ, Verb.RECEIVE} for e in action.effects)
    return alarms(action) or changes or action.destructive is not False


def _calm(_item: Json, action: Action) -> bool:
    return not alarms(action, secrets=False)


def _hard(item: Json, action: Action) -> bool:
    """Each labelled effect met, the action's destructive agrees, no other effect destructive."""
    labels = item["labels"]
    met: set[int] = set()
    for wanted in labels["effects"]:
        found = [i for i, e in enumerate(action.effects) if _meets(e.to_json(), wanted)]
        if not found:
            return False
        met.update(found)
    others = [e for i, e in enumerate(action.effects) if i not in met and e.destructive is True]
    return action.destructive is labels["destructive"] and not others


def _meets(effect: Json, wanted: Json) -> bool:
    if (effect["domain"], effect["action"]) != (wanted["domain"], wanted["action"]):
        return False
    leaf = str(wanted.get("target", "")).rstrip("/").rpartition("/")[2]
    return leaf in f"{effect['target']} {effect['target_raw']}"


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
    card, times, reasons, peers = rows(), [], Counter[str](), installed()
    for file, item in items(corpora, disputed):
        start = time.thread_time()
        action = _classify(item)
        if action is None:
            continue
        if item["shell"] == "bash":
            times.append((time.thread_time() - start) * 1000)
            reasons.update(o.reason.value for o in action.opaque)
        said = {p.name: p.judge(item["command"]) for p in peers} if item["shell"] == "bash" else {}
        for row in card:
            row.see(file, item, action)
            row.see_peers(file, item, said)
    _print(card, times, reasons, len(disputed), [p.name for p in peers], markdown=markdown)
    for row in card if misses else ():
        if misses and misses in row.name:
            for identity, command in row.misses:
                click.echo(f"{row.name}\t{identity}\t{command!r}")


def _print(
    card: list[Row], times: list[float], reasons: Counter[str], disputed: int, peers: list[str], *, markdown: bool
) -> None:
    lines = [
        [
            row.name,
            f"{row.good} of {row.total}",
            f"{100 * row.good / row.total:.1f} %",
            row.target,
            *_beside(row, peers),
        ]
        for row in card
        if row.total
    ]
    times.sort()
    if times:
        at = {p: times[min(len(times) - 1, int(len(times) * p / 100))] for p in (50, 99)}
        spent = f"{at[50]:.3f} / {at[99]:.2f} ms"
        lines.append(
            ["both parsers, per command, p50 / p99", f"{len(times)}", spent, "<= 0.6 / <= 5 ms", *("-" for _ in peers)]
        )
    if markdown:
        head = ["row", "counted", "result", "target", *peers]
        click.echo("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for line in lines:
        plain = f"{line[0]:<48} {line[1]:>14} {line[2]:>18}   {line[3]:<18}" + "  ".join(line[4:])
        click.echo("| " + " | ".join(line) + " |" if markdown else plain.rstrip())
    why = "; ".join(f"{reason} {count}" for reason, count in reasons.most_common())
    click.echo(f"\ndisputed labels left out: {disputed}; opaque parts by reason: {why}")


def _beside(row: Row, peers: list[str]) -> list[str]:
    return ["-" if row.peer is None else f"{100 * row.peers_good[p] / row.total:.1f} %" for p in peers]
