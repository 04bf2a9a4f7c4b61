"""Permissions of coding agents turned into a scope and rules: allow becomes scope, ask and deny become rules.

In: Claude Code's ``settings.json`` (its documentation's page on settings, permissions) or Codex's ``config.toml`` (its
page on configuration). Out: ``Imported``: YAML text of an objective and a policy, and what could not be carried over.
A command pattern is carried over by what the command could *do*, worked out by the classifier.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from classifiers.effects import Action, Effect

Classify = Callable[[str], Action]
_RULE = re.compile(r"([A-Za-z_][\w-]*)(?:\((.*)\))?", re.DOTALL)
_OPERAND = "onlooker-operand"
_READ_TOOLS = {"Read", "Grep", "Glob", "LS", "NotebookRead"}
_WRITE_TOOLS = {"Edit", "Write", "MultiEdit", "NotebookEdit"}


@dataclass(slots=True)
class Imported:
    """``scope`` and rules as flow-style YAML entries; ``lost`` in sentences."""

    scope: list[str] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    rules: list[tuple[str, str, str, str]] = field(default_factory=list)  # id, severity, description, match
    lost: list[str] = field(default_factory=list)

    def objective(self, ident: str) -> str:
        out = ["objective: 1", f"id: {ident}", 'statement: ""', "scope:"]
        if self.tools:
            out += ["  tools:", *(f"    - {_text(t)}" for t in dict.fromkeys(self.tools))]
        entries = list(dict.fromkeys(self.scope))
        entries = entries or ["{domain: filesystem, action: read}"]
        out += ["  effects:", *(f"    - {e}" for e in entries)]
        return "\n".join([*out, *self._comments()]) + "\n"

    def policy(self, ident: str) -> str:
        out = ["policy: 1", f"id: {ident}", "rules:" if self.rules else "rules: []"]
        for name, severity, description, match in self.rules:
            out += [
                f"  - id: {name}",
                f"    description: {_text(description)}",
                f"    severity: {severity}",
                f"    match: {match}",
            ]
        return "\n".join([*out, *self._comments()]) + "\n"

    def _comments(self) -> list[str]:
        return [f"# not carried over: {' '.join(lost.split())}" for lost in self.lost]


def claude_code(text: str, classify: Classify) -> Imported:
    """Raises ValueError when the text is not JSON or not such settings."""
    value = json.loads(text)
    permissions = value.get("permissions") if isinstance(value, dict) else None
    if not isinstance(permissions, dict):
        raise ValueError("no 'permissions' in these settings")  # noqa: TRY004 - the user's file is wrong, not a type
    out = Imported()
    for kind, severity in (("allow", ""), ("ask", "medium"), ("deny", "high")):
        for rule in permissions.get(kind, []):
            _claude_rule(out, kind, severity, str(rule), classify)
    for folder in permissions.get("additionalDirectories", []):
        out.scope.append(_entry("filesystem", ["read", "create", "modify"], [str(folder).rstrip("/") + "/**"]))
    mode = permissions.get("defaultMode")
    if mode not in {None, "default"}:
        out.lost.append(f"defaultMode {mode}: it says what is asked about, not what is meant")
    return out


def _claude_rule(out: Imported, kind: str, severity: str, rule: str, classify: Classify) -> None:
    found = _RULE.fullmatch(rule)
    if found is None:
        out.lost.append(f"{kind} {rule}: not a permission rule")
        return
    tool, inner = found[1], found[2]
    match = _effects(tool, inner, classify)
    if match is None:
        out.lost.append(f"{kind} {rule}: what it covers cannot be read from the pattern")
    elif kind == "allow":
        out.tools.append(_tool_glob(tool))
        out.scope += match
    else:
        body = f"{{tools: [{_text(_tool_glob(tool))}]" + (f", effects: [{', '.join(match)}]" if match else "") + "}"
        number = len(out.rules) + 1
        out.rules.append((f"imported.{kind}-{number}", severity, f"{kind} in Claude Code: {rule}", body))


def _tool_glob(tool: str) -> str:
    return tool + "__*" if tool.startswith("mcp__") and tool.count("__") == 1 else tool


def _effects(tool: str, inner: str | None, classify: Classify) -> list[str] | None:
    """Entries for one permission; an empty list: the tool as a whole; None: cannot be carried over."""
    if inner is None or inner in {"*", ""}:
        return []
    if tool == "Bash":
        return _command(inner, classify)
    if tool == "WebFetch" and inner.startswith("domain:"):
        return [_entry("network", ["receive"], [inner.removeprefix("domain:")])]
    if tool in _READ_TOOLS:
        return [_entry("filesystem", ["read"], [_path(inner)]), _entry("secrets", ["read"], [_path(inner)])]
    if tool in _WRITE_TOOLS:
        return [_entry("filesystem", ["create", "modify", "delete"], [_path(inner)])]
    return None


def _path(pattern: str) -> str:
    """``//abs`` is absolute, ``~/`` home, the rest is relative to the project or the settings file."""
    if pattern.startswith("//"):
        return pattern[1:]
    bare = pattern.removeprefix("./").lstrip("/")
    return pattern if pattern.startswith("~") else ("**/" + bare if not bare.startswith("**") else bare)


