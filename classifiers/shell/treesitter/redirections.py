"""Redirections and here-documents: a node in, what it adds to the command it belongs to out."""

from __future__ import annotations

from collections.abc import Callable

from classifiers.shell import ir
from classifiers.shell.heredocs import Lifted
from classifiers.shell.treesitter.reader import REDIRECTS, Node, Reader
from classifiers.shell.treesitter.words import add_word, here_parts


def redirected(reader: Reader, node: Node) -> ir.Stmt:
    """A statement with redirections after it."""
    redirects: list[ir.Redirect] = []
    extra: list[ir.WordIR] = []
    body: ir.Stmt | None = None
    broken: ir.Body = []
    for child in node.children:
        if child.type in REDIRECTS:
            redirect(reader, child, redirects, extra)
        elif child.type in reader.statements:
            body = reader.one(child)
        elif child.type == "ERROR" and reader.between(child.start_byte, child.end_byte + 1) != "<<<":
            broken.append(reader.broken(child))
    if body is None:
        body = ir.Simple([], [], [], reader.span(node))
    begin, end = reader.span(node)

    def add(last: ir.Stmt) -> ir.Stmt:
        if not isinstance(last, ir.Simple):
            return ir.Group([last], redirects=redirects)
        last.redirects += redirects
        last.words += extra
        last.span = (begin if last is body else last.span[0], end)
        return last

    inner = _at_last(body, add)
    return ir.Group([inner, *broken]) if broken else inner


def _at_last(body: ir.Stmt, change: Callable[[ir.Stmt], ir.Stmt]) -> ir.Stmt:
    """``body`` with its last command changed: the grammar hangs a redirection on the whole list (``a && b > f``)."""
    if isinstance(body, ir.AndOr):
        body.right = _at_last(body.right, change)
    elif isinstance(body, ir.Pipeline) and body.items:
        body.items[-1] = _at_last(body.items[-1], change)
    else:
        return change(body)
    return body


def redirect(reader: Reader, node: Node, into: list[ir.Redirect], words: list[ir.WordIR]) -> None:
    """One redirection; words the grammar hung behind it are the command's own."""
    fd: int | None = None
    op = ""
    target: ir.WordIR | None = None
    name = reader.named.get(node.start_byte, "")
    if name.isdigit():
        fd, name = int(name), ""
    for child in node.children:
        if child.type == "file_descriptor":
            fd = int(reader.raw(child)) if reader.raw(child).isdigit() else None
        elif not child.is_named and not op:
            op = "<>" if reader.raw(child) == "<>" else child.type
            if op == "<" and reader.between(child.start_byte - 2, child.start_byte) == "<<":
                op = "<<<"  # the grammar knows it in front of other redirections only
            lifted = reader.lifted.get(child.start_byte)
            if lifted is not None:
                at = child.start_byte + reader.base
                into.append(ir.Redirect("<<", fd, None, (at, at + 2), _here(reader, lifted), name))
                op = "lifted"
        elif op == "lifted":
            op = "lifted-word"
        elif op == "<" and target is None and reader.raw(child) == ">":
            op = "<>"  # the grammar does not know this operator
        elif target is None and op != "lifted-word":
            target = reader.word(child)
        elif not is_descriptor(reader, child):
            word = reader.word(child)
            whole = [target] if target is not None and target.span[1] == word.span[0] else words
            add_word(whole, word)
            target = whole[0] if whole is not words else target
    if op not in {"lifted", "lifted-word"}:
        into.append(ir.Redirect(op, fd, target, reader.span(node), name=name))


def is_descriptor(reader: Reader, node: Node) -> bool:
    """A number the grammar took for a word: ``>& file 0>&1`` (its ``>&1`` is the next redirection)."""
    return reader.raw(node).isdigit() and reader.between(node.end_byte, node.end_byte + 1) in {"<", ">"}


def _here(reader: Reader, lifted: Lifted) -> ir.HereDoc:
    parts: tuple[ir.Part, ...] = (ir.Lit(lifted.body, quoted=True),)
    if not lifted.quoted and ("$" in lifted.body or "`" in lifted.body):
        parts = here_parts(reader, lifted.body, lifted.span[0] + reader.base)
    return ir.HereDoc(lifted.body, lifted.quoted, (lifted.span[0] + reader.base, lifted.span[1] + reader.base), parts)
