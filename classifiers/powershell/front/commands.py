"""Commands, their words and parameters, pipes and redirections: a node in, a call of the lower-case name out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from classifiers.code import ir
from classifiers.code.library import library
from classifiers.powershell.front.expressions import called
from classifiers.powershell.front.names import aliases, is_switch
from classifiers.powershell.front.texts import expandable
from classifiers.powershell.front.tree import Front
from classifiers.powershell.repair import numbered

_QUALIFIED = re.compile(r"^[\w.]+\\(?=[a-z]+-\w+$)")  # the module of a cmdlet
_DASHES = "-\u2013\u2014\u2015"
_GUID = re.compile(r"\{[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\}", re.IGNORECASE)
_RANGE = re.compile(r"(-?\d{1,9})\.\.(-?\d{1,9})")
MAX_RANGE = 24
_NAMES = frozenset({"command_name", "command_name_expr", "path_command_name"})


def _pipeline(front: Front, node: Any) -> ir.Node:
    """``a | b | c``: each command gets the value before it as its input."""
    parts = [c for c in node.named_children if c.type not in {"comment", "pipeline_chain_tail"}]
    tails = [c for c in node.named_children if c.type == "pipeline_chain_tail"]
    if len(parts) == 1 and not tails:
        return front.node(parts[0])
    return ir.Other(front.source.span(node), tuple(front.node(c) for c in (*parts, *tails)))


def _chain(front: Front, node: Any) -> ir.Node:
    before: ir.Node | None = None
    redirects = [c for c in node.named_children if c.type == "redirections"]
    for child in node.named_children:
        if child.type in {"comment", "redirections"}:
            continue
        value = front.node(child)
        if before is not None and isinstance(value, ir.Call):
            value = ir.Call(value.span, value.func, value.args, (*value.named, ("@input", before)), value.words)
        elif before is not None:
            value = ir.Other(front.source.span(node), (before, value))
        before = value
    made = before or ir.Other(front.source.span(node))
    extra = [r for c in redirects for r in _redirections(front, c)]
    if isinstance(made, ir.Const | ir.Join | ir.Name):  # a text: what is written is known
        fed = ("@input", made)
        extra = [ir.Call(r.span, r.func, r.args, (fed,), r.words) if isinstance(r, ir.Call) else r for r in extra]
    return ir.Other(front.source.span(node), (made, *extra)) if extra else made


def _command(front: Front, node: Any) -> ir.Node:
    span = front.source.span(node)
    name = next((c for c in node.named_children if c.type in _NAMES), None)
    invokes = any(c.type == "command_invokation_operator" for c in node.named_children)
    elements = next((c for c in node.named_children if c.type == "command_elements"), None)
    if name is not None and (ends := _RANGE.fullmatch(front.source.text(name))) is not None:
        return _range(span, int(ends[1]), int(ends[2]))
    if name is None or re.fullmatch(r"-?\d[\d.]*", front.source.text(name)):
        return ir.Other(span, tuple(_elements(front, elements, frozenset()).args))
    func = _command_name(front, name, invokes=invokes)
    known = library("powershell").call(func.id) if isinstance(func, ir.Name) else None
    program = func.id.removesuffix(".exe") if isinstance(func, ir.Name) else ""
    found = _elements(front, elements, known.valued if known is not None else frozenset(), program)
    words = (_first_word(front, name, func), *found.words)
    call = ir.Call(span, func, tuple(found.args), tuple(found.named), words)
    return ir.Other(span, (call, *found.redirects)) if found.redirects else call


def _range(span: ir.Span, first: int, last: int) -> ir.Node:
    """``1..3``: the numbers, when they are few."""
    if abs(last - first) >= MAX_RANGE:
        return ir.Other(span)
    step = 1 if last >= first else -1
    return ir.Sequence(span, tuple(ir.Const(span, n) for n in range(first, last + step, step)))


def _first_word(front: Front, name: Any, func: ir.Node) -> ir.Node:
    return func if name.type == "command_name_expr" else expandable(front, name, front.source.text(name))


def _command_name(front: Front, node: Any, *, invokes: bool) -> ir.Node:
    if node.type == "command_name_expr":
        return front.node(node.named_children[0]) if node.named_children else ir.Other(front.source.span(node))
    text = front.source.text(node).replace("`", "")
    bare = _QUALIFIED.sub("", text.lower())
    return ir.Name(front.source.span(node), bare if invokes else aliases().get(bare, bare))


@dataclass(slots=True)
class _Elements:
    """What follows a command's name: positional arguments, parameters, all words in order, redirections."""

    args: list[ir.Node] = field(default_factory=list)
    named: list[tuple[str, ir.Node]] = field(default_factory=list)
    words: list[ir.Node] = field(default_factory=list)
    redirects: list[ir.Node] = field(default_factory=list)
    valued: frozenset[str] = frozenset()  # parameters that have a value in this command, whatever they are in others
    waiting: tuple[str, ir.Span] | None = None  # a parameter whose value may come next
    named_by: str = ""  # the command's own name
    switched: bool = False  # a switch came last
    begun: str = ""  # a word whose next blank is part of it (``My` Files``), which the grammar ends there
    glued: bool = False  # a colon came last: the next word is part of the one before (ffmpeg's ``-c:v``)

    def end_switch(self) -> None:
        """The parameter that waited has no value."""
        if self.waiting:
            self.named.append((self.waiting[0], ir.Const(self.waiting[1], value=True)))
        self.waiting = None


