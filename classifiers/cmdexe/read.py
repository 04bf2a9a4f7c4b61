"""Read cmd.exe commands one after another: variables and folder carried along, ``if`` and ``for`` seen through."""

from __future__ import annotations

import ntpath
import posixpath
import re
from dataclasses import dataclass, replace

from classifiers.cmdexe.split import Command, Redirect, commands, words
from classifiers.cmdexe.turns import MAX_TURNS, members_of, part_of, put_in, turn
from classifiers.context import Context
from classifiers.effects import Condition, Domain, Effect, FlowKind, OpaqueReason, PathScope, Reversibility, Tag, Verb
from classifiers.gather import Gather, tagged
from classifiers.paths import located
from classifiers.windows.later import LOGON, put_to_run
from classifiers.windows.places import placed
from classifiers.windows.powershell_line import Place
from classifiers.windows.programs import program_name, run_program

MAX_DEPTH = 6
_IF = re.compile(
    r"^if\s+(?:/i\s+)?(?:not\s+)?(?:exist\s+(?:\"[^\"]*\"|\S+)|errorlevel\s+\S+|defined\s+\S+|cmdextversion\s+\S+"
    r"|(?:\"[^\"]*\"|\S+?)\s*(?:==|\s(?:equ|neq|lss|leq|gtr|geq)\s)\s*(?:\"[^\"]*\"|\S+))\s*(.*)$",
    re.IGNORECASE | re.DOTALL,
)
_CONSTANT = re.compile(r"^if\s+(?:/i\s+)?(not\s+)?(\d+)\s*(==|(?<=\s)(?:equ|neq))\s*(\d+)(?=[\s(]|$)", re.IGNORECASE)
_FOR = re.compile(
    r"^for\s+(?P<flags>(?:/\w\s+)*)(?P<options>\"[^\"]*\"\s+|(?!%)[^\s(\"]+\s+)?(?P<more>(?:/\w\s+)*)(?P<var>%%?~?\w)\s+in\s*\((?P<set>.*?)\)\s*do\s*(?P<body>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_SET = re.compile(r"^set\s+(?:/a\s+)?\"?([\w.-]+)=(.*?)\"?\s*$", re.IGNORECASE | re.DOTALL)
_VARIABLE = re.compile(r"%%(\w+)%%|%([\w()#$.-]+)(?::([^%]*))?%|!([\w()]+)(?::([^!]*))?!")
_ABSOLUTE = re.compile(r"[A-Za-z]:[\\/]|\\\\|/")
_ROOTED = re.compile(r"[A-Za-z]:|[\\/%~]")
_LISTERS = re.compile(r"@?\s*(del|erase|rd|rmdir|md|mkdir|type|dir)\b", re.IGNORECASE)  # a comma parts their words
_TITLE = re.compile(r'^(@?\s*start)\s+"[^"]*"(?=\s+\S)', re.IGNORECASE)  # of the window, no program
_WHOLE = re.compile(
    r'^@?\s*(?:\S*[\\/])?cmd(?:\.exe)?\s+(?:/\w(?::\w+)?\s+)*/[ck]\s*"(.*)"\s*$', re.IGNORECASE | re.DOTALL
)
_LISTING = re.compile(r'"[^"]*"?|%[^%\s"]+%|[,;]')
_NULL = frozenset({"nul", "nul:", "con", "\\\\.\\nul"})
_PRINTS_NOTHING = re.compile(r"@?(?:type\s+nul:?|break|rem\.?|cd\.|copy\s+/y\s+nul)", re.IGNORECASE)
_CLIENTS = frozenset({"netsh", "wmic", "ntdsutil", "node", "ruby", "perl", "php", "wsl"})
_DATABASES = frozenset({"mysql", "mariadb", "psql", "mongosh"})
_SAID = re.compile(r"-{1,2}(e|c|f|execute|command|file|eval)\b.*", re.IGNORECASE)
_ORDER = re.compile(r"-{1,2}(e|c|f|r|p)\b.*|[^-/].*", re.IGNORECASE)
_ECHO = re.compile(r"^@?\s*\(?\s*echo[.: ](.*?)\)?$", re.IGNORECASE | re.DOTALL)
_SHELLS = frozenset(
    {"cmd", "powershell", "pwsh", "bash", "sh", "python", "cscript", "wscript", "diskpart", "ftp", "sqlcmd"}
)


@dataclass(frozen=True, slots=True)
class _Turns:
    """A loop over what follows in parentheses: how deep it stands, its variable, what that is turn by turn."""

    depth: int
    name: str
    values: tuple[str | None, ...]


