"""Walk a script's statements in order and say what each could do: IR in, effects into the collector.

Control flow only: conditions, loops, branches, functions, dead code, pipes and substitutions. What one simple command
does is ``run.py``'s business.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from classifiers.context import Context
from classifiers.effects import Condition, Domain, FlowKind, OpaqueReason, Tag, Verb
from classifiers.knowledge.words import Unknowns, Word, is_known
from classifiers.shell import ir, loops
from classifiers.shell.collect import Collector
from classifiers.shell.expand import Expander
from classifiers.shell.flows import is_remote, is_secret
from classifiers.shell.state import EMPTY, Scope, State, Stream

MAX_LOOP = 20
MAX_CALLS = 12
MAX_PAYLOADS = 8
Truth = bool | None


# Tests whose operands are arithmetic expressions or names with a subscript; commands outside quotes are told apart.
_EVALUATES = re.compile(r"\A\(\(|\A\$?\[.*\s-(?:v|eq|ne|lt|le|gt|ge)\s", re.DOTALL)
_COMMANDS = re.compile(r"\$\([^()]*\)|`[^`]*`")
_PLAIN_TEST = re.compile(r"\[\[?\s+([\w./-]+)\s+(==?|!=|-eq|-ne)\s+([\w./-]+)\s+\]\]?")


def decided(test: str) -> Truth:
    """``[ a = b ]`` of plain words is decided; every other test may go either way."""
    match = _PLAIN_TEST.fullmatch(test)
    return None if match is None else (match[1] == match[3]) == (match[2] in {"=", "==", "-eq"})


class Evaluator:
    """One call's reading. ``path`` is the JSON path of the text being read, for evidence."""

    def __init__(self, context: Context, path: str, collector: Collector) -> None:
        self.context, self.path, self.out = context, path, collector
        self.unknowns = Unknowns()
        self.mark_streams: dict[str, Stream] = {}
        self.unread_functions: dict[str, tuple[ir.Body, Scope, State]] = {}

    # bodies
    def body(self, body: ir.Body, state: State, scope: Scope) -> tuple[Stream, Truth]:
        """Run statements one after the other. Returns what they print together, and whether the last one succeeds."""
        printed: list[Stream] = []
        truth: Truth = True
        for statement in body:
            if state.exited:
                break
            stream, truth = self.statement(statement, state, scope)
            printed.append(stream)
        return self.together(printed), truth

    def statement(self, node: ir.Stmt, state: State, scope: Scope) -> tuple[Stream, Truth]:
        handler = _HANDLERS[type(node)]
        return handler(self, node, state, scope)

    def simple(self, node: ir.Simple, state: State, scope: Scope) -> tuple[Stream, Truth]:
        from classifiers.shell.run import run_simple  # noqa: PLC0415 - the two call each other

        self.out.tick()
        return run_simple(self, node, state, scope)

    def pipeline(self, node: ir.Pipeline, state: State, scope: Scope) -> tuple[Stream, Truth]:
        stream, truth = scope.stdin, None
        for i, item in enumerate(node.items):
            inner = state if i == len(node.items) - 1 and len(node.items) == 1 else state.copy()
            stream, truth = self.statement(item, inner, replace(scope, stdin=stream))
        if node.negated and truth is not None:
            truth = not truth
        return stream or EMPTY, truth

    def and_or(self, node: ir.AndOr, state: State, scope: Scope) -> tuple[Stream, Truth]:
        left, truth = self.statement(node.left, state, scope)
        wanted = node.op == "&&"
        if state.exited:
            return left, truth
        if truth is not None and truth != wanted:
            return left, truth
        certain = truth is not None
        condition = Condition.ON_SUCCESS if wanted else Condition.ON_FAILURE
        inner = scope if certain else scope.under(condition)
        if wanted or certain:
            right, after = self.statement(node.right, state, inner)
            if not certain:
                state.exited = False
        else:
            branch = state.copy()
            right, after = self.statement(node.right, branch, inner)
            state.merge(branch)
        if certain:
            return self.together([left, right]), after
        return self.together([left, right]), (
            True if not wanted and after is True else False if wanted and after is False else None
        )

    def background(self, node: ir.Background, state: State, scope: Scope) -> tuple[Stream, Truth]:
        self.statement(node.body, state.copy(), scope)
        return EMPTY, True

    def group(self, node: ir.Group, state: State, scope: Scope) -> tuple[Stream, Truth]:
        from classifiers.shell.redirects import apply_redirects  # noqa: PLC0415 - the two call each other

        inner = state.copy() if node.subshell else state
        if not node.redirects:
            return self.body(node.body, inner, scope)
        plan = apply_redirects(self, node.redirects, state, scope)
        stdin = plan.stdin if plan.stdin is not None else scope.stdin
        stream, truth = self.body(node.body, inner, replace(scope, stdin=stdin))
        plan.wrote(self, state, stream)
        return (EMPTY if plan.stdout_taken else stream), truth

    def if_(self, node: ir.If, state: State, scope: Scope) -> tuple[Stream, Truth]:
        printed: list[Stream] = []
        branches: list[State] = []
        certain = True
        for condition, body in node.branches:
            inner = scope if certain else scope.under(Condition.BRANCH)
            _, truth = self.body(condition, state, inner)
            if truth is False:
                continue
            branch = state.copy()
            stream, _ = self.body(body, branch, inner if truth else scope.under(Condition.BRANCH))
            printed.append(stream)
            branches.append(branch)
            if truth is True:
                state.merge(*branches)
                if certain:
                    self.adopt(state, branch)
                return self.together(printed), None
            certain = False
        if node.otherwise is not None:
            branch = state.copy()
            stream, _ = self.body(node.otherwise, branch, scope if certain else scope.under(Condition.BRANCH))
            printed.append(stream)
            branches.append(branch)
        state.merge(*branches)
        return self.together(printed), None

    def adopt(self, state: State, branch: State) -> None:
        """The branch certainly runs: its changes are ours."""
        state.vars, state.context, state.exited = branch.vars, branch.context, branch.exited

    def loop(self, node: ir.Loop, state: State, scope: Scope) -> tuple[Stream, Truth]:
        inner = scope.under(Condition.LOOP)
        branch = state.copy()
        if loops.piles_up(node):
            self.flood(node, state, inner)
        if node.condition is not None:
            _, truth = self.body(node.condition, branch, scope)
            if truth is not None and truth == node.until:
                return EMPTY, True
            stream, _ = self.body(node.body, branch, inner)
        elif node.variable:
            stream = self.each(node, branch, state, inner)
        else:
            for assign in node.assigns:
                branch.vars[assign.name] = None
            stream, _ = self.body(node.body, branch, inner)
        branch.vars.pop(node.variable or "", None)
        state.merge(branch)
        return Stream(None, stream.sources), None

    def flood(self, node: ir.Loop, state: State, scope: Scope) -> None:
        """A loop that starts processes without end."""
        from classifiers.shell.emit import tell  # noqa: PLC0415 - the two call each other

        work = next((s.body for s in node.body if isinstance(s, ir.Background)), None)
        span = work.span if isinstance(work, ir.Simple) else (0, 0)
        told = {"destructive": None, "breadth": "all", "tags": ("availability",)}
        tell(self, Verb.CONTROL, Domain.PROCESS, None, span, state, scope, **told)

    def each(self, node: ir.Loop, branch: State, state: State, scope: Scope) -> Stream:
        """A for loop: each literal value in turn, or one unknown value."""
        expander = self.expander(state, scope)
        name = node.variable or ""
        words = (
            [Word(self.unknowns.mark('"$@"'))]
            if node.words is None
            else [f for w in node.words for f in expander.fields(w)]
        )
        if node.words is None and isinstance(state.vars.get("@"), list):
            words = [Word(v) for v in state.vars["@"] or []]
        printed: list[Stream] = []
        for word in words[:MAX_LOOP]:
            branch.vars[name] = word.text
            (branch.globby.add if word.glob else branch.globby.discard)(name)
            stream, _ = self.body(node.body, branch, scope)
            printed.append(stream)
        if len(words) > MAX_LOOP:
            branch.vars[name] = None
            self.body(node.body, branch, scope)
        return self.together(printed)

    def case(self, node: ir.Case, state: State, scope: Scope) -> tuple[Stream, Truth]:
        from fnmatch import fnmatchcase  # noqa: PLC0415 - rare

        expander = self.expander(state, scope)
        value = expander.text(node.word)
        known = self.known(value)
        branches: list[State] = []
        printed: list[Stream] = []
        falls = False
        for (patterns, body), end in zip(node.arms, node.ends, strict=True):
            texts = [expander.text(p) for p in patterns]
            if falls or (known and all(self.known(t) for t in texts)):
                if not falls and not any(fnmatchcase(value, t) for t in texts):
                    continue
                stream, truth = self.body(body, state, scope)
                falls = end == ";&"
                if end == ";;":
                    return stream, truth
                continue
            branch = state.copy()
            stream, _ = self.body(body, branch, scope.under(Condition.BRANCH))
            printed.append(stream)
            branches.append(branch)
        state.merge(*branches)
        return self.together(printed), None

    def function(self, node: ir.Function, state: State, scope: Scope) -> tuple[Stream, Truth]:  # noqa: ARG002 - one shape
        state.functions[node.name] = node.body
        return EMPTY, True

    def arithmetic(self, raw: str, state: State, scope: Scope) -> None:
        from classifiers.shell import callbacks  # noqa: PLC0415 - the two call each other

        callbacks.evaluated(self, _COMMANDS.sub("", raw), (0, 0), state, scope)

    def test(self, node: ir.Test, state: State, scope: Scope) -> tuple[Stream, Truth]:
        from classifiers.shell import callbacks  # noqa: PLC0415 - the two call each other

        expander = self.expander(state, scope)
        for word in node.words:
            expander.chunks(word.parts)
        if _EVALUATES.search(node.raw):
            callbacks.evaluated(self, _COMMANDS.sub("", node.raw), node.span, state, scope)
            callbacks.subscripts(self, [Word("["), Word(node.raw, node.span)], state, scope)
        return EMPTY, decided(node.raw)

    def broken(self, node: ir.Broken, state: State, scope: Scope) -> tuple[Stream, Truth]:  # noqa: ARG002 - one shape
        self.out.hide(OpaqueReason.PARSE_ERROR, scope.span(node.span), node.raw)
        return Stream(None), None

    # helpers
    def together(self, streams: list[Stream]) -> Stream:
        """What several commands print one after the other; unknown parts are marked, so known lines stay readable."""
        if len(streams) == 1:
            return streams[0]
        sources = tuple(dict.fromkeys(s for stream in streams for s in stream.sources))
        texts = [s.text for s in streams]
        text = None
        if any(t is not None and t.strip() for t in texts) or None not in texts:
            text = "".join(self.unknowns.mark("<output>") + "\n" if t is None else t for t in texts)
        flags = (any(s.decoded for s in streams), any(s.archive for s in streams), any(s.network for s in streams))
        return Stream(text, sources, *flags)

    def expander(self, state: State, scope: Scope) -> Expander:
        def substitute(part: ir.Sub | ir.Proc) -> str | None:
            fed = isinstance(part, ir.Proc) and part.direction == ">"
            inner = replace(scope, stdin=scope.stdin if isinstance(part, ir.Sub) else Stream(None) if fed else None)
            stream, _ = self.body(part.body, state.copy(), inner)
            if isinstance(part, ir.Proc) and part.direction == ">":
                return None
            if stream.text is not None and isinstance(part, ir.Sub) and len(stream.text) < 20_000:
                if stream.decoded:
                    self.mark_streams[stream.text.rstrip("\n")] = stream
                return stream.text.rstrip("\n")
            self.mark_streams[self.unknowns.mark(part.raw)] = stream
            return None

        def arithmetic(raw: str) -> None:
            self.arithmetic(raw, state, scope)

        return Expander(state, self.unknowns, substitute, self.mark_streams, arithmetic)

    def known(self, text: str) -> bool:
        """Whether no part of ``text`` is unknown."""
        return is_known(text)

    def code_flow(self, stream: Stream, sink: int) -> None:
        """``stream`` is executed at effect ``sink``: say where its content came from."""
        received = [s for s in stream.sources if is_remote(self.out.effects[s])]
        for source in received:
            self.out.flow(FlowKind.REMOTE_CODE, source, sink)
        if received:
            self.out.tag(sink, Tag.REMOTE_CODE)
        if stream.decoded:
            self.out.flow(FlowKind.DECODED_CODE, None, sink)
            self.out.tag(sink, Tag.DECODED_CODE)

    def flow_out(self, stream: Stream, sink: int) -> None:
        """What ``stream`` holds leaves at effect ``sink``: secrets, an archive of files, or the environment."""
        for source in stream.sources:
            if is_secret(self.out.effects[source]) or stream.archive:
                self.out.flow(FlowKind.EXFILTRATION, source, sink)
                self.out.tag(sink, Tag.EXFILTRATION)

    def streams_in(self, words: list[Word]) -> list[Stream]:
        """The streams substitutions put into these words."""
        if not self.mark_streams:
            return []
        found = [self.mark_streams[w.text] for w in words if w.text in self.mark_streams]
        return found + [
            self.mark_streams[c]
            for w in words
            if not w.text.isascii()
            for c in w.text
            if c in self.mark_streams and c != w.text
        ]


_HANDLERS: dict[type, Callable[[Evaluator, Any, State, Scope], tuple[Stream, Truth]]] = {
    ir.Simple: Evaluator.simple,
    ir.Pipeline: Evaluator.pipeline,
    ir.AndOr: Evaluator.and_or,
    ir.Background: Evaluator.background,
    ir.Group: Evaluator.group,
    ir.If: Evaluator.if_,
    ir.Loop: Evaluator.loop,
    ir.Case: Evaluator.case,
    ir.Function: Evaluator.function,
    ir.Test: Evaluator.test,
    ir.Broken: Evaluator.broken,
}
