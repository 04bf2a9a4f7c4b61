"""Files that options name without a word from their description: a parsed command in, the words of those files out.

``--config-file site.yml``, ``--rcfile a/b``: such an option says itself that its value is a file the program reads,
whatever program it is. Only a value that looks like a path is taken for one. Keys and certificates are left to the
descriptions: one used for a connection is not sent over it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from classifiers.knowledge.arguments import Hit, Parsed
from classifiers.knowledge.words import Word

_READ = re.compile(
    r"-{1,2}(?:[\w-]+-)?(?:config|conf|configuration|configfile|conffile|rcfile|file|settings|schema|template|theme"
    r"|stylesheet|wordlist|bootstrap|values|inventory|dictionary|flake|sdcard|initrd|baseline|suppressions"
    r"|instr-profile|input-?dir(?:ectory)?|input-?path)"
)
_CONFIG = re.compile(r"--(?:config|configuration|config-?file|rcfile)")
_LIKELY = re.compile(  # a file or a text: only a name with a file's ending is a file
    r"-{1,2}(?:[\w-]+-)?(?:data|policy-document|script|body|payload|policy|definition|manifest|rules|params|parameters|env"
    r"|environment|metadata|content|archive|bundle|zip|vars|variables|patch|definitions|input|seed|fixtures|properties)"
)
_ENDING = re.compile(
    r"[^=,:\s]*\.(?:json|ya?ml|zip|pem|sh|txt|csv|sql|tf|tfvars|tar|tgz|gz|xml|toml|ini|cfg|conf|pub|crt|cer|jar|war|wasm"
    r"|py|js|ts|md|html|properties)"
)
_WRITTEN = re.compile(
    r"(?:^|[-_])(?:out|outfile|output|log|logger|pid|stats|dependency|dep|lock|save|dump|report|result|dest|target|state|history|cache|sock|socket"
    r"|trace|write|export|init|remote|container|in-image)(?:$|[-_])"
)
_MADE = re.compile(
    r"-{1,2}(?:[\w-]+-)?(?:output|out|outfile|out(?:put)?-?(?:file|dir|directory|path|folder)"
    r"|(?:log|logger|report|dump|pid|trace|stats|dependency|dep|error-log|cidfile)-?file"
    r"|save-(?:as|to|storage|har|trace))"
)
_HUMP = re.compile(r"(?<=[a-z])([A-Z])")
_PATH = re.compile(r"(?:[\w.~@+-]*/)+[\w.@+-]+|[\w.@+-]+\.(?:[a-z][a-z0-9_]{0,5})")


def named_files(parsed: Parsed) -> Iterator[Word]:
    """The values, in the order they were given."""
    for hit in parsed.hits:
        if hit.value is not None and hit.bare:
            name = hit.value.text.removeprefix("@")  # ``@file``: the text is in the file
            if all(_names_file(spelling, name) for spelling in _long_names(hit)):
                yield hit.value.with_text(name)


def named_outputs(parsed: Parsed) -> Iterator[Word]:
    """The same for files that are written: ``--output reports/a.xml``, never ``--output json``.

    A program whose grammar is in Python tells its own (curl's ``--output-dir`` is nothing without ``-O``).
    """
    for hit in () if any(n.special for n in parsed.nodes) else parsed.hits:
        if hit.value is None or not hit.bare or len(hit.spelling) < 4:
            continue
        if _MADE.fullmatch(_HUMP.sub(r"-\1", hit.spelling).lower()) and _PATH.fullmatch(hit.value.text):
            yield hit.value


def _long_names(hit: Hit) -> tuple[str, ...]:
    """What the option is called in full: ``-c`` is ``--config`` where a row says so and nothing else."""
    if hit.option is None or hit.spelling.startswith("--"):
        return (hit.spelling,)
    full = tuple(s for s in hit.option.spellings if s.startswith("--"))
    return full if full and all(map(_CONFIG.fullmatch, full)) else (hit.spelling,)


def _names_file(spelling: str, value: str) -> bool:
    spelling = _HUMP.sub(r"-\1", spelling).lower()  # ``--queryFile`` is ``--query-file``
    if not spelling.startswith("--") and len(spelling) < 6:
        return False
    if _WRITTEN.search(spelling.lstrip("-")):
        return False
    if _READ.fullmatch(spelling):
        return _PATH.fullmatch(value) is not None
    return _LIKELY.fullmatch(spelling) is not None and _ENDING.fullmatch(value) is not None
