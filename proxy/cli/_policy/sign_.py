"""``onlooker policy sign``: make, or verify, a signed bundle of policies."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import click
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

from policies.bundle import BundleError, key_id, read, sign
from policies.source import gather
from proxy.cli._policy.show import BAD_FILE, show


@click.command("sign")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--key", type=click.Path(path_type=Path), metavar="PEM", help="Ed25519 private key: sign.")
@click.option("--verify", "public", type=click.Path(path_type=Path), metavar="PEM", help="Public key: only verify.")
@click.option("--id", "ident", default="policies", show_default=True, help="The bundle's name, inside the signature.")
@click.option(
    "--revision", type=click.IntRange(1), default=1, show_default=True, help="Must grow from bundle to bundle."
)
@click.option("--not-after", metavar="TIME", help="RFC 3339, with offset.")
def COMMAND(  # noqa: N802, PLR0917 - click names them
    folder: Path, key: Path | None, public: Path | None, ident: str, revision: int, not_after: str | None
) -> None:
    """Sign every file of FOLDER (only policies that check), or verify it."""
    if (key is None) == (public is None):
        raise click.UsageError("give --key to sign or --verify to verify")
    try:
        if public is not None:
            _verify(folder, public)
        elif key is not None:
            _sign(folder, key, ident, revision, not_after)
    except (OSError, ValueError) as error:
        click.echo(f"onlooker: {folder}: {error}", err=True)
        sys.exit(BAD_FILE)


def _sign(folder: Path, key: Path, ident: str, revision: int, not_after: str | None) -> None:
    errors = [d for file in sorted(folder.rglob("*.yaml")) for d in gather(file, datetime.now(UTC)).errors]
    if errors:
        show(errors, "text")
        sys.exit(BAD_FILE)
    private = load_pem_private_key(key.read_bytes(), None)
    if not isinstance(private, Ed25519PrivateKey):
        raise BundleError("the key is not an Ed25519 private key")
    click.echo(f"signed by {sign(folder, ident, revision, private, not_after=not_after)}, revision {revision}")


def _verify(folder: Path, public: Path) -> None:
    key = load_pem_public_key(public.read_bytes())
    if not isinstance(key, Ed25519PublicKey):
        raise BundleError("the key is not an Ed25519 public key")
    bundle = read(folder, {key_id(key): key}, datetime.now(UTC))
    click.echo(
        f"ok: {bundle.id} revision {bundle.revision}, {len(bundle.files)} policies, signed by {bundle.signed_by}"
    )
