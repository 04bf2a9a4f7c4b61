"""Parameters: ``$name`` and ``${name…}`` in, the value they have in this state out; None: not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from classifiers.knowledge.words import is_known
from classifiers.shell import ir
from classifiers.shell.expand.operators import changed, part_of
from classifiers.shell.state import State

if TYPE_CHECKING:
    from classifiers.shell.expand import Expander

_ARGUMENT_USED = frozenset({":-", "-", ":=", "=", ":+", "+"})
_DEFAULT_OPS = frozenset({":-", "-", ":=", "="})


def variable(expander: Expander, var: ir.Var) -> str | None:
    """What an expansion becomes; commands in its index and argument are run by the expander."""
    if var.index is not None:
        expander.text(var.index)
    if expander.state.vars and (var.index is not None or var.op == ":"):
        expander.evaluate(var.raw)
    if var.op and var.op not in _ARGUMENT_USED:
        expander.text(var.arg)  # its commands run, whatever becomes of the value
    value = lookup(expander.state, var.name) if not var.bang else None
    if var.bang:
        inner = lookup(expander.state, var.name)
        value = lookup(expander.state, inner) if inner else None
    if var.index is not None:
        elements = listed(expander, ir.Var(var.name, var.raw, index=var.index, bang=var.bang))
        value = " ".join(elements) if elements is not None else None
    if value is not None and var.raw.endswith("@P}"):  # expanded as a prompt is
        expander.prompted(value)
        return None
    return _with_operator(expander, var, value) if var.op else value


def _with_operator(expander: Expander, var: ir.Var, value: str | None) -> str | None:
    """``${name:-word}`` and the other operators, given the parameter's value."""
    op = var.op
    if op in _DEFAULT_OPS:
        known_empty = value == "" and op.startswith(":")
        if (value is None and var.name not in expander.state.vars) or known_empty:
            value = expander.text(var.arg)
            if op in {":=", "="}:
                expander.state.vars[var.name] = value
                expander.state.guessed.add(var.name)
        return value
    if op in {":+", "+"}:
        return expander.text(var.arg) if value else None
    if op in {":?", "?"}:
        return value
    if value is None or op == "#len":
        return str(len(value)) if value is not None and is_known(value) else None
    return changed(value, op, var.raw, expander.text(var.arg))


def is_guess(word: ir.WordIR, state: State) -> bool:
    """Whether a value is only what is taken when nobody gave one: ``${1:-stop}``, and a name set to such a default."""
    return any(isinstance(p, ir.Var) and _is_default(p, state) for p in word.parts)


def _is_default(var: ir.Var, state: State) -> bool:
    if var.name in state.guessed:
        return True
    given = var.name.isdigit() and isinstance(state.vars.get("@"), list)
    return var.op in _DEFAULT_OPS and var.name not in state.vars and not given


def listed(expander: Expander, var: ir.Var) -> list[str] | None:
    """``$@`` and array elements, each a field of its own."""
    if var.bang:
        return _keys(expander, var)
    if var.op not in {"", ":"}:
        return None
    name = var.name
    if name in {"@", "*"}:
        value = expander.state.vars.get("@")
        return part_of(["", *value], var) if isinstance(value, list) else None
    value = expander.state.vars.get(name)
    index = expander.text(var.index) if var.index is not None else None
    if isinstance(value, dict) and index is not None:
        value = list(value.values()) if index in {"@", "*"} or index not in value else [value[index]]
        return part_of(value, var)
    if not isinstance(value, list) or index is None:
        return None
    if index in {"@", "*"}:
        return part_of(value, var)
    if var.op:
        return None
    if index.lstrip("-").isdigit() and len(index) < 8:
        return [value[int(index)]] if -len(value) <= int(index) < len(value) else []
    return value  # an index nobody knows: any of them


def _keys(expander: Expander, var: ir.Var) -> list[str] | None:
    """``${!a[@]}``: the subscripts."""
    if var.index is None or var.op or expander.text(var.index) not in {"@", "*"}:
        return None
    held = expander.state.vars.get(var.name)
    if isinstance(held, dict):
        return list(held)
    return [str(i) for i in range(len(held))] if isinstance(held, list) else None


def lookup(state: State, name: str) -> str | None:
    """A scalar's value. HOME, PWD, IFS and the positional parameters are known when the state knows them."""
    if name in state.vars:
        value = state.vars[name]
        if isinstance(value, list):
            return " ".join(value) if name in {"@", "*"} else (value[0] if value else "")
        return value.get("0") if isinstance(value, dict) else value
    if name == "HOME":
        return state.context.home or "~"
    if name == "PWD":
        return state.context.cwd
    if name == "IFS":
        return " \t\n"
    if name == "#" and isinstance(state.vars.get("@"), list):
        return str(len(state.vars["@"] or []))
    if name == "*":
        return lookup(state, "@") if "@" in state.vars else None
    if name in {"USER", "LOGNAME"}:
        return state.context.user
    if name.isdigit() and name != "0" and isinstance(state.vars.get("@"), list):
        return ""
    return None
