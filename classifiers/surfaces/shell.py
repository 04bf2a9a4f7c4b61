"""The shell surface: a ``command`` string, or an ``argv`` list, to what it could do."""

from __future__ import annotations

import shlex
from dataclasses import replace

from classifiers.context import Context
from classifiers.effects import Action
from classifiers.shell import classify_shell
from classifiers.surface import CallParts

_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "/bin/bash", "/bin/sh", "/usr/bin/bash", "/usr/bin/zsh", "/bin/zsh"})


class _Shell:
    name = "shell"

    def classify(self, call_parts: CallParts, context: Context) -> Action | None:
        values = call_parts.values
        cwd = values.get("cwd")
        if isinstance(cwd, str) and cwd:
            context = replace(context, cwd=cwd, workspace=context.workspace or context.cwd)
        command = values.get("command")
        if isinstance(command, str):
            return classify_shell(command, context, path=call_parts.path_of("command"), depth=call_parts.depth)
        argv = values.get("argv", command)
        if not isinstance(argv, list | tuple) or not all(isinstance(a, str) for a in argv):
            return None
        where = call_parts.path_of("argv" if "argv" in values else "command")
        if len(argv) == 3 and argv[0] in _SHELLS and argv[1] in {"-c", "-lc", "-ec", "-lic"}:
            return classify_shell(argv[2], context, path=f"{where}[2]", depth=call_parts.depth)
        return classify_shell(shlex.join(argv), context, path=where, depth=call_parts.depth)


SURFACE = _Shell()
