r"""An expect script as commands of a shell: its text in, what it starts and types there out (expect(1), Tcl's syntax).

``spawn ssh web1; expect {$ }; send "ls\r"`` is ``ssh web1`` with ``ls`` on its standard input. An answer to a question
for a password or a yes is no order. Statements that are not known make the whole script unknown.
"""

from __future__ import annotations

import re

_STATEMENT = re.compile(
    r"""((?:"(?:\\.|[^"\\])*"|\{(?:[^{}]|\{[^{}]*\})*\}|\[[^\]]*\]|\\.|[^;\n"{}\[\]\\])*)(?:[;\n]|\Z)""", re.DOTALL
)
_SENT = re.compile(r"""\bsend\s+(?:-[hs]\s+|--\s+)?(?:"((?:\\.|[^"\\])*)"|\{([^{}]*)\}|(\S+))""")
_ASKED = re.compile(r"assw|assphrase|\(yes|yes/no|\[y|y/n|sername|ogin:", re.IGNORECASE)
_HIDDEN = re.compile(r"[\[{;]\s*(?:exec|system|spawn|open|eval|source|file|socket)\b")  # a statement in another's word
_SILENT = """set log_user puts exit close wait sleep expect_after expect_before match_max stty send_user send_log
send_error send_tty remove_nulls exp_continue timestamp parity strace fconfigure interact trap"""
_VARIABLE = re.compile(r"\[lindex\s+\$argv\s+\d+\]|\[[^\]]*\]")
_OPTIONS = re.compile(r"^(?:-\w+\s+)+")
_SPAWNS = frozenset({"spawn", "exec", "system"})
_TALKS = frozenset({"expect", "send", "exp_send"})
_END = "EXPECT_ORDERS"


def expect_commands(text: str) -> str | None:
    """None when it holds a statement that is not known."""
    started: list[tuple[str, list[str]]] = []  # a command, and the lines typed into it
    asked = False  # the last thing waited for was a question whose answer is no order
    at = 0
    while at < len(text):
        match = _STATEMENT.match(text, at)
        if match is None:  # a brace or quote that is not closed
            return None
        at, statement = match.end(), match[1].strip()
        word, _, rest = statement.partition(" ")
        if _HIDDEN.search(statement):
            return None
        if word in _SPAWNS:
            started.append((_VARIABLE.sub("$argument", _OPTIONS.sub("", rest.strip())), []))
        elif word in _TALKS:
            asked = bool(_ASKED.search(rest)) if word == "expect" else asked
            if started and not asked:
                started[-1][1].extend(filter(None, map(_line, _SENT.findall(statement))))
            asked = asked and word == "expect"
        elif word and word not in _SILENT.split() and not word.startswith("#"):
            return None
    return "\n".join(_fed(*begun) for begun in started)


def _line(sent: tuple[str, ...]) -> str:
    """What one ``send`` types, without its end of line."""
    return next((part for part in sent if part), "").replace("\\r", "").replace("\\n", "").replace('\\"', '"').strip()


def _fed(command: str, lines: list[str]) -> str:
    return f"{command} <<'{_END}'\n" + "\n".join(lines) + f"\n{_END}" if lines else command
