"""Words that are themselves commands: wrappers' argv, scripts in strings, code, SQL, script files, standard input.

In: what the knowledge handed on. Out: the inner effects, under the wrapper's scope, or one ``execute code`` with the
reason it could not be read. Who feeds a payload decides its flow: network → remote_code, decoder → decoded_code.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers import paths
from classifiers.effects import (
    Certainty,
    Domain,
    FlowKind,
    OpaqueReason,
    Tag,
    Verb,
)
from classifiers.knowledge.index import lookup
from classifiers.knowledge.interpret import Handed
from classifiers.knowledge.model import Delegate
from classifiers.knowledge.special import parallel
from classifiers.knowledge.words import Word
from classifiers.shell import descriptors
from classifiers.shell.elsewhere import read_elsewhere, request
from classifiers.shell.emit import inner_scope, tell
from classifiers.shell.state import Scope, State, Stream, stronger

if TYPE_CHECKING:
    from classifiers.shell.evaluate import Evaluator
    from classifiers.shell.redirects import Plan

MAX_DEPTH = 8
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=|BASH_FUNC_[^=\s]+=")
_EXPORTED = re.compile(r"BASH_FUNC_(\w+)(?:%%|\(\))")
# Programs that take orders on standard input, and how one of them is given as an argument.
_ORDERS = {"gdb": "gdb -ex", "ed": "vim -c", "vim": "vim -c"}
_VERSION = re.compile(r"[@=<>~\[]")
MAX_ORDERS = 100
# Where such a text may run a command: dc's ``!`` (not its comparisons), mail's tilde escapes.
_ESCAPES = {"dc": re.compile(r"!(?![<>=])(.*)"), "letter": re.compile(r"^~(?:[!|]|<\s*!)(.*)", re.MULTILINE)}
_SILENT_ALONE = frozenset({*_ORDERS, *_ESCAPES, "transfer"})  # at a terminal a person gives the orders
_SESSION = "what is typed in the session is not in the call"
MAX_STDIN_WORDS = 50
MAX_LINES = 10
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "fish", "ash"})


def hand_on(ev: Evaluator, item: Handed, state: State, scope: Scope, plan: Plan | None) -> Stream:
    """Read one payload. Returns what it prints."""
    inner = inner_scope(scope, item.fields, item.via)
    if not ev.known(inner.where):
        inner = replace(inner, where="unknown")
    if inner.depth > MAX_DEPTH:
        ev.out.hide(OpaqueReason.DEPTH_CAP, scope.span(item.span), item.via)
        return Stream(None)
    state = _place(ev, item.fields, state, inner)
    kind = item.to.kind
    inner = replace(inner, given=given(item.words[0].text if kind == "script" else "-c", item.arguments))
    if kind == "argv":
        return _argv(ev, item, state, inner, plan)
    if kind == "shell":
        runs = _with_input(ev, list(item.words), item, inner) if item.to.replace else [item.words]
        inner = replace(inner, stdin=None) if item.to.replace else inner
        return [_shell_words(ev, replace(item, words=tuple(run)), state, inner) for run in runs][-1]
    if kind == "script" and item.words[0].text in {"-", "/dev/stdin"}:
        kind = "shell" if item.to.language == "shell" else "code"
        kinds = replace(item.to, kind=kind, via=item.via)
        outer = replace(scope, given=inner.given)
        read_stdin(ev, kinds, item.words, item.to.language, state, outer, plan)
        return Stream(None)
    if kind == "script":
        return run_file(ev, item.words[0], state, inner, language=item.to.language)
    if kind == "http":
        return request(ev, item, state, inner)
    text = item.words[0].text if len(item.words) == 1 else " ".join(w.text for w in item.words)
    if kind == "code" and (item.to.language in _ESCAPES or item.to.language == "transfer"):
        return feed(ev, Stream(text), item.to.language, item.span, state, inner, item.to)
    return read_elsewhere(ev, kind, text, item.to, item.span, item.words, state, inner, item.fields)


def given(name: str, arguments: Sequence[Word]) -> tuple[str, ...]:
    """What a script finds in ``$0``, ``$1`` …: nothing to say without arguments, or when a word may be several."""
    return (name, *(w.text for w in arguments)) if arguments and not any(w.glob for w in arguments) else ()


def _argv(ev: Evaluator, item: Handed, state: State, scope: Scope, plan: Plan | None) -> Stream:
    from classifiers.shell.run import run_argv  # noqa: PLC0415 - the two call each other

    words = [Word(p, item.span) for p in item.to.program.split()] + list(item.words)
    if item.to.until:
        stop = next((i for i, w in enumerate(words) if w.text in item.to.until), len(words))
        words = words[:stop]
    if words and _ASSIGNMENT.match(words[0].text):  # sudo A=1 cmd, env A=1 cmd
        state = state.copy()
        while words and _ASSIGNMENT.match(words[0].text):
            _set(words.pop(0), state)
    if len(words) > 1 and words[0].text in {"-c", "-lc"}:  # flock file -c 'script'
        return _shell_words(ev, replace(item, words=tuple(words[1:2])), state, scope)
    if item.to.language == "known" and words:
        name = words[0].text.rpartition("/")[2].partition("@")[0]
        if lookup(name) is None:
            return Stream(None)  # the wrapper has said that it runs it
        words[0] = words[0].with_text(name)
    if item.to.language == "package" and words:
        words = _from_package(words, ev.known(words[0].text))
        if lookup(words[0].text) is None:
            ev.out.hide(OpaqueReason.UNKNOWN_EXECUTABLE, scope.span(item.span), words[0].text)
            return Stream(None)
    runs = [words]
    if item.to.append == "stdin" or item.to.replace:
        runs = _with_input(ev, words, item, scope)
        scope = replace(scope, stdin=None)
    out = scope.stdin or Stream(None)
    for run in runs:
        if run:
            local = state if scope.where == "local" else state.copy()
            out, _ = run_argv(ev, run, local, scope, plan)
    return out


def _from_package(words: list[Word], known: bool) -> list[Word]:
    """The program a package is run for: ``tsc@5`` is tsc; of a scope only what is described, as ``scope__name``.

    ``npm create vite`` runs create-vite; its ``--`` ends npm's own options.
    """
    made = words[0].text == "create" and len(words) > 1
    words = [words[1], *(w for w in words[2:] if w.text != "--")] if made else list(words)
    scope, _, name = words[0].text.rpartition("/")
    name = _VERSION.split(name, maxsplit=1)[0]
    name = f"create-{name}" if made else name
    if scope:
        name = f"{scope[1:]}__{name}" if scope.startswith("@") else words[0].text
    words[0] = words[0].with_text(name if known else words[0].text)
    return words


def _set(word: Word, state: State) -> None:
    """A variable, or a function bash exports as one, for the command that follows."""
    name, _, value = word.text.partition("=")
    state.vars[name] = value
    function = _EXPORTED.fullmatch(name)
    if function is not None:
        from classifiers.shell.treesitter import parse  # noqa: PLC0415 - loads the grammar

        state.functions[function[1]] = parse(value.partition(")")[2])


def _with_input(ev: Evaluator, words: list[Word], item: Handed, scope: Scope) -> list[list[Word]]:
    """xargs and parallel: input lines become operands, or replace the token ``-I`` names."""
    text = scope.stdin.text if scope.stdin is not None else None
    lines = text.split() if text is not None and ev.known(text) else None
    mark = ev.unknowns.mark("<stdin>")
    if scope.stdin is not None and lines is None:
        ev.mark_streams[mark] = scope.stdin
    token = item.to.replace
    default = item.via == "parallel" and token == parallel.INPUT
    fill = parallel.fill if default else lambda t, value: t.replace(token, value)
    if token and any(fill(w.text, mark) != w.text for w in words[item.to.kind != "shell" :]):
        whole = text.strip("\n").split("\n") if text is not None and ev.known(text) else []
        values = whole if 0 < len(whole) <= MAX_LINES else [mark]
        return [[w.with_text(fill(w.text, value)) for w in words] for value in values]
    if not words:
        return []
    fed = lines if lines is not None and len(lines) <= MAX_STDIN_WORDS else [mark]
    return [[*words, *(Word(t, item.span, glob=t == mark) for t in fed)]]


def _shell_words(ev: Evaluator, item: Handed, state: State, scope: Scope) -> Stream:
    words = item.words
    if item.to.vars:
        state = state.copy()
        for name, _, value in (pair.partition("=") for pair in item.to.vars.split()):
            state.vars[name] = value
            state.globby.add(name)
    if len(words) > 1 and not item.to.join:
        state = state.copy()
        state.vars.update({str(i): w.text for i, w in enumerate(words[1:])})
        state.vars["@"] = [w.text for w in words[2:]]
        words = words[:1]
    text = " ".join(w.text for w in words)
    if len(words) == 1 and not item.to.join and item.to.condition:
        scope = replace(scope, condition=stronger(scope.condition, scope.condition))
    streams = ev.streams_in(list(words))
    if len(words) == 1 and not ev.known(text) and len(text.strip()) == 1:
        return _unread(ev, words[0], streams, state, scope)
    decoded = any(s.decoded for s in streams)
    span = scope.span(item.span)
    fixed = scope.fixed
    offset = scope.offset
    word = words[0]
    if len(words) == 1 and fixed is None and word.span[1] - word.span[0] == len(text) + 2:
        offset = span[0] + 1  # a plainly quoted string: positions inside it are the argument's own
    else:
        fixed = span
    inner = replace(scope, offset=offset, fixed=fixed, certainty=Certainty.DECODED if decoded else scope.certainty)
    return run_text(ev, text, state, inner, streams, span)


def _place(ev: Evaluator, fields: Mapping[str, object], state: State, scope: Scope) -> State:
    """Where a payload starts: on another machine nothing local is known; a wrapper may name the folder."""
    away = "where" in fields and scope.where != "local"
    folder = fields.get("cwd")
    if away:
        state = State(replace(state.context, cwd=None, home=None, workspace=None), dict(state.vars))
    if isinstance(folder, str) and folder:
        state = state if away else state.copy()
        state.enter(folder, known=ev.known)
    return state


def _unread(ev: Evaluator, word: Word, streams: list[Stream], state: State, scope: Scope) -> Stream:
    index = tell(ev, Verb.EXECUTE, Domain.CODE, word.text, word.span, state, scope, destructive=None)
    ev.out.hide(OpaqueReason.DYNAMIC_COMMAND, scope.span(word.span), ev.unknowns.reveal(word.text))
    if index is not None:
        if state.sockets:
            ev.out.tag(index, Tag.REVERSE_SHELL)
        for stream in streams:
            ev.code_flow(stream, index)
    return Stream(None)


def run_text(
    ev: Evaluator, text: str, state: State, scope: Scope, streams: list[Stream], span: tuple[int, int]
) -> Stream:
    """Read ``text`` as a script."""
    from classifiers.shell.treesitter import TooDeepError, TooLongError, parse  # noqa: PLC0415 - loads the grammar

    ev.out.tick()
    before = len(ev.out.effects)
    if any(s.decoded for s in streams):
        index = tell(
            ev, Verb.EXECUTE, Domain.CODE, None, (0, 0), state, replace(scope, fixed=span), destructive=False,
            certainty="decoded", tags=("decoded_code", "obfuscated"),
        )  # fmt: skip
        ev.out.flow(FlowKind.DECODED_CODE, None, index)
        scope = replace(scope, certainty=Certainty.DECODED)
    try:
        body = parse(text, ev.out.tick)
    except TooLongError:
        ev.out.hide(OpaqueReason.SIZE_CAP, span, f"{len(text)} characters")
        return Stream(None)
    except (TooDeepError, RecursionError):
        ev.out.hide(OpaqueReason.DEPTH_CAP, span, "nested too deep")
        return Stream(None)
    stream, _ = ev.body(body, state, scope)
    for source in streams:
        for index in range(before, len(ev.out.effects)):
            if source.sources and ev.out.effects[index].domain is Domain.CODE:
                ev.code_flow(source, index)
    return stream


def run_file(ev: Evaluator, word: Word, state: State, scope: Scope, *, language: str) -> Stream:
    """A file that is executed: read when this very call wrote it, else ``execute`` with its path."""
    path = paths.canonical(word.text, state.context.cwd, state.context.home) if ev.known(word.text) else word.text
    if word.text in ev.mark_streams:  # bash <(curl …)
        return feed(ev, ev.mark_streams[word.text], language, word.span, state, scope)
    held = descriptors.opened(word.text, state)
    if held is not None:  # bash /dev/fd/3
        return feed(ev, held, language or "shell", word.span, state, scope)
    known = state.files.get(state.key(word.text)) if scope.where == "local" and ev.known(word.text) else None
    if known is not None and known.text is not None and ev.known(known.text):
        return _run_written(ev, known.text, word, language, state, scope)
    if language == "crontab":
        ev.out.hide(OpaqueReason.PAYLOAD_UNREADABLE, scope.span(word.span), "the jobs are in a file outside the call")
        return Stream(None)
    domain = Domain.CODE if language else Domain.PROCESS
    index = tell(ev, Verb.EXECUTE, domain, path, word.span, state, scope, destructive=None)
    if index is None:
        return Stream(None)
    if language:
        ev.out.hide(
            OpaqueReason.PAYLOAD_UNREADABLE,
            scope.span(word.span),
            f"the script {ev.unknowns.reveal(word.text)} is not in the call",
        )
    if known is not None and known.sources:
        received = [s for s in known.sources if ev.out.effects[s].action is Verb.RECEIVE]
        for source in received or known.sources[-1:]:
            ev.out.flow(FlowKind.REMOTE_CODE if received else FlowKind.WRITE_THEN_EXECUTE, source, index)
        if received:
            ev.out.tag(index, Tag.REMOTE_CODE)
            if not language:
                ev.out.hide(
                    OpaqueReason.PAYLOAD_UNREADABLE, scope.span(word.span), "what was downloaded is not in the call"
                )
    return Stream(None)


def _run_written(ev: Evaluator, text: str, word: Word, language: str, state: State, scope: Scope) -> Stream:
    kind = language or _shebang(text)
    index = tell(ev, Verb.EXECUTE, Domain.CODE, word.text, word.span, state, scope, destructive=False)
    written = paths.canonical(word.text, state.context.cwd, state.context.home)
    source = next(
        (i for i, e in enumerate(ev.out.effects) if e.target == written and e.action in {Verb.MODIFY, Verb.CREATE}),
        None,
    )
    ev.out.flow(FlowKind.WRITE_THEN_EXECUTE, source, index)
    inner = replace(scope, fixed=scope.span(word.span), via=(*scope.via, word.text))
    if kind in _SHELLS or kind == "shell":
        local = state.copy()
        local.vars |= {str(i): value for i, value in enumerate(scope.given)}
        local.vars |= {"@": list(scope.given[1:])} if scope.given else {}
        return run_text(ev, text, local, replace(inner, given=()), [], scope.span(word.span))
    return read_elsewhere(ev, "code", text, Delegate("code", kind), word.span, (word,), state, inner)


def _shebang(text: str) -> str:
    first = text.partition("\n")[0]
    if not first.startswith("#!"):
        return "shell"
    words = first[2:].split()
    name = words[-1] if words and words[0].endswith("/env") else (words[0] if words else "sh")
    name = name.rpartition("/")[2].rstrip("0123456789.")
    return "shell" if name in _SHELLS else name


def read_stdin(
    ev: Evaluator,
    to: Delegate,
    words: Sequence[Word],
    name: str,
    state: State,
    scope: Scope,
    plan: Plan | None,
    server: dict[str, str | None] | None = None,
) -> None:
    """A program that takes its payload from standard input when no operand gives one."""
    stdin = scope.stdin
    word = words[0]
    if stdin is None and to.kind == "sql":
        ev.out.hide(OpaqueReason.PAYLOAD_UNREADABLE, scope.span(word.span), f"{name}: {_SESSION}")
        return
    if to.language == "letter" and (stdin is None or stdin.text is None or not ev.known(stdin.text)):
        return  # a letter is text
    if stdin is None and to.where:  # a session on another machine, which is told already
        if not to.where.endswith(":*"):  # with no machine named it is how another program connects (rsync -e ssh)
            ev.out.hide(OpaqueReason.PAYLOAD_UNREADABLE, scope.span(word.span), f"{name}: {_SESSION}")
        return
    if stdin is None or (plan is not None and plan.network is not None) or stdin.network:
        interactive_socket = (plan is not None and plan.network is not None) or (stdin is not None and stdin.network)
        if interactive_socket and to.kind == "shell":
            tell(
                ev, Verb.EXECUTE, Domain.CODE, name, word.span, state, scope, destructive=None, tags=("reverse_shell",)
            )
            return
        if to.kind in {"shell", "code"} and to.language not in _SILENT_ALONE:
            tell(ev, Verb.EXECUTE, Domain.PROCESS, name, word.span, state, scope, destructive=None)
            ev.out.hide(OpaqueReason.PAYLOAD_UNREADABLE, scope.span(word.span), f"{name}: {_SESSION}")
        return
    inner = inner_scope(
        scope, {k: getattr(to, k) for k in ("where", "privilege", "condition") if getattr(to, k)}, to.via or name
    )
    feed(
        ev,
        stdin,
        to.language if to.kind == "code" else "shell" if to.kind == "shell" else to.kind,
        word.span,
        _place(ev, {"where": to.where} if to.where else {}, state, inner),
        inner,
        to,
        server,
    )


_SCHEDULE = re.compile(r"\s*(?:@\w+|(?:[-\d*,/A-Za-z]+\s+){4}[-\d*,/A-Za-z]+)\s+(.+)")


def _job(line: str) -> str:
    """The command of one crontab line (crontab(5)); settings, comments and unknown lines have none."""
    match = None if line.lstrip().startswith("#") else _SCHEDULE.fullmatch(line)
    return match[1].partition("%")[0] if match else ""


_TRANSFERS = re.compile(r"\s*(?:[;\n]|&&|\|\|)\s*")


def _order(line: str) -> str:
    """One order of a file-transfer client as a command; ``!`` is the local shell."""
    line = line.strip().lstrip("-@")
    if line.startswith("!"):
        return line[1:]
    first, _, rest = line.partition(" ")
    return f"transfer-order {first.lower()} {rest}" if line and not line.startswith("#") else ""


def _orders(language: str, text: str, *, known: bool) -> str | None:
    """The orders of a program that takes them on standard input, as commands of a shell; None: it is no such text."""
    if language == "crontab":
        return "\n".join(filter(None, map(_job, text.split("\n"))))
    if language == "haproxy":
        return "\n".join(f"haproxy-socket {o.strip()}" for o in re.split(r"[;\n]", text) if o.strip())
    if not known:
        return None
    if language in _ESCAPES:
        return "\n".join(_ESCAPES[language].findall(text))
    if language == "transfer":
        return "\n".join(map(_order, _TRANSFERS.split(text)))
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if language in _ORDERS and 0 < len(lines) <= MAX_ORDERS:
        return "\n".join(f"{_ORDERS[language]} {shlex.quote(line)}" for line in lines)
    return None


def feed(
    ev: Evaluator,
    stream: Stream,
    language: str,
    span: tuple[int, int],
    state: State,
    scope: Scope,
    to: Delegate | None = None,
    server: dict[str, str | None] | None = None,
) -> Stream:
    """Content of a stream, executed. ``server``: the host and database SQL goes to."""
    text = stream.text
    inner = replace(scope, stdin=None, fixed=scope.span(span))
    orders = None if text is None else _orders(language, text, known=ev.known(text))
    if orders == "" and language in _ESCAPES:
        return Stream(None)  # text without an escape: what comes of it is not known, but nothing runs
    if orders is not None:
        return run_text(ev, orders, state.copy(), inner, [], scope.span(span))
    if text is not None and (ev.known(text) or language in {"shell", "bash", "sh"}):
        if language in {"shell", *_SHELLS}:
            return run_text(
                ev, text, state.copy(), inner, [stream] if stream.decoded or stream.sources else [], scope.span(span)
            )
        if text.strip():
            kind = to.kind if to is not None else "code"
            return read_elsewhere(ev, kind, text, to or Delegate("code", language), span, (), state, inner, server)
        return Stream(None)
    if to is not None and to.kind == "files":  # a patch in a file: which files it names is not in the call
        tell(ev, Verb.MODIFY, Domain.FILESYSTEM, ".", span, state, scope, destructive=False, reversibility="reversible")
        return Stream(None)
    if language == "sql" and stream.dump and to is not None:  # one database put into another
        _restore(ev, to.language, server or {}, span, state, scope)
        return Stream(None)
    index = tell(
        ev,
        Verb.EXECUTE,
        Domain.CODE if language != "sql" else Domain.DATABASE,
        None,
        span,
        state,
        scope,
        destructive=None,
    )
    ev.out.hide(OpaqueReason.PAYLOAD_UNREADABLE, scope.span(span), "what is piped in is not in the call")
    if index is not None:
        ev.code_flow(stream, index)
    return Stream(None)


def _restore(
    ev: Evaluator, engine: str, server: dict[str, str | None], span: tuple[int, int], state: State, scope: Scope
) -> None:
    place, name = server.get("host") or "*", server.get("database") or "*"
    target = f"db:{engine}:{place}/{name}"
    tell(ev, Verb.MODIFY, Domain.DATABASE, target, span, state, scope, destructive=None, reversibility="unknown")
