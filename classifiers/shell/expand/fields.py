"""Tilde expansion and word splitting (bash(1), Word Splitting): expanded pieces in, fields out."""

from __future__ import annotations

import re

from classifiers.shell import ir
from classifiers.shell.state import State

Chunk = tuple[str, bool, bool]  # text, quoted, split on blanks
GLOB = re.compile(r"[*?\[]|[@!+]\(")


def quoted_start(word: ir.WordIR) -> bool:
    first = word.parts[0] if word.parts else None
    return isinstance(first, ir.Lit) and first.quoted


def tilde(text: str, state: State) -> str:
    if text == "~" or text.startswith("~/"):
        return (state.context.home or "~") + text[1:]
    if text == "~+" or text.startswith("~+/"):
        return (state.context.cwd or "~+") + text[2:]
    name = text[1:].partition("/")[0]
    if name == "root":
        return "/root" + text[5:]
    return f"/home/{text[1:]}" if name.isidentifier() else text


def split(chunks: list[Chunk], separators: str = " \t\n") -> list[tuple[str, bool, bool]]:
    """Fields as (text, quoted, has a pattern). Only unquoted expansions split."""
    fields: list[tuple[str, bool, bool]] = []
    text, quoted, glob, started = "", False, False, False
    for piece, is_quoted, splits in chunks:
        if not splits:
            text += piece
            quoted = quoted or is_quoted
            glob = glob or (not is_quoted and GLOB.search(piece) is not None)
            started = started or bool(piece) or is_quoted
            continue
        tokens = re.split(f"[{re.escape(separators)}]+", piece) if separators else [piece]
        for i, token in enumerate(tokens):
            if i and started:
                fields.append((text, quoted, glob))
                text, quoted, glob, started = "", False, False, False
            if token:
                text += token
                started = True
                glob = glob or GLOB.search(token) is not None
    if started:
        fields.append((text, quoted, glob))
    return fields
