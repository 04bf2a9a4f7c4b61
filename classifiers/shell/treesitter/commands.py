"""Simple commands, assignments and declarations: a node in, a ``Simple`` with its words and redirections out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from classifiers.shell import ir
from classifiers.shell.treesitter.reader import REDIRECTS, Node, Reader
from classifiers.shell.treesitter.redirections import is_descriptor, redirect, redirected
from classifiers.shell.treesitter.words import add_word, words_of

_LOOK = 100  # words between two looks at the clock


def _command(reader: Reader, node: Node) -> ir.Stmt:
    out = ir.Simple([], [], [], reader.span(node))
    for i, child in enumerate(node.children, 1):
        if not i % _LOOK and reader.tick is not None:
            reader.tick(0.0)
        kind = child.type
        if kind == "variable_assignment":
            out.assigns.append(assign(reader, child))
        elif kind == "command_name":
            if out.words or not _cut(reader, out, child):
                out.words.append(reader.word(child.children[0]) if child.child_count else reader.word(child))
        elif kind in REDIRECTS:
            redirect(reader, child, out.redirects, out.words)
        elif kind == "subshell":
            out.words.append(reader.word(child))
        elif kind == "ERROR":
            out.redirects.append(ir.Redirect("broken", None, None, reader.span(child)))
        elif (child.is_named or kind not in {"(", ")"}) and not (kind == "number" and is_descriptor(reader, child)):
            add_word(out.words, reader.word(child))
    return out


def _cut(reader: Reader, out: ir.Simple, node: Node) -> bool:
    """The grammar cuts a value at its last variable (``A=$B:$C/d``): the rest is put back, and said to be."""
    last = out.assigns[-1] if out.assigns else None
    if last is None or last.value is None or last.span[1] != node.start_byte + reader.base:
        return False
    raw = last.value.raw + reader.raw(node)
    whole = reader.another(f": {raw}")
    if len(whole) != 1 or not isinstance(whole[0], ir.Simple) or len(whole[0].words) != 2:
        return False
    end = node.end_byte + reader.base
    last.value = ir.WordIR(whole[0].words[1].parts, (last.value.span[0], end), raw)
    last.span = (last.span[0], end)
    return True


def _assignment(reader: Reader, node: Node) -> ir.Stmt:
    return ir.Simple([], [assign(reader, node)], [], reader.span(node))


def _assignments(reader: Reader, node: Node) -> ir.Stmt:
    assigns = [assign(reader, c) for c in node.children if c.type == "variable_assignment"]
    return ir.Simple([], assigns, [], reader.span(node))


def _declaration(reader: Reader, node: Node) -> ir.Stmt:
    out = ir.Simple([], [], [], reader.span(node), declare=node.children[0].type)
    first = node.children[0]
    out.words.append(ir.WordIR((ir.Lit(reader.raw(first)),), reader.span(first), reader.raw(first)))
    for child in node.children[1:]:
        if child.type == "variable_assignment":
            out.assigns.append(assign(reader, child))
        elif child.type in REDIRECTS:
            redirect(reader, child, out.redirects, out.words)
        elif child.is_named and not _cut(reader, out, child):
            out.words.append(reader.word(child))
    return out


def assign(reader: Reader, node: Node) -> ir.Assign:
    """``name=value``, ``name+=value``, ``name[index]=value``, ``name=(words)``."""
    name, index, append = "", None, False
    value: ir.WordIR | None = None
    array: tuple[ir.WordIR, ...] | None = None
    for child in node.children:
        if child.type == "variable_name":
            name = reader.raw(child)
        elif child.type == "subscript":
            name, _, rest = reader.raw(child).partition("[")
            index = rest.rstrip("]")
        elif child.type in {"=", "+="}:
            append = child.type == "+="
        elif child.type == "array":
            array = words_of(reader, child.children)
        elif child.is_named:
            value = reader.word(child)
    return ir.Assign(name, value, append, array, index, reader.span(node))


STATEMENTS: dict[str, Callable[[Reader, Any], ir.Stmt]] = {
    "command": _command,
    "redirected_statement": redirected,
    "variable_assignment": _assignment,
    "variable_assignments": _assignments,
    "declaration_command": _declaration,
    "unset_command": _declaration,
}