def _command(pattern: str, classify: Classify) -> list[str] | None:
    """The effects of the command a prefix or glob pattern stands for; targets the pattern leaves open stay open."""
    command = pattern.removesuffix(":*").removesuffix(" *").rstrip("*").strip()
    if not command or "*" in command:
        return None
    action = classify(command)
    if not action.effects:  # a prefix that wants an operand
        action = classify(f"{command} {_OPERAND}")
    if not action.complete or not action.effects:
        return None
    return list(dict.fromkeys(_of_effect(e) for e in action.effects))


def _of_effect(effect: Effect) -> str:
    keep = effect.target is not None and effect.domain != "filesystem" and _OPERAND not in effect.target
    return _entry(str(effect.domain), [str(effect.action)], [effect.target] if keep and effect.target else [])


def _entry(domain: str, actions: list[str], targets: list[str]) -> str:
    parts = [f"domain: {domain}", f"action: [{', '.join(actions)}]"]
    if targets:
        parts.append(f"target: [{', '.join(map(_text, targets))}]")
    return "{" + ", ".join(parts) + "}"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def codex(text: str, classify: Classify) -> Imported:
    """Sandbox and approval settings. Raises ValueError when the text is not TOML."""
    del classify
    value = tomllib.loads(text)
    out = Imported()
    mode = value.get("sandbox_mode", "read-only")
    out.scope.append(_entry("filesystem", ["read"], []))
    if mode == "workspace-write":
        write: dict[str, Any] = value.get("sandbox_workspace_write", {})
        roots = [str(r).rstrip("/") + "/**" for r in write.get("writable_roots", [])]
        if roots:
            out.scope.append(_entry("filesystem", ["create", "modify", "delete"], roots))
        out.scope.append(_entry("code", ["execute"], ["project"]))
        if write.get("network_access"):
            out.scope.append(_entry("network", ["send", "receive"], []))
        out.lost.append("the working directory is writable too: add its path to the scope")
    elif mode == "danger-full-access":
        out.lost.append("sandbox_mode danger-full-access: no scope can be read from it")
    for name in sorted(set(value) & {"approval_policy", "approvals_reviewer", "permissions"}):
        out.lost.append(f"{name} = {value[name]}: it says what is asked about, not what is meant")
    out.tools += [f"mcp__{name}__*" for name in value.get("mcp_servers", {})]
    if out.tools:
        out.tools += ["shell", "exec_command", "apply_patch", "local_shell", "write_stdin", "view_image", "update_plan"]
    return out


SOURCES: dict[str, Callable[[str, Classify], Imported]] = {"claude-code": claude_code, "codex": codex}
