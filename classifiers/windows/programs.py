"""What one program of Windows does with these words: the tables ``windows/programs/*.yaml`` in, effects out.

In: the words of a command (None: not known before it runs), lower-cased name first. A program has rules tried in order;
a rule's ``match`` is searched in the words joined by spaces, without regard to case. Holes: ``{text:0}`` is the first
word that is no switch, ``{text:1*}`` each from the second on, ``{text:/tn}`` the value of a switch (the next word, or
after ``:`` or ``=``), ``{text:/pid&}`` every value of it, ``{text:@name}`` what a group of ``match`` found. A table's
``values`` name the switches whose value is the next word, its ``beside`` rules that add to the one that answers, its
``finds`` a pattern whose groups every rule of the program has.
"""

from __future__ import annotations

import ntpath
import re
from dataclasses import replace
from functools import cache
from typing import Any

from classifiers.clock import loading
from classifiers.context import NOWHERE, Context
from classifiers.effects import Domain, Effect, FlowKind, OpaqueReason, Tag, Verb
from classifiers.gather import Gather, tagged
from classifiers.surface import CallParts, surface_named
from classifiers.templates import Given, Lookup, fill_all, template
from classifiers.windows.arguments import Arguments, Words, joined
from classifiers.windows.later import run_later, set_to_run
from classifiers.windows.places import load_places, placed, unset
from classifiers.windows.powershell_line import MAX_DEPTH, Place, run_powershell
from classifiers.windows.rules import Rule, beside, finds, programs, valued

_HOLE = re.compile(r"\$\{?[A-Za-z_][\w:]*\}?|%~?\w")  # a program that is a variable, or a turn of a loop
_DEVICE = re.compile(r"(\\\\\.\\)?(nul|con):?", re.IGNORECASE)  # reads and keeps nothing
_WRAPPERS = frozenset({"cmd", "start", "call", "runas", "forfiles", "wsl", "powershell", "pwsh", "psexec", "psexec64"})
_SHELL_ONLY = re.compile(  # words of a POSIX shell; no program of Windows has these names
    r"alias|bind|builtin|command|declare|disown|enable|eval|exec|export|fg|bg|getopts|hash|history|jobs|let|local|logout"
    r"|read|readonly|shopt|source|times|trap|typeset|ulimit|umask|unalias|unset|wait"
)
_NAMED_PLACES = frozenset({"docker", "podman", "nerdctl", "kubectl", "oc", "rsync"})  # to them ``a:b`` is b in a
_DRIVE = re.compile(r"^([A-Za-z]):[\\/]")
_FOUND = re.compile(r"@(?:path|relpath|file|fname|ext)\b", re.IGNORECASE)
_PLACED = re.compile(
    r"\\(windows|program files[^\\]*|chocolatey|scoop|bin|scripts|tools)\\|^(\.\\)?(gradlew|mvnw)(\.bat|\.cmd)?$"
)


def program_name(word: str) -> str:
    r"""``"C:\Windows\System32\REG.EXE"`` → ``reg``."""
    base = ntpath.basename(word.strip("\"'").replace("/", "\\")).lower()
    return re.sub(r"\.(exe|com|cmd|bat)$", "", base)


def _is_stranger(word: str) -> bool:
    """A program by a path where no package puts one: its name is no one's. A project's own build wrapper is."""
    path = word.strip("\"'").replace("/", "\\").lower()
    return "\\" in path and not _PLACED.search(path)


def _is_script(word: str) -> bool:
    """A batch file by its path: what it is called says nothing."""
    return re.search(r"[\\/].*\.(bat|cmd)[\"']?$", word.lower()) is not None


@loading()
def warm() -> None:
    """Load the tables, the shell's too, before a first command's clock starts."""
    for load in (programs, beside, valued, finds, load_places, _warm_shell):
        load()


@cache
def _warm_shell() -> None:
    reader = surface_named("shell")
    if reader is not None:
        reader.classify(CallParts("shell", {"argv": ["git", "status"]}), NOWHERE)


def knows(name: str) -> bool:
    return name in programs()


