"""Cut SQL text into statements, by the lexical rules engines share, and say whether text looks like SQL at all.

In: text. Out: (start, end) spans without the semicolon, comments and blank edges trimmed. Quotes, dollar quotes and
comments hide semicolons; MySQL's ``DELIMITER`` and T-SQL's ``GO`` lines end statements too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_TEXT = 200_000
MAX_STATEMENTS = 200

_TOKEN = re.compile(
    r"--[^\n]*|(?<!into\s)(?<!from\s)(?<!join\s)(?<!table\s)(?<!update\s)(?<!exists\s)(?<![#.\w])#(?![>\-#])[^\n]*(?=\n)|/\*.*?(?:\*/|\Z)|'(?:[^'\\]|''|\\.)*(?:'|\Z)|\"(?:[^\"]|\"\")*(?:\"|\Z)|`[^`]*(?:`|\Z)"
    r"|\$(\w*)\$.*?(?:\$\1\$|\Z)|\[[^\]\n]*\]|^[ \t]*go[ \t]*$|^[ \t]*(?:\\|\.[a-z])[^\n]*|;",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_BLANK = re.compile(r"(?:\s|--[^\n]*(?:\n|\Z)|/\*(?!!).*?\*/)+", re.DOTALL)
_STATEMENT = re.compile(
    r"(?:select\b.+|with\s+(?:recursive\s+)?\w+.*\bas\b.*|insert\s+(?:ignore\s+|or\s+\w+\s+|overwrite\s+)?(?:into|table)\b"
    r"|update\s+\S+\s+(?:\w+\s+)?set\b|delete\s+from\b|merge\s+into\b|replace\s+into\b"
    r"|(?:create|drop|alter)\s+(?:or\s+replace\s+)?(?:\w+\s+)?(?:table|view|index|database|schema|user|role|function|procedure"
    r"|trigger|extension|sequence|type|materialized|login|server|policy|event)\b|truncate\s+(?:table\s+)?[\w.\"`]+(?:\s*,\s*[\w.\"`]+)*(?:\s+(?:(?:restart|continue)\s+identity|cascade|restrict))*\s*;?\s*\Z"
    r"|refresh\s+materialized\s+view\b|grant\s+.+\s+to\s"
    r"|revoke\s+.+\s+from\s|explain\s+\w+|describe\s+\w+|show\s+\w+|pragma\s+\w+|copy\s+.+\s(?:to|from)\s|call\s+\w+\s*\("
    r"|exec(?:ute)?\s+\w+|begin\s*;|vacuum\b|attach\s+database|load\s+data\b|set\s+\w+\s*=|use\s+\w+\s*;?\s*\Z)",
    re.IGNORECASE | re.DOTALL,
)

_FIRST_WORDS = re.compile(
    r"(?:select|with|insert|update|delete|merge|replace|create|drop|alter|truncate|grant|revoke|explain|desc(?:ribe)?|show"
    r"|pragma|copy|call|exec(?:ute)?|begin|start|commit|rollback|vacuum|analyze|attach|detach|load|set|use|refresh|do|kill"
    r"|rename|lock|unlock|comment|reindex|optimize|table|values|declare|unload|export|backup|restore|bulk|checkpoint|if|while|undrop|purge|flush"
    r"|prepare|deallocate|abort|end|savepoint|release|notify|listen|discard|cluster|install|import|dbcc|reconfigure|handler|repair|deny|assert|reset|unlisten|change|stop|msck|summarize|flashback|system|break|invalidate|compute|cache|uncache|upsert)\b",
    re.IGNORECASE,
)


def statements(text: str) -> Iterator[tuple[int, int]]:
    start = at = 0
    while (token := _TOKEN.search(text, at)) is not None:
        mark = token.group().strip().lower()
        at = token.end()
        if mark in {";", "go"}:
            yield from _trimmed(text, start, token.start())
            start = at
        elif mark.startswith(".") and any(_trimmed(text, start, token.start())):
            at = text.index(".", token.start()) + 1  # inside a statement it is the second half of a name
        elif mark.startswith(
            ("\\", ".")
        ):  # an order to the client is a line of its own (psql(1), mysql(1), sqlite3(1))
            yield from _trimmed(text, start, token.start())
            yield from _trimmed(text, token.start(), at)
            start = at
    yield from _trimmed(text, start, len(text))


# T-SQL ends a statement by the next one's first word, which is reserved; after these words it is a part of the same.
_PART = re.compile(
    r"--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^']|'')*(?:'|\Z)|\"[^\"]*(?:\"|\Z)|\[[^\]]*(?:\]|\Z)|[()]|,|[@#.]*\w+", re.DOTALL
)
_ENDING = frozenset(
    [
        "delete",
        "update",
        "insert",
        "drop",
        "truncate",
        "select",
        "exec",
        "execute",
        "create",
        "print",
        "use",
        "kill",
        "backup",
        "restore",
    ]
)
_STARTING = frozenset(
    ["delete", "update", "insert", "drop", "truncate", "merge", "exec", "execute", "print", "backup", "restore", "kill"]
)
_GOING_ON = frozenset(
    [",", "on", "for", "then", "of", "after", "before", "or", "as", "with", "to", "and", "from", "into"]
)


def run_on(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A span of T-SQL as the statements that stand in it without semicolons."""
    depth, head, kind, before = 0, "", "", ""
    for part in _PART.finditer(text, start, end):
        word = part.group().lower()
        depth += {"(": 1, ")": -1}.get(word, 0)
        if word.startswith(("--", "/*")) or depth:
            continue
        starts = word in _STARTING and before not in _GOING_ON and head in _ENDING
        own = (head == "insert" and word.startswith("exec")) or (head == "create" and kind not in {"table", "index"})
        if starts and not own:
            yield from _trimmed(text, start, part.start())
            start, head, kind = part.start(), word, ""
        else:
            head, kind = head or word, kind or (word if head else "")
        before = word
    yield from _trimmed(text, start, end)


def looks_like_sql(text: str) -> bool:
    """True when the text starts like a statement of SQL; a question in plain words does not."""
    head = text[:2000]
    blank = _BLANK.match(head)
    return _STATEMENT.match(head, blank.end() if blank else 0) is not None


def starts_like_sql(text: str) -> bool:
    """True when the first word is one that statements start with: enough for an argument called ``sql``."""
    head = text[:2000]
    blank = _BLANK.match(head)
    return _FIRST_WORDS.match(head, blank.end() if blank else 0) is not None


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    blank = _BLANK.match(text, start, end)
    start = blank.end() if blank else start
    end = start + len(text[start:end].rstrip())
    if end > start:
        yield start, end
