"""``onlooker knowledge``: check command files, and say what is known about a program."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import click

from audit.escape import terminal as plain
from classifiers.effects import OpaqueReason
from classifiers.knowledge.apart import told_apart
from classifiers.knowledge.arguments import find_sub
from classifiers.knowledge.compile import compile_file
from classifiers.knowledge.examples import differences, examples_in
from classifiers.knowledge.index import compile_all, knowledge, sources
from classifiers.knowledge.told import told
from classifiers.shell import classify_shell
from classifiers.strict_yaml import StrictYamlError


@click.group("knowledge")
def COMMAND() -> None:  # noqa: N802 - the attribute subcommands are found by
    """What onlooker knows about command-line programs."""


@COMMAND.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def check(files: tuple[Path, ...]) -> None:
    """Compile command FILES (or folders) and run their examples.

    Exit 1: an example fails, or a condition tells options of one row apart; 3: a file is wrong.
    """
    try:
        compile_all(sources())
    except StrictYamlError as error:
        click.echo(str(error), err=True)
        raise SystemExit(3) from None
    failed, ran, apart = 0, 0, 0
    for file in sorted(f for given in files for f in (given.rglob("*.yaml") if given.is_dir() else [given])):
        text = file.read_text("utf-8")
        try:
            programs = compile_file(text, str(file))
        except StrictYamlError as error:
            click.echo(str(error), err=True)
            raise SystemExit(3) from None
        for line, sentence in told_apart(programs):
            apart += 1
            click.echo(f"{file}:{line}: {sentence}")
        for example in examples_in(text, str(file)):
            ran += 1
            wrong = differences(example)
            if example.todo:
                wrong = [] if wrong else ["this known miss holds now: move it to examples"]
            failed += bool(wrong)
            for sentence in wrong:
                click.echo(f"{example.file}:{example.line}: {example.command}: {sentence}")
    click.echo(f"{ran} examples, {failed} fail")
    raise SystemExit(1 if failed or apart else 0)


@COMMAND.command()
@click.argument("program")
@click.argument("subcommands", nargs=-1)
def show(program: str, subcommands: tuple[str, ...]) -> None:
    """What is known of PROGRAM (and of one of its SUBCOMMANDS): where it is described, effects, operands, options."""
    node = knowledge().lookup(program)
    for word in subcommands:
        node = find_sub(node, word) if node is not None else None
    if node is None:
        click.echo(f"{' '.join((program, *subcommands))}: not known")
        raise SystemExit(1)
    for line in told(node):
        click.echo(line)


@COMMAND.command()
@click.argument("corpora", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--most", default=30, show_default=True, help="How many unknown programs to list.")
def coverage(corpora: tuple[Path, ...], most: int) -> None:
    """How many commands of CORPORA (JSON lines with "command") are read completely; which programs are missing."""
    total, complete, missing = 0, 0, Counter[str]()
    for file in sorted(f for given in corpora for f in (given.rglob("*.jsonl") if given.is_dir() else [given])):
        for line in file.read_text("utf-8").splitlines():
            item = json.loads(line)
            if item.get("shell", "bash") == "bash" and isinstance(item.get("command"), str):
                action = classify_shell(item["command"])
                total, complete = total + 1, complete + action.complete
                missing.update({o.text for o in action.opaque if o.reason is OpaqueReason.UNKNOWN_EXECUTABLE})
    click.echo(f"{complete} of {total} commands complete ({100 * complete / max(total, 1):.1f} %)")
    for program, count in missing.most_common(most):
        click.echo(f"{count:6}  {plain(program)}")
