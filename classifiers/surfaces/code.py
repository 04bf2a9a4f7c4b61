"""The code surface: role ``code`` (text) with ``language`` when given, ``argv`` (its name, then words) too."""

from __future__ import annotations

from classifiers.code import classify_code
from classifiers.context import Context
from classifiers.effects import Action
from classifiers.surface import CallParts


class CodeSurface:
    name = "code"

    def classify(self, call_parts: CallParts, context: Context) -> Action | None:
        text, language = call_parts.values.get("code"), call_parts.values.get("language")
        if isinstance(text, list) and all(isinstance(line, str) for line in text):
            text = "\n".join(text)
        if not isinstance(text, str):
            return None
        name = language if isinstance(language, str) else None
        argv = call_parts.values.get("argv")
        words = [w for w in argv if isinstance(w, str)] if isinstance(argv, list) else []
        return classify_code(text, name, context, call_parts.path_of("code"), call_parts.depth, words)


SURFACE = CodeSurface()