def run_program(words: Words, place: Place, out: Gather) -> None:
    """Add the effects of one command. A program nobody described is opaque: ``unknown_executable``."""
    first = words[0] if words else None
    if not first:
        out.add(Domain.PROCESS, Verb.EXECUTE, target_raw="?", span=place.span, destructive=None)
        out.hide(OpaqueReason.DYNAMIC_COMMAND, place.span, "the program is not known before it runs")
        return
    name = program_name(first)
    if _is_script(first):
        out.add(Domain.PROCESS, Verb.EXECUTE, first, span=place.span, destructive=None)
        out.hide(OpaqueReason.UNKNOWN_EXECUTABLE, place.span, first)
        return
    words = [words[0], *joined(words[1:])] if name == "copy" else words
    line = " ".join("?" if w is None else w for w in words[1:])
    if _is_stranger(first) and knows(name):  # it has the name of a program that lies elsewhere
        out.put(unset(Effect(Domain.PROCESS, Verb.EXECUTE, first, destructive=None)), place.span)
    if "/?" in words[1:] and knows(name) and name not in _WRAPPERS:  # it only tells how it is used
        return
    for rule in programs().get(name, ()):
        found = _matched(rule, name, line, words)
        if found is not None:
            _apply(rule, name, found, place, out)
            for more in beside().get(name, ()):
                also = _matched(more, name, line, words)
                if also is not None:
                    _apply(more, name, also, place, out)
            return
    if not _is_stranger(first) and _through_shell(words, place, out):
        return
    out.put(unset(Effect(Domain.PROCESS, Verb.EXECUTE, first, destructive=None)), place.span)
    known = OpaqueReason.DYNAMIC_COMMAND if _HOLE.fullmatch(first) else OpaqueReason.UNKNOWN_EXECUTABLE
    out.hide(known, place.span, first)


def _is_device(effect: Effect) -> bool:
    """``nul`` and ``con``: nothing is read there, nothing kept."""
    return effect.domain is Domain.FILESYSTEM and _DEVICE.fullmatch(effect.target or "") is not None


def _drive_back(target: str | None) -> str | None:
    return target and re.sub(r"^/([A-Za-z])-drive/", lambda m: f"{m[1]}:\\", target)


def _matched(rule: Rule, name: str, line: str, words: Words) -> Arguments | None:
    """The words as the rule sees them; None: it is not meant."""
    found = rule.match.search(line)
    if found is None:
        return None
    captured = found.groupdict()
    if name in finds() and (more := finds()[name].search(line)) is not None:
        captured = {key: text and text.replace("\\\\", "\\") for key, text in (captured | more.groupdict()).items()}
    arguments = Arguments(words[1:], words[0] or name, valued().get(name, frozenset()), captured)
    return arguments if rule.plain in {None, len(arguments.plain)} else None


def _apply(rule: Rule, name: str, arguments: Arguments, place: Place, out: Gather) -> None:
    words = [arguments.program, *arguments.words]
    for line in rule.effects:
        for effect in _filled(line, arguments, place.context):
            if not _is_device(effect):
                out.put(placed(unset(effect)), place.span)
    if rule.later:
        _setting(rule, arguments, place, out)
    if rule.run == "powershell":
        run_powershell(words, place, out)
    elif rule.run:
        _inner(rule, name, arguments, place, out)
    if rule.open is not None:
        out.hide(rule.open, place.span, " ".join(w or "?" for w in words)[:120])


def _setting(rule: Rule, arguments: Arguments, place: Place, out: Gather) -> None:
    """What the setting that is written names will run later: a registry value, or a service's command line."""
    value = arguments.lookup(rule.later["value"])
    if value is None:
        return
    if "key" not in rule.later:
        run_later(value.text, None, place, out)
    elif (key := arguments.lookup(rule.later["key"])) is not None and key.text is not None:
        name = arguments.lookup(rule.later["name"])
        set_to_run(f"{key.text}\\{name.text if name is not None else ''}", [value.text], place, out)


