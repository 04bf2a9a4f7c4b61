"""aws: which option names the resource an operation works on, and what else its words name. A reading in, changed.

An operation is a verb and a noun (``delete-db-instance``), and the option that names the resource is called after the
noun (``--db-instance-identifier``). Values that start with ``file://`` are read; SQL given in an option is a payload.
Source: AWS CLI v2 user guide, "Parameter values", "AWS CLI skeletons", "Streaming operations".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from classifiers.effects import Domain, OpaqueReason, Verb
from classifiers.knowledge.model import Delegate, Json
from classifiers.knowledge.reading import Handed, Hidden, Reading, Told
from classifiers.knowledge.words import Word

_GRANTS = re.compile(
    r"(?:put|set|attach)-[a-z-]*(?:policy|permission|permissions-policy)|modify-[a-z-]*-permission|create-resource-share"
    r"|(?:associate|replace)-iam-instance-profile[a-z-]*"
)
_NO_GRANT = re.compile(r"lifecycle|scaling|retention|rotation|password|replication|delivery|dlp|backup-policy")
Given = Mapping[str, list[Word]]

# Services whose description names the resource itself.
_OWN_NAMES = frozenset({"s3", "configure", "sso", "sts", "login", "logout", "ecr", "eks", "help", "history"})
_ENDINGS = ("-name", "name", "-identifier", "-id", "-arn", "", "-names", "-identifiers", "-ids", "-arns", "s", "-url")
_ANY = (
    *("id", "ids", "identifier", "identifiers", "arn", "arns", "resource-arn", "resource-id", "resource-name"),
    *("resource-ids", "resources", "account-ids"),
)
_NAMES = re.compile(r"[a-z0-9-]+-(?:names?|identifiers?|ids?|arns?|url)")
_PLAIN = re.compile(r"[^={}\[\]]+")  # a name, and not a structure or a file that holds one
_NO_RESOURCE = re.compile(r"(?:client|role|kms|profile|owner|snapshot-owner|account|ca|next|session)[-a-z]*")
_OWNERS = ("owner-ids", "owner-id", "owners")  # whose things are asked for, and not which
_WHOLE = re.compile(r"(?:organization|directory|identity-store|user-pool|identity-pool|workspace|app|api|rest-api)-id")
_BARE = ("rule", "domain", "catalog", "cluster", "bucket", "table", "queue", "stream", "topic", "repository", "stack")
_NAMED = {"put-metric-alarm": "alarm-name"}  # where the nouns would give another
_FILE = re.compile(r"(?:^|=)fileb?://([^,\s]+)")
_SQL = {
    ("athena", "start-query-execution"): ("query-string", "athena"),
    ("rds-data", "execute-statement"): ("sql", "generic"),
    ("redshift-data", "execute-statement"): ("sql", "redshift"),
    ("timestream-query", "query"): ("query-string", "generic"),
    ("dynamodb", "execute-statement"): ("statement", "generic"),
}
# Operations that write the body of the answer to the file their last word names.
_OUT_FILE = frozenset({
    "apigateway get-export", "apigateway get-sdk", "appconfig get-configuration", "cloudfront get-function",
    "appconfigdata get-latest-configuration", "bedrock-runtime invoke-model", "codeartifact get-package-version-asset",
    "ebs get-snapshot-block", "glacier get-job-output", "iot-data get-thing-shadow", "iot-data update-thing-shadow",
    "kinesis-video-media get-media", "mediastore-data get-object", "polly synthesize-speech",
    "s3api get-object-torrent",
    "s3api select-object-content", "sagemaker-runtime invoke-endpoint", "schemas get-code-binding-source",
})  # fmt: skip


def read_aws(reading: Reading, name: Word, words: Sequence[Word]) -> None:
    """Put the resource's name in the targets; tell of files read and written, and of SQL."""
    subs = [s.text for s in reading.parsed.subs]
    if words and (words[-1].text == "help" or any(w.text.startswith("--generate-cli-skeleton") for w in words)):
        reading.items[:] = []
        reading.answered = True
        return
    _files(reading, words)
    if len(subs) > 1:
        _rights(reading, subs[1])
    if len(subs) < 2 or subs[0] in _OWN_NAMES:
        return
    out = _out_file(reading, f"{subs[0]} {subs[1]}", words)
    given = _options(words[:-1] if out else words)
    _name(reading, subs, given)
    _sql(reading, subs, given)
    if subs[:2] == ["ssm", "send-command"]:
        _run_command(reading, given)
    if out is not None:
        fields: Json = {"destructive": None, "reversibility": "reversible"}
        reading.items.append(Told(Verb.MODIFY, Domain.FILESYSTEM, out.text, fields, out.span, out))
    _ = name


def _rights(reading: Reading, operation: str) -> None:
    """Operations that say who may use a resource (IAM user guide, "Resource-based policies") grant."""
    if _GRANTS.fullmatch(operation) is None or _NO_GRANT.search(operation):
        return
    for at, item in enumerate(reading.items):
        if isinstance(item, Told) and item.domain is Domain.CLOUD and item.action in {Verb.CREATE, Verb.MODIFY}:
            reading.items[at] = replace(item, action=Verb.GRANT)


def _out_file(reading: Reading, operation: str, words: Sequence[Word]) -> Word | None:
    last, before = words[-1], words[-2].text
    a_value = before.startswith("--") and "=" not in before
    written = operation in _OUT_FILE and not last.text.startswith("-") and not a_value
    return last if written and last is not reading.parsed.subs[1] else None


