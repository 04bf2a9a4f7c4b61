"""``onlooker knowledge``: check command files, and say what is known about a program."""

from __future__ import annotations

from pathlib import Path

import click

from classifiers.knowledge.compile import compile_file
from classifiers.knowledge.examples import differences, examples_in
from classifiers.knowledge.index import compile_all, knowledge, sources
from classifiers.strict_yaml import StrictYamlError


@click.group("knowledge")
def COMMAND() -> None:  # noqa: N802 - the attribute subcommands are found by
    """What onlooker knows about command-line programs."""


@COMMAND.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def check(files: tuple[Path, ...]) -> None:
    """Compile command FILES (or folders) and run their examples. Exit 1: an example fails; 3: a file is wrong."""
    try:
        compile_all(sources())
    except StrictYamlError as error:
        click.echo(str(error), err=True)
        raise SystemExit(3) from None
    failed, ran = 0, 0
    for file in sorted(f for given in files for f in (given.rglob("*.yaml") if given.is_dir() else [given])):
        text = file.read_text("utf-8")
        try:
            compile_file(text, str(file))
        except StrictYamlError as error:
            click.echo(str(error), err=True)
            raise SystemExit(3) from None
        for example in examples_in(text, str(file)):
            ran += 1
            wrong = differences(example)
            if example.todo:
                wrong = [] if wrong else ["this known miss holds now: move it to examples"]
            failed += bool(wrong)
            for sentence in wrong:
                click.echo(f"{example.file}:{example.line}: {example.command}: {sentence}")
    click.echo(f"{ran} examples, {failed} fail")
    raise SystemExit(1 if failed else 0)


@COMMAND.command()
@click.argument("program")
def where(program: str) -> None:
    """The file and line that describe PROGRAM. Exit 1: nothing does."""
    node = knowledge().lookup(program)
    if node is None:
        click.echo(f"{program}: not known")
        raise SystemExit(1)
    click.echo(f"classifiers/commands/{node.file}:{node.line}")
