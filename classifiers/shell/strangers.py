"""Commands nobody knows: a name without knowledge, or one the text does not show. Words in, what can be said out."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import replace

from classifiers.effects import Certainty, Domain, OpaqueReason, Tag, Verb
from classifiers.knowledge.words import Word
from classifiers.shell.emit import tell
from classifiers.shell.evaluate import Evaluator, Result
from classifiers.shell.flows import command_flows
from classifiers.shell.functions import call_function
from classifiers.shell.payloads.script_files import given, run_file
from classifiers.shell.redirects import Plan
from classifiers.shell.state import Scope, State, Stream

_PROGRAM_FOLDERS = (
    "/usr/local/bin/",
    "/usr/bin/",
    "/bin/",
    "~/.local/bin/",
    "~/bin/",
    "/usr/local/sbin/",
    "/usr/sbin/",
)
_INIT = re.compile(r"/etc/(?:rc\.d/)?init\.d/([\w.@-]+)")
_NOT_FOUND = ("command_not_found_handle", "command_not_found_handler")  # bash, zsh: called with the command's words


def run_unknown(ev: Evaluator, words: Sequence[Word], state: State, scope: Scope) -> Result:
    """A name no knowledge has: a service's own script, a file that is run, else nothing is known of it."""
    name = words[0]
    text = name.text
    scope = replace(scope, given=given(text, words[1:]))
    script = _INIT.fullmatch(text)
    if script is not None and len(words) == 2 and state.key(text) not in state.files:  # System V: its own service
        verb, destructive = (Verb.READ, False) if words[1].text == "status" else (Verb.CONTROL, None)
        tell(ev, verb, Domain.SERVICES, f"service:{script[1]}", name.span, state, scope, destructive=destructive)
        return Stream(None), None
    if "/" in text:
        run_file(ev, name, state, scope, language="")
        return Stream(None, scope.stdin.sources if scope.stdin else ()), None
    own = next(
        (f"{folder}{text}" for folder in ("", *_PROGRAM_FOLDERS) if state.key(folder + text) in state.files), None
    )
    if own is not None:  # a program this very script wrote
        run_file(ev, name.with_text(own), state, scope, language="")
        return Stream(None), None
    for hook in _NOT_FOUND:
        if hook in state.functions and not state.running(hook):
            return call_function(
                ev, [name.with_text(hook), *words], state, replace(scope, certainty=Certainty.POSSIBLE)
            )
    index = tell(ev, Verb.EXECUTE, Domain.PROCESS, text, name.span, state, scope, destructive=None)
    command_flows(ev, [], [] if index is None else [index], ev.streams_in(list(words[1:])), words)
    ev.out.hide(OpaqueReason.UNKNOWN_EXECUTABLE, scope.span(name.span), text)
    return Stream(None, scope.stdin.sources if scope.stdin else ()), None


def run_dynamic(ev: Evaluator, words: Sequence[Word], state: State, scope: Scope, plan: Plan | None) -> Result:
    """The command's own name is not known."""
    name = words[0]
    raw = ev.unknowns.reveal(name.text)
    found = ev.streams_in([name])
    base = posixpath.basename(name.text)
    if "/" in name.text and ev.known(base) and not name.glob:
        index = tell(ev, Verb.EXECUTE, Domain.PROCESS, name.text, name.span, state, scope, destructive=None)
        return Stream(None), None
    index = tell(ev, Verb.EXECUTE, Domain.CODE, name.text, name.span, state, scope, destructive=None)
    ev.out.hide(OpaqueReason.DYNAMIC_COMMAND, scope.span(name.span), raw)
    if index is not None:
        for stream in found:
            ev.code_flow(stream, index)
        if state.sockets or (plan and plan.network is not None) or (scope.stdin and scope.stdin.network):
            ev.out.tag(index, Tag.REVERSE_SHELL)
    return Stream(None), None
