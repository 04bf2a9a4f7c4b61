"""``onlooker classify``: what a command (or a tool call) could do, for people, as JSON, or line by line.

One effect a line with the words that caused it underlined, then flows, what could not be read and why, and the
knowledge files consulted. ``--jsonl`` reads ``{"id","command","shell"?,"cwd"?}`` or ``{"id","tool","arguments"}`` per
line, answers each in order and never stops at a bad line.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from classifiers import classify
from classifiers.call import ToolCall
from classifiers.context import Context
from classifiers.dispatch import unread
from classifiers.effects import Action, Effect
from classifiers.surface import CallParts, surface_named


@click.command("classify")
@click.argument("command", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.option("--jsonl", is_flag=True, help="JSON lines from standard input, one answer a line.")
@click.option("--cwd", help="Where the command runs: an absolute path.")
@click.option("--home", help="Whose home folder ~ is: an absolute path.")
@click.option("--shell", default="bash", help="bash, powershell or cmd.")
def COMMAND(command: str | None, as_json: bool, jsonl: bool, cwd: str | None, home: str | None, shell: str) -> None:  # noqa: N802, PLR0917 - click names them
    """Say what COMMAND could do."""
    if jsonl:
        _lines(home)
        return
    if command is None:
        raise click.UsageError("give a command, or --jsonl and lines on standard input")
    action = _command(command, shell, Context(cwd=cwd, home=home, shell=shell))
    if as_json:
        click.echo(json.dumps({"id": None, **action.to_json()}, ensure_ascii=False))
    else:
        _show(command, action)


def _command(text: str, shell: str, context: Context) -> Action:
    name = {"powershell": "powershell", "pwsh": "powershell", "cmd": "cmd"}.get(shell, "shell")
    surface = surface_named(name)
    action = surface.classify(CallParts(name, {"command": text}), context) if surface is not None else None
    return action if action is not None else unread(f"no reader for {name} is installed", text[:80])


def _lines(home: str | None) -> None:
    for line in sys.stdin:
        if not line.strip():
            continue
        out = _line(line, home)
        sys.stdout.write(json.dumps(out, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def _line(line: str, home: str | None) -> dict[str, Any]:
    identity: Any = None
    try:
        given = json.loads(line)
        identity = given.get("id")
        cwd = given.get("cwd")
        shell = str(given.get("shell") or "bash")
        context = Context(cwd=cwd if isinstance(cwd, str) else None, home=home, shell=shell)
        if "tool" in given:
            arguments = given.get("arguments")
            text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
            call = ToolCall(str(given["tool"]), _parsed(arguments), text, arguments_valid=True)
            action = classify(call, context)
        else:
            action = _command(str(given["command"]), shell, context)
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        return {"id": identity, "error": f"{type(error).__name__}: {error}"}
    return {"id": identity, **action.to_json()}


def _parsed(arguments: Any) -> Any:
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except ValueError:
        return None


def _show(command: str, action: Action) -> None:
    for i, effect in enumerate(action.effects):
        click.echo(f"{i:>2}  {effect}")
        _underline(command, effect)
    if not action.effects:
        click.echo("no effects")
    for flow in action.flows:
        click.echo(f"flow {flow.kind}: {flow.source} -> {flow.sink}")
    for opaque in action.opaque:
        click.echo(f"opaque {opaque.reason}: {opaque.text}")
    state = "complete" if action.complete else "incomplete"
    said = {True: "yes", False: "no", None: "cannot be known"}[action.destructive]
    click.echo(
        f"{state}; destructive: {said}; reversibility: {action.reversibility}; parsers: {', '.join(action.parsers)}"
    )
    for note in action.notes:
        click.echo(f"known from {note}")


def _underline(command: str, effect: Effect) -> None:
    """The line of the command an effect was read in, with its words marked."""
    evidence = effect.evidence
    if evidence is None or evidence.end <= evidence.start or evidence.end > len(command):
        return
    begin = command.rfind("\n", 0, evidence.start) + 1
    stop = command.find("\n", evidence.start)
    line = command[begin : len(command) if stop < 0 else stop]
    width = max(1, min(evidence.end, begin + len(line)) - evidence.start)
    shown = "".join(c if c.isprintable() else " " for c in line)
    click.echo(f"      {shown}")
    click.echo(f"      {' ' * (evidence.start - begin)}{'~' * width}")
