"""Coverage-guided fuzzing of every reader of commands and code: run by ``test_fuzz.py`` in a process of its own."""

import json
import sys

import atheris

with atheris.instrument_imports(include=["classifiers"]):
    from classifiers.context import Context
    from classifiers.surface import CallParts, surface_named

    ROLES = (("shell", "command"), ("powershell", "command"), ("cmd", "command"), ("sql", "sql"), ("code", "code"))
    for kind, word in ROLES:  # readers are imported when first asked for
        first = surface_named(kind)
        assert first is not None
        first.classify(CallParts(kind, {word: "select 1"}), Context())

CONTEXT = Context(max_ms=30)


def one(data: bytes) -> None:
    """The first byte chooses the reader; an action comes back, whatever the text, and it is JSON."""
    name, role = ROLES[data[0] % len(ROLES)] if data else ROLES[0]
    text = data[1:2000].decode("utf-8", "surrogateescape")
    surface = surface_named(name)
    action = None if surface is None else surface.classify(CallParts(name, {role: text}), CONTEXT)
    if action is not None:
        json.dumps(action.to_json())


atheris.Setup(sys.argv, one)
atheris.Fuzz()
