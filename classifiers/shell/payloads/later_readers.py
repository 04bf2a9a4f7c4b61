"""Texts of files that make something run later: a text in, the command lines it holds out, as scripts of a shell.

A reader knows one format and takes nothing else for a command; ``later.yaml`` says which file has which. The manuals it
goes by are named there.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator

from classifiers.knowledge.special.git import LOADS, command_of
from classifiers.shell.payloads.orders import orders

_MANY = re.MULTILINE | re.IGNORECASE
_TIME = r"\s*(?:@\w+|(?:[-\d*,/A-Za-z]+\s+){4}[-\d*,/A-Za-z]+)\s+"
_SYSTEM_JOB = re.compile(rf"{_TIME}[\w.-]+\s+(.+)")  # with the user it runs as
_ANACRON_JOB = re.compile(r"\s*(?:\d+|@\w+)\s+\d+\s+\S+\s+(.+)")  # period, delay, name, command
_EXEC = re.compile(r"^\s*Exec(?:Start|Stop|Reload|Condition)?(?:Pre|Post)?\s*=[ \t]*[-@:+!|]*(.+)", re.MULTILINE)
_STRING = re.compile(r"<string>([^<]*)</string>")
_ARGUMENTS = re.compile(
    r"<key>Program(?:Arguments)?</key>\s*(?:<array>(.*?)</array>|(<string>[^<]*</string>))", re.DOTALL
)
_SECTION = re.compile(r'\[\s*([\w.-]+)(?:\s+"([^"]*)")?\s*\](.*)')
_SSH = re.compile(r"^\s*(?:ProxyCommand|LocalCommand|KnownHostsCommand|RemoteCommand)(?:\s+|\s*=\s*)(.+)", _MANY)
_SSH_MATCH = re.compile(r"^\s*Match\b.*?\bexec\s+(\"[^\"\n]+\"|\S+)", _MANY)
_UDEV = re.compile(r'(?:\bRUN(?:\{program\})?\s*\+?=|\bPROGRAM\s*={1,2}|\bIMPORT\{program\}\s*=)\s*"([^"]+)"')
_MODPROBE = re.compile(r"^\s*(?:install|remove)\s+\S+\s+(.+)", re.MULTILINE)
_APT = re.compile(r"(?:Pre|Post)-(?:Invoke|Install-Pkgs)[\w-]*\s*\{([^}]*)\}", re.IGNORECASE)
_ROTATED = re.compile(
    r"^\s*(?:(?:pre|post)rotate|firstaction|lastaction|preremove)\s*$(.*?)^\s*endscript", re.MULTILINE | re.DOTALL
)
_NPM = re.compile(
    r"^\s*(?:script-shell|shell|editor|git|viewer|browser|onload-script)\s*=\s*\"?([^\"\n;#]+)", re.MULTILINE
)
_YARN = re.compile(r"^\s*(?:yarnPath:|yarn-path|-\s*path:)\s*[\"']?([^\"'\n]+)", re.MULTILINE)
_ENTRY = re.compile(r"^\s*-?\s*entry:\s*(?:(['\"])(.+?)\1|(.+?))\s*$", re.MULTILINE)
_VIM = re.compile(r"(?:^|[\s|:*])!\s*([\w./~][^\n|]*)|system(?:list)?\(\s*(['\"])(.+?)\2", re.MULTILINE)
_TMUX = re.compile(r"\b(?:run-shell|run|if-shell|if)\s+(?:-b\s+)?(\"[^\"\n]+\"|'[^'\n]+'|\S+)")
_QUOTED = re.compile(r'\\(.)|"')  # git-config(1), Syntax: quotes only keep blanks and marks
_CONTINUED = re.compile(r"\\\n\s*")

Reader = Callable[[str], Iterator[str]]


def system_crontab(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        if line.lstrip()[:1] in {"#", ""}:
            continue
        if match := _SYSTEM_JOB.fullmatch(line) or _ANACRON_JOB.fullmatch(line):
            yield match[1].partition("%")[0]


def crontab(text: str) -> Iterator[str]:
    yield orders("crontab", text, known=True) or ""


def unit(text: str) -> Iterator[str]:
    """What a unit or a desktop entry starts: no shell reads it, so operators are words."""
    for line in _EXEC.findall(_CONTINUED.sub(" ", text)):
        try:
            words = shlex.split(line)
        except ValueError:
            words = []
        yield shlex.join(words) if words and "$" not in line and "%" not in line else line


def plist(text: str) -> Iterator[str]:
    for array, single in _ARGUMENTS.findall(text):
        yield shlex.join(_STRING.findall(array or single))


def gitconfig(text: str) -> Iterator[str]:
    """Aliases, and settings whose value git runs; of other files it brings in nothing is known."""
    section = ""
    for raw in _CONTINUED.sub(" ", text).split("\n"):
        line = raw.strip()
        if match := _SECTION.fullmatch(line):
            section = ".".join(filter(None, (match[1].lower(), match[2])))
            line = match[3].strip()
        key, eq, value = (part.strip() for part in line.partition("="))
        value = _QUOTED.sub(lambda m: m[1] or "", value)
        name = f"{section}.{key}".lower()
        if not eq or key.startswith(("#", ";")):
            continue
        if (command := command_of(name, value)) is not None:
            yield command
        elif name.startswith("alias."):
            yield f"git {value}"
        elif name == "core.hookspath" or name.startswith(LOADS):
            yield f". {value}"


def sshconfig(text: str) -> Iterator[str]:
    for line in _SSH.findall(text):
        if line.strip().lower() != "none":
            yield line
    for command in _SSH_MATCH.findall(text):
        yield command.strip('"')


def udev(text: str) -> Iterator[str]:
    yield from _UDEV.findall(_CONTINUED.sub(" ", text))


def modprobe(text: str) -> Iterator[str]:
    for line in _MODPROBE.findall(text):
        yield line.replace("$CMDLINE_OPTS", "").replace("--ignore-install", "")


def aptconf(text: str) -> Iterator[str]:
    for block in _APT.findall(text):
        yield from re.findall(r'"([^"]+)"', block)


def logrotate(text: str) -> Iterator[str]:
    yield from _ROTATED.findall(text)


def npmrc(text: str) -> Iterator[str]:
    """A bare word is the program one always uses (``editor=vim``)."""
    yield from (value.strip() for value in _NPM.findall(text) if "/" in value or " " in value.strip())


def yarnrc(text: str) -> Iterator[str]:
    for path in _YARN.findall(text):
        yield shlex.join(["node", path.strip()])


def precommit(text: str) -> Iterator[str]:
    """Hooks of the repository itself; what others' hooks run is in their repositories."""
    for part in re.split(r"^\s*-\s*repo:", text, flags=re.MULTILINE):
        if part.split("\n", 1)[0].strip().strip("\"'") == "local":
            yield from (quoted or bare for _, quoted, bare in _ENTRY.findall(part))


def vimrc(text: str) -> Iterator[str]:
    for line, _, inner in _VIM.findall(text):
        yield line or inner


def tmuxconf(text: str) -> Iterator[str]:
    for word in _TMUX.findall(text):
        yield word.strip("\"'")


def agent_hooks(text: str) -> Iterator[str]:
    """Every ``command`` of the settings, with its ``args`` when it has some."""
    try:
        waiting = [json.loads(text)]
    except (ValueError, RecursionError):
        return
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict) and isinstance(command := item.get("command"), str):
            args = item.get("args")
            yield shlex.join([command, *map(str, args)]) if isinstance(args, list) else command
        waiting += item.values() if isinstance(item, dict) else item if isinstance(item, list) else []


READERS: dict[str, Reader] = {
    "system_crontab": system_crontab, "crontab": crontab, "unit": unit, "plist": plist, "gitconfig": gitconfig,
    "sshconfig": sshconfig, "udev": udev, "modprobe": modprobe, "aptconf": aptconf, "logrotate": logrotate,
    "npmrc": npmrc,
    "yarnrc": yarnrc,
    "precommit": precommit, "vimrc": vimrc, "tmuxconf": tmuxconf, "agent_hooks": agent_hooks,
}  # fmt: skip
