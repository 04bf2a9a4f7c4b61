"""What a script knows while it is read: variables, cwd, functions, files it wrote; and where a command stands.

``State`` is mutable and copied for subshells; ``Scope`` is immutable and says how effects found here are labelled;
``Stream`` is what flows through a pipe or a substitution.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from classifiers.context import Context
from classifiers.effects import Certainty, Condition, Privilege
from classifiers.knowledge.words import is_known
from classifiers.paths import canonical
from classifiers.shell.ir import Body

Value = str | list[str] | dict[str, str]  # a dict: an array whose subscripts were given


@dataclass(frozen=True, slots=True)
class Stream:
    """``text`` None: not known. ``sources``: indexes of the effects its content comes from."""

    text: str | None = None
    sources: tuple[int, ...] = ()
    decoded: bool = False
    archive: bool = False  # a bundle of files
    dump: bool = False  # a database written out as SQL by its own tool
    network: bool = False  # a socket: commands come from the other side
    terminal: bool = False  # a person: nothing comes that the call could hold


EMPTY = Stream("")
TERMINAL = Stream(terminal=True)


def stdin_of(given: Stream | None, around: Stream | None) -> Stream | None:
    """What a command reads: what its own redirection gives, else what those around it read; None is a terminal."""
    found = given if given is not None else around
    return None if found is not None and found.terminal else found


@dataclass(frozen=True, slots=True)
class Call:
    """A function that is running, with what it found. ``widened``: every value is unknown, also further down."""

    name: str
    body: Body
    vars: Mapping[str, Value | None]  # the arguments among them
    condition: Condition
    widened: bool = False


@dataclass(slots=True)
class State:
    context: Context
    vars: dict[str, Value | None] = field(default_factory=dict)  # None: set, to something unknown
    globby: set[str] = field(default_factory=set)
    functions: dict[str, Body] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    hashed: dict[str, str] = field(default_factory=dict)  # name → the program ``hash -p`` made it mean
    files: dict[str, Stream] = field(default_factory=dict)  # written in this call, by canonical path
    sockets: dict[int, int] = field(default_factory=dict)  # descriptor → effect of the /dev/tcp it is
    inputs: dict[int, Stream] = field(default_factory=dict)  # descriptor → what reading it gives
    origins: dict[str, Stream] = field(default_factory=dict)  # variable → where its unknown value comes from
    locals: list[set[str]] = field(default_factory=list)  # names `local` made, per function call
    calls: tuple[Call, ...] = ()  # functions that are running, the outermost first
    refs: dict[str, str] = field(default_factory=dict)  # other names for variables (``declare -n``)
    added: dict[str, str] = field(default_factory=dict)  # what this call appended to files it has not written
    fetched: list[int] = field(default_factory=list)  # effects that brought trees of files from elsewhere
    guessed: set[str] = field(default_factory=set)  # set to a default: the environment may hold another value
    exited: bool = False
    left: bool = False  # the running function may have returned before this point
    shared: bool = False

    def copy(self) -> State:
        """For a subshell or a branch: changes stay inside, files written do not."""
        return State(
            self.context, dict(self.vars), set(self.globby), dict(self.functions), dict(self.aliases),
            dict(self.hashed), self.files,
            dict(self.sockets), dict(self.inputs), dict(self.origins), list(self.locals), self.calls,
            added=self.added, fetched=self.fetched, guessed=set(self.guessed), left=self.left, refs=dict(self.refs),
        )  # fmt: skip

    def positional(self) -> dict[str, Value | None]:
        """``$1`` … and ``$@``, those that are known of."""
        return {k: v for k, v in self.vars.items() if k == "@" or k.isdigit()}

    def hand(self, args: Mapping[str, Value | None]) -> None:
        """``$1`` … and ``$@`` are these; with none at all they are unknown."""
        for key in self.positional():
            del self.vars[key]
        self.vars.update(args)

    def running(self, name: str) -> list[Call]:
        """The calls of this function that have not ended, the outermost first."""
        return [call for call in self.calls if call.name == name]

    def chdir(self, cwd: str | None) -> None:
        self.context = replace(self.context, cwd=cwd)

    def enter(self, target: str, *, known: Callable[[str], bool]) -> None:
        """``cd target``; ``known`` says whether a text is free of unknown parts."""
        cwd = self.context.cwd
        if not known(target):
            self.chdir(target)
        elif cwd is not None and not known(cwd) and not target.startswith(("/", "~")):
            self.chdir(f"{cwd}/{target}")
        else:
            self.chdir(canonical(target, cwd, self.context.home))

    def key(self, path: str) -> str:
        """The name ``files`` knows a path by: ``./t`` and ``t`` are one file."""
        return canonical(path, self.context.cwd, self.context.home).removeprefix("./")

    def merge(self, *branches: State) -> None:
        """After branches of which any may have run: what they changed differently is unknown."""
        for other in branches:
            for name, value in other.vars.items():
                if self.vars.get(name, _ABSENT) != value:
                    self.vars[name] = None
            if other.context.cwd != self.context.cwd and is_known(other.context.cwd or ""):
                self.chdir(None)  # in one of two folders (one nobody can name is taken to be left again)
            self.guessed |= other.guessed
            self.left = self.left or other.left
            self.origins.update(other.origins)
            self.functions.update(other.functions)
            self.aliases.update(other.aliases)


_ABSENT = object()
_RANK = {
    Condition.ALWAYS: 0,
    Condition.ON_SUCCESS: 1,
    Condition.ON_FAILURE: 2,
    Condition.LOOP: 3,
    Condition.BRANCH: 4,
    Condition.PROMPT: 5,
    Condition.DEFERRED: 6,
}


def stronger(a: Condition, b: Condition) -> Condition:
    """Of two conditions that both hold, the one that says more."""
    return a if _RANK[a] >= _RANK[b] else b


@dataclass(frozen=True, slots=True)
class Scope:
    """``fixed``: spans inside a payload that is no contiguous piece of the argument all read as this one."""

    condition: Condition = Condition.ALWAYS
    where: str = "local"
    privilege: Privilege = Privilege.NONE
    certainty: Certainty = Certainty.DEFINITE
    via: tuple[str, ...] = ()
    offset: int = 0
    fixed: tuple[int, int] | None = None
    depth: int = 0
    stdin: Stream | None = None
    tags: tuple[str, ...] = ()
    given: tuple[str, ...] = ()  # a script's or program text's own name, and the words after it; none: no such words
    filtered: bool = False  # find -name and its like decide which members are meant

    def under(self, condition: Condition) -> Scope:
        return replace(self, condition=stronger(self.condition, condition))

    def span(self, span: tuple[int, int]) -> tuple[int, int]:
        return self.fixed or (span[0] + self.offset, span[1] + self.offset)