def _options(words: Sequence[Word]) -> dict[str, list[Word]]:
    """Each option with every word up to the next one: ``--instance-ids a b``."""
    given: dict[str, list[Word]] = {}
    current: list[Word] = []
    for word in words:
        if word.text.startswith("--"):
            key, eq, value = word.text[2:].partition("=")
            current = given.setdefault(key, [])
            if eq:
                current.append(word.with_text(value))
        else:
            current.append(word)
    return given


def _files(reading: Reading, words: Sequence[Word]) -> None:
    for word in words:
        for path in _FILE.findall(word.text):
            fields: Json = {"destructive": False, "reversibility": "read_only"}
            reading.items.append(Told(Verb.READ, Domain.FILESYSTEM, path, fields, word.span, word.with_text(path)))


def _nouns(operation: str) -> Iterator[str]:
    """``security-group-ingress``, then with fewer words at its end, then at its start; each singular first."""
    parts = operation.split("-")[1:]
    for cut in [parts[:n] for n in range(len(parts), 0, -1)] + [parts[n:] for n in range(1, len(parts))]:
        noun = "-".join(cut)
        yield noun[:-3] + "y" if noun.endswith("ies") else noun.removesuffix("s")
        yield noun


def _resource(operation: str, given: Given) -> list[Word] | None:
    if found := given.get(_NAMED.get(operation, "")):
        return found
    made = operation.startswith(("restore-", "copy-"))
    for noun in _nouns(operation):
        for ending in _ENDINGS:
            found = (given.get("target-" + noun + ending) if made else None) or given.get(noun + ending)
            if found and _a_name(found[0].text, noun, ending):
                return found
    return given.get("name") or given.get("names")


def _a_name(text: str, noun: str, ending: str) -> bool:
    """Whether an option called after the noun holds a name, and not a number, a structure or a file."""
    counted = not ending and text.isdigit()
    return (
        noun not in {"password", "command"}
        and not counted
        and "://" not in text[:8]
        and _PLAIN.fullmatch(text) is not None
    )


def _some_name(given: Given) -> list[Word]:
    """No option is called after the noun: one with a general name, else the first that names something."""
    general = next((given[n] for n in _ANY if given.get(n)), None)
    if general is not None:
        return general
    named = [k for k, v in given.items() if v and _NAMES.fullmatch(k) and not _NO_RESOURCE.fullmatch(k)]
    inner = [k for k in named if not _WHOLE.fullmatch(k)] or named or [k for k in _BARE if given.get(k)]
    return given[inner[0]] if inner else []


def _name(reading: Reading, subs: Sequence[str], given: Given) -> None:
    exact = _resource(subs[-1], given) if subs[0] != "s3api" else None
    other = exact or _some_name(given)
    parents = {"*"} | {v[0].text for k, v in given.items() if v and _WHOLE.fullmatch(k)}
    out: list[Told | Handed | Hidden] = []
    for item in reading.items:
        if not isinstance(item, Told) or not item.target or not _of_service(item.target, subs[0].removesuffix("api")):
            out.append(item)
        elif subs[0] == "s3api":
            whole = item.target.endswith("/*") and "object" not in subs[-1] and "upload" not in subs[-1]
            out.append(replace(item, target=item.target[:-2]) if whole else item)
        else:
            start, _, resource = item.target.rpartition(":") if item.target.endswith(":*") else _split(item.target)
            is_owner = any(resource == w.text for key in _OWNERS for w in given.get(key, ()))
            names = exact or (other if is_owner or resource in parents else None)
            plain = replace(item, target=f"{start}:*") if is_owner else item
            out += [replace(item, target=f"{start}:{n.text}") for n in names[:64]] if names else [plain]
    reading.items[:] = out


def _of_service(target: str, service: str) -> bool:
    """``aws:account:region:service:…``: what lies in another service (an export's bucket) has a name of its own."""
    parts = target.split(":", 4)
    return parts[0] == "aws" and parts[3:4] in ([service], ["*"])


def _split(target: str) -> tuple[str, str, str]:
    parts = target.split(":", 4)
    return ":".join(parts[:4]), ":", parts[4] if len(parts) > 4 else "*"


def _sql(reading: Reading, subs: Sequence[str], given: Given) -> None:
    option, engine = _SQL.get((subs[0], subs[1]), ("", ""))
    for text in given.get(option, ())[:1]:
        for item in reading.items:
            if isinstance(item, Told) and item.domain is Domain.CLOUD:
                item.fields = {**item.fields, "destructive": False, "reversibility": "reversible"}
        if _FILE.search(text.text):
            reading.items.append(Hidden(OpaqueReason.PAYLOAD_UNREADABLE, text.span, "the statements are in a file"))
        elif text.text:
            fields: Json = {"host": None, "database": None}
            reading.items.append(Handed(Delegate("sql", engine), (text,), fields, text.span, f"aws {subs[0]}"))


_COMMANDS = re.compile(r"commands=(\[.*\]|[^\[].*)", re.DOTALL)


def _run_command(reading: Reading, given: Given) -> None:
    """``--parameters commands=["…"]`` or its JSON form: the lines a document like AWS-RunShellScript runs there."""
    where = next((w.text for n in ("instance-ids", "targets") for w in given.get(n, ())), "*")
    for text in given.get("parameters", ())[:1]:
        found = _COMMANDS.fullmatch(text.text.strip())
        try:
            said = json.loads(found[1] if found else text.text)
        except ValueError:
            said = found[1] if found else None
        lines = said.get("commands") if isinstance(said, dict) else said
        script = "\n".join(map(str, lines)) if isinstance(lines, list) else lines
        if isinstance(script, str) and script:
            inner = text.with_text(script)
            fields: Json = {"where": f"host:{where}"}
            reading.items.append(Handed(Delegate("shell"), (inner,), fields, text.span, "aws ssm send-command"))


SPECIAL = ("aws", read_aws)