def _filled(line: str, arguments: Arguments, context: Context) -> list[Any]:
    """A hole ``{path:*}`` stands for every word that is no switch, ``{path:1*}`` for each after the first."""
    holes = template(line).holes
    if holes and holes[0].key == "0+":  # copy joins: a.txt+b.txt
        parts = [w for w in (arguments.plain[0] or "?").split("+") if w] if arguments.plain else []
        return [e for word in parts for e in fill_all([line], _always(word), context)]
    if holes and holes[0].key.endswith("&"):  # a switch that may be given again: /pid 1 /pid 2
        found = arguments.each(holes[0].key[:-1])
        return [e for given in found for e in fill_all([line], lambda _key, g=given: g, context)]  # type: ignore[misc]
    if holes and (many := re.fullmatch(r"(\d*)\*", holes[0].key)):
        words: list[str | None] = [w for w in arguments.plain[int(many.group(1) or 0) :] if w != ""]
        if not words and holes[0].default is not None:
            words = [holes[0].default]
        return [e for word in words for e in fill_all([line], _always(word), context)]
    return fill_all([line], arguments.lookup, context)


def _always(word: str | None) -> Lookup:
    return lambda _key: Given(word, word or "?")


def _inner(rule: Rule, name: str, arguments: Arguments, place: Place, out: Gather) -> None:
    """The command inside the command."""
    words = arguments.rest(rule.run)
    if rule.one or rule.run.startswith(("/tr", "-tr", "/b", "/v", "-argument")):
        words = words[:1]
    if not words:
        out.hide(OpaqueReason.PAYLOAD_UNREADABLE, place.span, f"inner command of {name}")
        return
    if None in words or place.depth >= MAX_DEPTH:
        reason = OpaqueReason.DYNAMIC_COMMAND if None in words else OpaqueReason.DEPTH_CAP
        out.hide(reason, place.span, f"inner command of {name}")
        return
    whole = len(words) == 1 and (rule.run != "plain" or "\\" not in (words[0] or ""))  # one word is a whole command
    parted = not whole and rule.shell == "cmd"
    text = " ".join(f'"{w}"' if parted and " " in w and '"' not in w else w for w in words if w is not None)
    if name == "forfiles":  # each file's name is put in when it is found
        text = _FOUND.sub("%~1", text)
    role = "code" if rule.shell == "code" else "command"
    given: dict[str, Any] = {"argv": words} if rule.shell == "shell" else {role: text}
    action = place.asked(rule.shell, given)
    if action is None:
        out.hide(OpaqueReason.PAYLOAD_UNREADABLE, place.span, text[:120])
        return
    out.absorb(action, via=(rule.via or name,), span=place.span, condition=rule.condition)


def _through_shell(words: Words, place: Place, out: Gather) -> bool:
    """Programs that are the same everywhere (git, curl, docker, az, …) are the shell's knowledge."""
    known = [w for w in words if w is not None]
    if not known:
        return False
    if _SHELL_ONLY.fullmatch(known[0].lower()):
        return False
    argv = [program_name(known[0]), *(w if w is not None else "$ARG" for w in words[1:])]
    if argv[0] in _NAMED_PLACES:
        argv = [_DRIVE.sub(r"/\1-drive/", w) for w in argv]
    action = place.asked("shell", {"argv": argv})
    unknown = action is not None and any(o.reason is OpaqueReason.UNKNOWN_EXECUTABLE for o in action.opaque)
    if action is None or (unknown and any(e.action is Verb.EXECUTE and e.target == argv[0] for e in action.effects)):
        return False
    kept = [replace(e, target=_drive_back(e.target)) for e in action.effects if action.flows or not _is_device(e)]
    effects = tuple(placed(unset(e) if "$" in (e.target or "") else e) for e in kept)
    _sent(out, out.absorb(replace(action, effects=effects), span=place.span))
    return True


def _sent(out: Gather, made: list[int]) -> None:
    """A secret by its Windows path that the same command sends: the shell did not know it for one."""
    secrets = [i for i in made if out.effects[i].domain is Domain.SECRETS and out.effects[i].action is Verb.READ]
    known = {(f.source, f.sink) for f in out.flows}
    for sink in made:
        effect = out.effects[sink]
        if effect.action is Verb.SEND and effect.domain in {Domain.NETWORK, Domain.CLOUD, Domain.MESSAGING}:
            for source in secrets:
                if (source, sink) not in known:
                    out.flow(FlowKind.EXFILTRATION, source, sink)
                    out.effects[sink] = tagged(out.effects[sink], Tag.EXFILTRATION)
