"""The language of command files: what may stand where. One table per level; ``compile.py`` checks against them."""

from __future__ import annotations

from classifiers.effects import (
    Breadth,
    Certainty,
    Condition,
    Domain,
    Privilege,
    Reversibility,
    Tag,
    Verb,
)

# Effect fields a file may set, and the words each takes (None: any text, bool: true or false, tags: a list).
SETS: dict[str, object] = {
    "action": Verb,
    "domain": Domain,
    "target": None,
    "destructive": "true, false or null",
    "reversibility": Reversibility,
    "breadth": Breadth,
    "where": None,
    "privilege": Privilege,
    "certainty": Certainty,
    "condition": Condition,
    "dry_run": bool,
    "filtered": bool,
    "kept": bool,  # used by the program itself and not passed on: no effect's field, a flow's
    "tags": Tag,
}
# How a program's option parser works: said of a command, or once for all commands of a file.
PARSING: dict[str, frozenset[str]] = {
    "long_options": frozenset({"whole", "shortened"}),
    "late_help": frozenset({"help", "operand"}),
}
# Values that may be attached only, and how the compiled form counts them (``Option.values``).
ATTACHED = {"optional": -1, "suffix": -2}
FILE_KEYS = frozenset({"family", "source", "commands", "note", *PARSING})
MEANING_KEYS = frozenset({"effects", "instead", "delegate", "by_value", "operands", "unread", *SETS})
OPTION_KEYS = MEANING_KEYS | {"value", "fills", "name", "note", "last"}
SLOT_KEYS = MEANING_KEYS - {"instead", "operands"} | {"role", "at", "when", "unless"}
NODE_KEYS = frozenset(
    {
        "about", "options", "takes_value", "operands", "effects", "no_operands", "subcommands", "style", "posix",
        "unknown_options", "unknown_subcommand", "stdin", "help", "set", "via", "special", "keyed", "same_as",
        "examples", "todo", "note", "strict", "unread", "session", "beside", *PARSING,
    }
)  # fmt: skip
DELEGATE_KEYS = frozenset(
    {
        "kind",
        "program",
        "append",
        "replace",
        "until",
        "where",
        "via",
        "condition",
        "privilege",
        "join",
        "certainty",
        "cwd",
        "part",
        "vars",
        "fed",
    }
)
DELEGATE_KINDS = frozenset({"argv", "shell", "code", "files", "sql", "http", "script", "none"})
STYLES = frozenset({"gnu", "single_dash", "cluster_first", "none", "windows"})
PLACES = frozenset({"first", "rest", "last"})

# Bare words of a one-line effect, by the field they set.
WORDS: dict[str, tuple[str, object]] = {
    **{b.value: ("breadth", b.value) for b in Breadth if b.value != "unknown"},
    **{r.value: ("reversibility", r.value) for r in Reversibility if r.value != "unknown"},
    **{p.value: ("privilege", p.value) for p in Privilege if p.value != "none"},
    "destructive": ("destructive", True),
    "maybe_destructive": ("destructive", None),
    "harmless": ("destructive", False),
    "dry_run": ("dry_run", True),
    "filtered": ("filtered", True),
    "kept": ("kept", True),
}
TAGS = frozenset(t.value for t in Tag)
KEYED = ("certainty", "condition", "where", "breadth", "reversibility", "when", "unless", "target")

# What an action is worth when the file does not say: (destructive, reversibility).
DEFAULTS: dict[str, tuple[bool | None, str]] = {
    "read": (False, "read_only"),
    "receive": (False, "read_only"),
    "create": (False, "reversible"),
    "modify": (False, "reversible"),
    "delete": (True, "irreversible"),
    "execute": (None, "unknown"),
    "send": (False, "externally_reversible"),
    "control": (False, "reversible"),
    "grant": (False, "reversible"),
    "unknown": (None, "unknown"),
}
