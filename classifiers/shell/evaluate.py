"""One call's reading: what is found so far, and the walk over statements, each read by its kind.

In: a body of statements. Out: what they print and whether the last one succeeds; effects go to the collector. How each
kind of statement is read is handed in (``Readers``): ``control.py`` has the statements, ``run.py`` the commands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from classifiers.context import Context
from classifiers.effects import Domain, FlowKind, Tag, Verb
from classifiers.knowledge.words import Unknowns, Word, is_known
from classifiers.shell import ir
from classifiers.shell.collect import Collector
from classifiers.shell.expand import Expander
from classifiers.shell.flows import is_remote, is_secret
from classifiers.shell.state import Scope, State, Stream

if TYPE_CHECKING:
    from classifiers.shell.redirects import Plan

MAX_PAYLOADS = 8
_MAX_SUBSTITUTED = 20_000  # characters of a command's output kept as text
Truth = bool | None  # whether a command succeeds; None: either way
Result = tuple[Stream, Truth]


@dataclass(frozen=True, slots=True)
class Readers:
    """How statements by their IR type, builtins by name, and commands given as words are read."""

    statements: Mapping[type, Callable[[Evaluator, Any, State, Scope], Result]]
    builtins: Mapping[str, Callable[[Evaluator, list[Word], State, Scope, Plan], Result]]
    argv: Callable[[Evaluator, Sequence[Word], State, Scope, Plan | None], Result]
    program: Callable[[Evaluator, Sequence[Word], State, Scope, Plan | None], Result]
    arithmetic: Callable[[Evaluator, str, State, Scope], None]
    assigned: Callable[[Evaluator, Sequence[Word], Sequence[Word], State, Scope], list[Word]]


class Evaluator:
    """``path`` is the JSON path of the text being read, for evidence."""

    def __init__(self, context: Context, path: str, collector: Collector, readers: Readers) -> None:
        self.context, self.path, self.out, self.readers = context, path, collector, readers
        self.statements = readers.statements
        self.unknowns = Unknowns()
        self.mark_streams: dict[str, Stream] = {}
        self.kept: set[int] = set()  # effects whose content stays in the program: keys it logs in with
        self.sinks: dict[str, tuple[int, int]] = {}  # the mark of a >(…) → the effects its commands added

    # the walk

    def body(self, body: ir.Body, state: State, scope: Scope) -> Result:
        """Run statements one after the other. Returns what they print together, and whether the last one succeeds."""
        printed: list[Stream] = []
        truth: Truth = True
        for statement in body:
            if state.exited:
                break
            stream, truth = self.statement(statement, state, scope)
            printed.append(stream)
        return self.together(printed), truth

    def statement(self, node: ir.Stmt, state: State, scope: Scope) -> Result:
        return self.statements[type(node)](self, node, state, scope)

    def run_argv(self, words: Sequence[Word], state: State, scope: Scope, plan: Plan | None = None) -> Result:
        """Run one command given as words: a function, a builtin or a program."""
        return self.readers.argv(self, words, state, scope, plan)

    def run_program(self, words: Sequence[Word], state: State, scope: Scope, plan: Plan | None = None) -> Result:
        """Run one command given as words, past functions and builtins of its name."""
        return self.readers.program(self, words, state, scope, plan)

    # what is known

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
        """What expands words here; commands substituted in them run in a copy of the state."""

        def substitute(part: ir.Sub | ir.Proc) -> str | None:
            fed = isinstance(part, ir.Proc) and part.direction == ">"
            inner = replace(scope, stdin=scope.stdin if isinstance(part, ir.Sub) else Stream(None) if fed else None)
            before = len(self.out.effects)
            stream, _ = self.body(part.body, state.copy(), inner)
            if fed:
                self.sinks[self.unknowns.mark(part.raw)] = (before, len(self.out.effects))
                return None
            if stream.text is not None and isinstance(part, ir.Sub) and len(stream.text) < _MAX_SUBSTITUTED:
                if stream.decoded:
                    self.mark_streams[stream.text.rstrip("\n")] = stream
                return stream.text.rstrip("\n")
            self.mark_streams[self.unknowns.mark(part.raw)] = stream
            return None

        def arithmetic(raw: str) -> None:
            self.readers.arithmetic(self, raw, state, scope)

        return Expander(state, self.unknowns, substitute, self.mark_streams, arithmetic)

    def known(self, text: str) -> bool:
        """Whether no part of ``text`` is unknown."""
        return is_known(text)

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

    # where content goes

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

    def fed(self, mark: str, stream: Stream) -> None:
        """``stream`` goes into the commands of a ``>(…)``: they run it, or send it away."""
        for index in range(*self.sinks.get(mark, (0, 0))):
            effect = self.out.effects[index]
            if effect.action is Verb.EXECUTE and effect.domain is Domain.CODE:
                self.code_flow(stream, index)
            elif effect.action is Verb.SEND:
                self.flow_out(stream, index)

    def flow_out(self, stream: Stream, sink: int) -> None:
        """What ``stream`` holds leaves at effect ``sink``: secrets, an archive of files, or the environment."""
        for source in stream.sources:
            if is_secret(self.out.effects[source]) or stream.archive:
                self.out.flow(FlowKind.EXFILTRATION, source, sink)
                self.out.tag(sink, Tag.EXFILTRATION)