def _elements(front: Front, node: Any, valued: frozenset[str], name: str = "") -> _Elements:
    out = _Elements(valued=valued, named_by=name)
    for child in node.named_children if node is not None else ():
        if child.type == "command_argument_sep" and front.source.text(child).startswith(":") and out.named:
            out.waiting = out.waiting or (out.named.pop()[0], front.source.span(child))  # -Switch:$value
        if child.type in {"command_argument_sep", "comment"}:
            out.glued = child.type == "command_argument_sep" and front.source.text(child) == ":" and bool(out.words)
            continue
        text = front.source.text(child)
        if child.type == "generic_token" and text.endswith("`"):
            out.begun += text[:-1] + " "
            continue
        if child.type == "redirection":
            out.redirects += _redirections(front, child)
        elif child.type == "generic_token" and (glued := _GLUED.fullmatch(text)):
            out.redirects += _written(front, child, glued.group(1), glued.group(2))
        elif out.begun:
            _argument(front, child, out.begun + text, out, expandable(front, child, out.begun + text))
            out.begun = ""
        elif child.type == "command_parameter" or (
            child.type == "generic_token" and text[:1] in _DASHES and text[1:2].isalpha()
        ):
            _parameter(front, child, text, out)
        elif child.type == "argument_list" and out.args and isinstance(out.args[-1], ir.Attr):
            out.args[-1] = out.words[-1] = called(front, out.args[-1], child)
        elif child.type == "argument_list" and out.named and isinstance(out.named[-1][1], ir.Attr):
            out.named[-1] = (out.named[-1][0], called(front, out.named[-1][1], child))
        else:
            _argument(front, child, text, out)
    out.end_switch()
    return out


def _parameter(front: Front, node: Any, text: str, out: _Elements) -> None:
    """``-Name``, ``-Name:value``; whether a value follows is known of switches only."""
    out.end_switch()
    out.switched = False
    text = numbered(text)
    out.words.append(ir.Const(front.source.span(node), text))
    key, colon, value = text[1:].partition(":")
    key = key.lower()
    if colon and value:
        out.named.append((key, ir.Const(front.source.span(node), value)))
    elif is_switch(key, out.valued) and not colon and key not in front.params:
        out.named.append((key, ir.Const(front.source.span(node), value=True)))
        out.switched = True
    else:
        out.waiting = (key, front.source.span(node))


def _argument(front: Front, node: Any, text: str, out: _Elements, value: ir.Node | None = None) -> None:
    value = value or _word(front, node)
    if (
        out.switched and not out.waiting and text.lower() in {"$true", "$false"}
    ):  # no switch after all: a parameter that is yes or no
        out.switched = False
        out.words.append(value)
        out.named[-1] = (out.named[-1][0], value)
        return
    out.switched = False
    if _GUID.fullmatch(text) or (text[:1] == "{" and out.named_by == "bcdedit"):  # names, no blocks
        value = ir.Const(front.source.span(node), text)
    if (
        out.waiting and out.waiting[0] == "filter" and text[:1] == "{"
    ):  # a query of a directory in braces: text, no script
        value = ir.Const(front.source.span(node), text)
    if out.glued:
        span = (out.words[-1].span[0], front.source.span(node)[1])
        out.words[-1] = ir.Join(span, (out.words[-1], ir.Const(span, ":"), value))
    else:
        out.words.append(value)
    if out.waiting:
        out.named.append((out.waiting[0], value))
        out.waiting = None
    else:
        out.args.append(value)


def _word(front: Front, node: Any) -> ir.Node:
    if re.fullmatch(r"-\d+(\.\d+)*", text := front.source.text(node)):  # py -3.11
        return ir.Const(front.source.span(node), text)
    if node.type in {"generic_token", "command_name", "path_command_name", "path_command_name_token"}:
        return expandable(front, node, front.source.text(node))
    return front.node(node)


def _bare(front: Front, node: Any) -> ir.Node:
    return expandable(front, node, front.source.text(node))


_GLUED = re.compile(r"[0-9*](>>?)(\S+)")  # the grammar takes ``2>$null`` for a word
_NOWHERE = frozenset({"$null", "nul", "/dev/null", "$nul"})


def _written(front: Front, node: Any, operator: str, target: str) -> list[ir.Node]:
    """A stream that goes to a file; to another stream or to nowhere it is nothing."""
    if target.startswith("&") or target.lower() in _NOWHERE:
        return []
    span = front.source.span(node)
    func = ir.Name(span, "__append__" if operator == ">>" else "__write__")
    return [ir.Call(span, func, (expandable(front, node, target),))]


def _redirections(front: Front, node: Any) -> list[ir.Node]:
    """``> file`` and ``>> file`` as calls of the language's own writers."""
    out: list[ir.Node] = []
    stack = [node]
    while stack:
        part = stack.pop()
        target = next((c for c in part.named_children if c.type == "redirected_file_name"), None)
        if target is None:
            stack += part.named_children
            continue
        operator = next((front.source.text(c) for c in part.named_children if "operator" in c.type), ">")
        given = [c for c in target.named_children if c.type != "command_argument_sep"]
        if operator.endswith("<") or not given or front.source.text(given[0]).lower() in _NOWHERE:
            continue
        name = "__append__" if ">>" in operator else "__write__"
        func = ir.Name(front.source.span(part), name)
        out.append(ir.Call(front.source.span(part), func, (_word(front, given[0]),)))
    return out


READERS: dict[str, Callable[[Front, Any], ir.Node]] = {
    "pipeline": _pipeline,
    "pipeline_chain": _chain,
    "command": _command,
    **dict.fromkeys(("command_name", "path_command_name", "generic_token"), _bare),
}
