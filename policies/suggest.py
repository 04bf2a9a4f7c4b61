"""Drafts an objective's scope from observed actions: each line with how often it was seen and an example.

In: subjects of recorded or historic actions. Out: YAML text of an objective that covers them, for a person to cut down.
It refuses to learn from too few calls, leaves out what should not be learned (secrets, risk tags, elevated rights,
deletions of whole trees, unknown targets), and lists what it left out.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from classifiers.effects import Effect
from policies.schemes import PACKAGES
from policies.target import SCHEME, Form, Target, strip_port
from policies.verdict import Subject

MIN_CALLS = 20
_HOSTS = {"network", "messaging"}


class TooFewError(ValueError):
    """Fewer calls were seen than anything should be learned from."""


@dataclass(slots=True)
class Seen:
    """One line of the draft: an action on a domain under one pattern."""

    count: int = 0
    example: str = ""
    sessions: set[str] = field(default_factory=set)

    def add(self, effect: Effect, session: str) -> None:
        self.count += 1
        self.example = self.example or str(effect.target)
        self.sessions.add(session)


@dataclass(slots=True)
class Learned:
    calls: int = 0
    tools: dict[str, int] = field(default_factory=dict)
    lines: dict[tuple[str, str, str], Seen] = field(default_factory=lambda: defaultdict(Seen))
    left_out: dict[str, int] = field(default_factory=dict)


def learn(subjects: Iterable[Subject]) -> Learned:
    out = Learned()
    for subject in subjects:
        out.calls += 1
        name = subject.fields.get("call.name")
        if isinstance(name, str):
            out.tools[name] = out.tools.get(name, 0) + 1
        session = str(subject.fields.get("session.id"))
        home = subject.fields.get("session.home")
        for effect in subject.action.effects:
            reason = _unlearnable(effect)
            if reason:
                out.left_out[reason] = out.left_out.get(reason, 0) + 1
                continue
            key = (str(effect.domain), str(effect.action), generalised(effect, home))
            out.lines[key].add(effect, session)
    return out


def _unlearnable(effect: Effect) -> str | None:
    """Why an effect is no model for a scope."""
    checks = (
        ("unknown kind", "unknown" in (effect.domain, effect.action)),
        ("unknown target", effect.target is None),
        ("a secret", effect.domain == "secrets" or effect.sensitivity not in {None, "none", "vcs_metadata"}),
        ("rights or privilege", effect.action == "grant" or effect.privilege not in {None, "none"}),
        ("a risk tag", bool(effect.tags)),
        ("deletes a whole tree", effect.action == "delete" and effect.breadth in {"recursive", "root", "all"}),
    )
    return next((name for name, found in checks if found), None)


def generalised(effect: Effect, home: str | None = None) -> str:
    """The pattern a target stands for: its project tree, its host, its repository, its package index."""
    target = Target(effect, home)
    text = target.text or ""
    if target.form is Form.HOST:
        return strip_port(text)
    scheme = SCHEME.match(text) if target.form is Form.SCHEME else None
    if scheme is not None:
        if scheme[1] in PACKAGES:
            return scheme[1] + ":*"
        return text.partition("#")[0] + "#*" if scheme[1] == "git" else text
    if text.startswith("/"):
        return tree_of(text)
    if text.startswith("~/"):
        return "/".join(text.split("/")[:2]) + ("/**" if text.count("/") > 1 else "")
    return text


def tree_of(path: str) -> str:
    """``/home/dev/shop/src/a.py`` → ``/home/dev/shop/**``; ``/tmp/x/y`` → ``/tmp/**``; ``/etc/hosts`` stays."""
    parts = path.split("/")
    if parts[1] in {"tmp", "var"} or len(parts) <= 3:
        return "/tmp/**" if parts[1] == "tmp" else path  # noqa: S108 - a pattern, not a file
    depth = 4 if parts[1] in {"home", "Users"} else 3
    return "/".join(parts[:depth]) + ("/**" if len(parts) > depth else "")


def draft(learned: Learned, ident: str, min_calls: int = MIN_CALLS) -> str:
    """YAML of an objective. Raises TooFewError below ``min_calls``."""
    if learned.calls < min_calls:
        raise TooFewError(f"only {learned.calls} calls were seen; a scope is not learned from fewer than {min_calls}")
    merged: dict[tuple[str, str], list[tuple[str, Seen]]] = defaultdict(list)
    for (domain, action, pattern), seen in sorted(learned.lines.items()):
        merged[domain, action].append((pattern, seen))
    out = [
        "# A draft from observed calls: cut it down to what was asked, then run: onlooker objective check",
        "objective: 1",
        f"id: {ident}",
        'statement: ""  # what was asked, in words; recorded, never interpreted',
        "scope:",
        "  tools:",
        *(f"    - {_text(name)}  # {count} calls" for name, count in sorted(learned.tools.items())),
        "  effects:",
    ]
    for (domain, action), rows in merged.items():
        out.append(f"    - domain: {domain}")
        out.append(f"      action: {action}")
        out.append("      target:")
        for pattern, seen in rows:
            note = f"{seen.count} effects in {len(seen.sessions)} sessions, for example {seen.example}"
            out.append(f"        - {_text(pattern)}  # {_line(note)}")
    if not merged:
        out[-1] = "  effects: [{domain: filesystem, action: read}]  # nothing else was seen"
    out += [f"# left out: {reason} ({count} effects)" for reason, count in sorted(learned.left_out.items())]
    return "\n".join(out) + "\n"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _line(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)[:200]


def draft_exceptions(flags: dict[tuple[str, str, str], Seen], until: str, min_calls: int = MIN_CALLS) -> str:
    """YAML of exceptions for flags seen at least ``min_calls`` times. Keys: (rule, agent, pattern)."""
    out = ["# A draft: each exception excuses what was flagged this often. Name who approved it.", "overrides:"]
    for (rule, agent, pattern), seen in sorted(flags.items()):
        if seen.count < min_calls:
            continue
        name = f"seen-{len(out)}"
        match = f"{{agents: [{_text(agent)}], effects: [{{target: [{_text(pattern)}]}}]}}"
        out += [
            f"  - id: {rule}  # {seen.count} flags in {len(seen.sessions)} sessions, for example {_line(seen.example)}",
            f'    exceptions: [{{id: {name}, reason: "", approved_by: "", until: "{until}", match: {match}}}]',
        ]
    if len(out) == 2:
        raise TooFewError(f"no rule flagged one agent and place {min_calls} times; nothing is excused on less")
    return "\n".join(out) + "\n"
