"""``onlooker objective new``: a commented objective from a few flags, or from the git checkout one stands in."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from policies.new_objective import Wish, checkout, ident_from, write


@click.command("new")
@click.argument("statement", required=False, default="")
@click.option("--id", "ident", help="By default from the checkout's name.")
@click.option("--path", "paths", multiple=True, metavar="DIR", help="Where files may be changed.")
@click.option("--repo", "repos", multiple=True, metavar="HOST/OWNER/REPO", help="Default: the checkout's origin.")
@click.option("--host", "hosts", multiple=True, metavar="HOST", help="A host that may be sent to and read from.")
@click.option("--not", "forbidden", multiple=True, metavar="DIR", help="A folder that must not be touched.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write here; an existing file is kept.")
def COMMAND(  # noqa: N802, PLR0917 - click names them
    statement: str,
    ident: str | None,
    paths: tuple[str, ...],
    repos: tuple[str, ...],
    hosts: tuple[str, ...],
    forbidden: tuple[str, ...],
    out: Path | None,
) -> None:
    """Write an objective for STATEMENT: what was asked, in words."""
    found = checkout(Path.cwd())
    root, origin = found or (Path.cwd(), None)
    wish = Wish(
        ident_from(ident or root.name),
        statement,
        tuple(str(Path(p).absolute()) for p in paths) or (str(root),),
        repos or ((origin,) if origin else ()),
        hosts,
        origin=origin is not None and not repos,
        forbidden=tuple(str(Path(p).absolute()) for p in forbidden),
    )
    text = write(wish)
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        click.echo(f"onlooker: {out}: {error.strerror}", err=True)
        sys.exit(2)
    click.echo(f"wrote {out}; read it, then: onlooker run --objective {out} -- claude")