class Batch:
    """State between commands. Effects go to ``out``."""

    def __init__(self, context: Context, depth: int, out: Gather) -> None:
        self.context, self.depth, self.out = context, depth, out
        self.variables: dict[str, str] = {"comspec": "cmd.exe"}
        self.folders: list[str | None] = [None]  # where cmd stands; pushd puts one on top
        self.loops: list[_Turns] = []  # loops whose body is the parenthesis being read

    def read(self, command: Command) -> None:
        self.loops = [loop for loop in self.loops if command.depth > loop.depth]
        turns = [command]
        for loop in self.loops:
            turns = [turn(one, loop.name, value) for one in turns for value in loop.values][:MAX_TURNS]
        for one in dict.fromkeys(turns):
            self._read(one)

    def _read(self, command: Command) -> None:
        before = len(self.out.effects)
        text = self.expand(command.text)
        self._one(text, command)
        for redirect in command.redirects:
            self._redirect(redirect, command)
        self._at_logon(text, command, before)
        if self.folders[-1]:
            for i in range(before, len(self.out.effects)):
                self.out.effects[i] = self._below(self.out.effects[i], self.folders[-1])
        if command.condition is not Condition.ALWAYS:
            self.out.under(before, command.condition)

    def _at_logon(self, text: str, command: Command, before: int) -> None:
        """What this command has put into the folder of what runs at logon."""
        place = Place((command.start, command.end), self.context, self.depth)
        for effect in self.out.effects[before:]:
            path = effect.target or effect.target_raw or ""
            if (
                effect.action in {Verb.CREATE, Verb.MODIFY}
                and effect.condition is not Condition.DEFERRED
                and LOGON.search(path)
            ):
                echoed = _ECHO.match(text) if command.redirects else None
                put_to_run(path, echoed[1] if echoed is not None else None, place, self.out)

    def _below(self, effect: Effect, folder: str) -> Effect:
        """A relative path is below the folder that cmd has gone to."""
        target = effect.target
        if effect.domain is not Domain.FILESYSTEM or not target or _ROOTED.match(target) or effect.where != "local":
            return effect
        whole = _join(folder, target)
        scope = PathScope.OUTSIDE if _ABSOLUTE.match(whole) else effect.path_scope
        return placed(replace(effect, target=whole, path_scope=scope))

    def expand(self, text: str) -> str:
        """Variables this text has set are put in; others stay as written."""

        def value(found: re.Match[str]) -> str:
            known = self.variables.get((found.group(1) or found.group(2) or found.group(4)).lower())
            part = found.group(3) or found.group(5)
            return found.group() if known is None else known if part is None else part_of(known, part, found.group())

        return _VARIABLE.sub(value, text)

    def _one(self, text: str, command: Command) -> None:
        low = text.lower()
        if self.out.out_of_time():
            self.out.hide(OpaqueReason.SIZE_CAP, (command.start, command.end), text[:80])
        elif self.depth >= MAX_DEPTH:
            self.out.hide(OpaqueReason.DEPTH_CAP, (command.start, command.end), text[:80])
        elif (test := _IF.match(text)) is not None and not _never(text):
            self._nested(test.group(1), command, Condition.BRANCH)
        elif test is not None:  # what stands in the parenthesis that follows is never read either
            self.loops.append(_Turns(command.depth, "", ()))
        elif low.startswith("else"):
            self._nested(text[4:], command, Condition.BRANCH)
        elif (loop := _FOR.match(text)) is not None:
            self._loop(loop, command)
        elif (assigned := _SET.match(text)) is not None:
            self.variables[assigned.group(1).lower()] = assigned.group(2)
        elif re.fullmatch(r"[a-z]:", low):
            self.folders[-1] = f"{text}\\"
        elif re.match(r"^(cd|chdir|pushd|popd)\b", low):
            self._chdir(text)
        elif (shown := re.fullmatch(r"set(?:\s+([\w()]+))?", text, re.IGNORECASE)) is not None:
            name = f"env:{shown.group(1) or ''}*"
            self.out.add(Domain.ENVIRONMENT, Verb.READ, name, span=(command.start, command.end))
        else:
            self._program(text, command)

    def _nested(self, text: str, command: Command, condition: Condition) -> None:
        """A command inside a command, at the same place."""
        self.depth += 1
        for inner in commands(text):
            depth = command.depth + inner.depth
            self.read(replace(inner, start=command.start, end=command.end, condition=condition, depth=depth))
        self.depth -= 1

    def _loop(self, loop: re.Match[str], command: Command) -> None:
        body, members = loop.group("body"), loop.group("set").strip()
        flags = (loop.group("flags") + loop.group("more")).lower()
        name = loop.group("var")
        options = (loop.group("options") or "").strip()
        files = '"' if "usebackq" in options.lower() else ""
        if "/f" in flags and members[:1] in {"'", "`"}:
            self._nested(members.strip("'`"), command, Condition.ALWAYS)
        elif "/f" in flags and members[:1] not in {'"', "'"} - set(files):
            for path in words(members):
                self._redirect(Redirect("<", path), command)
        values = members_of(members, flags, options)
        if not body.strip():  # it stands in parentheses, and comes next
            self.loops.append(_Turns(command.depth, name, tuple(values)))
            return
        for text in dict.fromkeys(body if value is None else put_in(body, name, value) for value in values):
            self._nested(text, command, Condition.LOOP)

    def _chdir(self, text: str) -> None:
        name, *given = [w for w in words(text) if w.lower() != "/d"]
        if name.lower() == "popd":
            self.folders = self.folders[:-1] or [None]
        elif given:
            here = self.folders[-1] or self.context.cwd
            self.context = replace(self.context, cwd=None)
            there = given[0] if _ABSOLUTE.match(given[0]) else _join(here, given[0]) if here else given[0]
            self.folders = [*self.folders, there] if name.lower() == "pushd" else [*self.folders[:-1], there]

    def _program(self, text: str, command: Command) -> None:
        inner = _WHOLE.match(text)
        if inner is not None and '"' in inner[1]:  # cmd /c "…" with quotes in it: the outer pair is taken away
            self._nested(inner[1], command, command.condition)
            return
        text = _TITLE.sub(r"\1 ", text)
        given = words(_LISTING.sub(_spaced, text) if _LISTERS.match(text) else text)
        span = (command.start, command.end)
        if not given:
            return
        first = given[0]
        glued = re.match(r"^(echo|del|erase|rd|rmdir|md|cd|copy|move|type|dir)([./\\(:].*)$", first, re.IGNORECASE)
        if glued is not None:
            given = [glued.group(1), glued.group(2), *given[1:]]
        if _VARIABLE.search(first) and "\\" not in first and "/" not in first:
            self.out.add(Domain.PROCESS, Verb.EXECUTE, target_raw=first, span=span, destructive=None)
            self.out.hide(OpaqueReason.DYNAMIC_COMMAND, span, text[:120])
            return
        run_program(given, Place(span, self.context, self.depth), self.out)
        fed = command.piped or any(r.kind == "<" and r.path.lower() not in _NULL for r in command.redirects)
        if fed and (program_name(first) in _SHELLS or _takes_orders(given)):
            self._piped_into_shell(first, span)

    def _piped_into_shell(self, first: str, span: tuple[int, int]) -> None:
        """Text from the command before is run: where it comes from the network, say so."""
        source = next((i for i, e in enumerate(self.out.effects) if e.action is Verb.RECEIVE), None)
        sink = self.out.put(Effect(Domain.CODE, Verb.EXECUTE, target_raw=first, destructive=None), span)
        self.out.hide(OpaqueReason.PAYLOAD_UNREADABLE, span, f"what is piped into {first}")
        if source is not None:
            self.out.effects[sink] = tagged(self.out.effects[sink], Tag.REMOTE_CODE)
            self.out.flow(FlowKind.REMOTE_CODE, source, sink)

    def _redirect(self, redirect: Redirect, command: Command) -> None:
        path = self.expand(redirect.path)
        if path.lower() in _NULL:
            return
        if redirect.kind == "<":
            effect = Effect(Domain.FILESYSTEM, Verb.READ, path, reversibility=Reversibility.READ_ONLY)
        else:
            over = redirect.kind == ">"
            lossy = True if over and _PRINTS_NOTHING.fullmatch(command.text.strip()) else None if over else False
            tags = (Tag.OVERWRITE,) if over else ()
            effect = Effect(Domain.FILESYSTEM, Verb.MODIFY, path, destructive=lossy, tags=tags)
        self.out.put(placed(located(effect, self.context)), (command.start, command.end))


def _takes_orders(given: list[str]) -> bool:
    """A client that reads what to do from its input: no word of it says what."""
    name = program_name(given[0])
    if name in {"ssh", "plink", "sftp"}:
        return len([w for w in given if not w.startswith("-")]) == 2
    said = _SAID if name in _DATABASES else _ORDER
    return name in _CLIENTS | _DATABASES and not any(said.fullmatch(w) for w in given[1:])


def _never(text: str) -> bool:
    """``if 0 equ 1``: two words that are known, and not what is asked."""
    found = _CONSTANT.match(text)
    if found is None:
        return False
    negated, left, how, right = found[1], found[2].lower(), found[3].lower(), found[4].lower()
    return how in {"==", "equ", "neq"} and ((left == right) is (how == "neq")) is not bool(negated)


def _spaced(found: re.Match[str]) -> str:
    return " " if found.group() in {",", ";"} else found.group()


def _join(folder: str, path: str) -> str:
    """A relative path below a folder of either system."""
    if folder.startswith("/"):
        return posixpath.normpath(posixpath.join(folder, path.replace("\\", "/")))
    return ntpath.normpath(ntpath.join(folder, path))
