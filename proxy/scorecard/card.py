"""The rows of the card: a labelled command and the action ours makes of it in, counts out. Recall and false alarms.

Labels are ``{"id","command","shell","labels"}`` as the corpora have them; a row asks first which file they are from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from classifiers.effects import Action, Domain, Tag, Verb
from proxy.scorecard.escapes import escape_shown
from proxy.scorecard.peers import Said
from proxy.scorecard.per_effect import meets

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
            _not_silent,
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
            _calm,
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
        Row("gtfobins: complete, its function's effect present", ">= 85 %", _from("gtfobins"), escape_shown),
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
        found = [i for i, e in enumerate(action.effects) if meets(e.to_json(), wanted)]
        if not found:
            return False
        met.update(found)
    others = [e for i, e in enumerate(action.effects) if i not in met and e.destructive is True]
    return action.destructive is labels["destructive"] and not others
