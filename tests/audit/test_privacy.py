"""What each mode keeps, what is taken out of every string, and that evidence still points at its text."""

import orjson
import pytest

from audit import record as records
from audit.keys import Sealer, SealKeyGoneError, load_token_keys, rotate_token_keys
from audit.privacy import Guard, parse_rules
from audit.redact import TokenKeys
from classifiers.call import Approval, ApprovalState, ToolCall
from classifiers.effects import Action, Domain, Effect, Evidence, Opaque, OpaqueReason, Surface, Verb
from tests.audit.build import action_record, every_kind, open_log, shell_action, shell_call

KEYS = TokenKeys("k1", {"k1": b"0" * 32})


def text_of(record):
    return orjson.dumps(record).decode()


def guarded(record, **more):
    return Guard(KEYS, **more)(record)


def with_mode(mode, **more):
    return Guard(KEYS, rules=parse_rules([{"mode": mode}]), **more)


def test_shell_text_is_kept_redacted_by_default():
    record = guarded(action_record("PASSWORD=hunter2 rm -rf /srv/shop/cache"))
    assert record["privacy"]["mode"] == "redacted"
    assert record["call"]["arguments"]["command"].startswith("PASSWORD=REDACTED_secret_k1_")
    assert "hunter2" not in text_of(record)
    assert {r["path"] for r in record["privacy"]["redactions"]} == {"call.arguments.command"}


def test_other_surfaces_keep_names_effects_and_a_keyed_digest():
    call = ToolCall(name="Write", arguments={"path": "/srv/a", "content": "private words"}, arguments_valid=True)
    effect = Effect(Domain.FILESYSTEM, Verb.MODIFY, "/srv/a", target_raw="./a")
    record = guarded(records.action(call, Action(Surface.FILES, (effect,))))
    assert record["privacy"]["mode"] == "metadata"
    assert record["call"]["arguments"] is None
    assert record["call"]["arguments_hmac"].startswith("hmac-sha256:k1:")
    assert record["classification"]["effects"][0]["target"] == "/srv/a"
    assert "private words" not in text_of(record)


@pytest.mark.parametrize(
    ("mode", "keeps_text", "keeps_target"),
    [("none", False, False), ("metadata", False, True), ("redacted", True, True), ("full", True, True)],
)
def test_each_mode_keeps_what_it_says(mode, keeps_text, keeps_target):
    text = text_of(with_mode(mode)(action_record("rm -rf /srv/shop/cache # kept words")))
    assert ("kept words" in text) is keeps_text
    assert ("/srv/shop/cache" in text) is keeps_target


def test_counts_only_still_says_what_was_found():
    record = with_mode("none")(action_record())
    assert record["classification"]["effect_count"] == 1
    assert record["classification"]["destructive"] is True
    assert record["policy"][0]["findings"][0]["rule"] == "fs.delete-protected-tree"
    assert record["call"]["name"] is None


def test_full_keeps_secrets_because_somebody_asked_for_it():
    assert "hunter2" in text_of(with_mode("full")(action_record("PASSWORD=hunter2 x")))


def test_the_first_rule_that_matches_decides():
    rules = parse_rules(
        [
            {"mode": "none", "tools": ["mcp__*"]},
            {"mode": "sealed", "surfaces": ["sql"]},
            {"mode": "metadata", "tools": "bash", "protocols": ["anthropic.*"]},
            {"mode": "full"},
        ]
    )
    assert Guard(KEYS, rules=rules).mode(action_record()) == "metadata"
    assert Guard(KEYS, rules=rules[:2]).mode(action_record()) == "redacted"


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"mode": "secret"}, r"rules\[0\]: mode is 'secret'; expected one of none"),
        ({"mode": "none", "tool": "x"}, "unknown key 'tool'"),
    ],
)
def test_a_wrong_rule_is_named(rule, said):
    with pytest.raises(ValueError, match=said):
        parse_rules([rule])


def test_evidence_points_at_its_text_after_redaction():
    command = "curl -H 'Authorization: Bearer q8W2eR4tY6uI8oP0' https://h.example/x && rm -rf /home/kim/shop/cache"
    start = command.index("rm -rf")
    record = guarded(action_record(command, action=shell_action("/home/kim/shop/cache", start, len(command))))
    evidence = record["classification"]["effects"][0]["evidence"]
    text = record["call"]["arguments"]["command"]
    assert text[evidence["start"] : evidence["end"]].startswith("rm -rf /home/person_k1_")
    assert evidence["end"] == len(text)


@pytest.mark.parametrize("path", ["command", "arguments.command", "call.arguments.command", "$.command"])
def test_evidence_is_followed_however_its_path_is_written(path):
    effect = Effect(Domain.FILESYSTEM, Verb.DELETE, "/x", evidence=Evidence(path, 18, 25))
    record = guarded(action_record("PASSWORD=hunter2; rm -r /x", action=Action(Surface.SHELL, (effect,))))
    evidence = record["classification"]["effects"][0]["evidence"]
    assert record["call"]["arguments"]["command"][evidence["start"] : evidence["end"]] == "rm -r /"


def test_here_document_bodies_become_digest_and_length():
    body = "line of a private letter\nanother"
    command = f"cat > /tmp/a <<'EOF'\n{body}\nEOF\nrm -r /x"
    start = command.index("rm -r")
    record = guarded(action_record(command, action=shell_action("/x", start, len(command))))
    text = record["call"]["arguments"]["command"]
    assert "private letter" not in text_of(record)
    assert f"_{len(body)}b\nEOF\n" in text
    evidence = record["classification"]["effects"][0]["evidence"]
    assert text[evidence["start"] : evidence["end"]] == "rm -r /x"


@pytest.mark.parametrize("command", ["echo $((1<<n))\nls", "cat <<<word\nword\nx", "cat <<EOF\nno end"])
def test_what_is_no_here_document_stays(command):
    assert guarded(action_record(command))["call"]["arguments"]["command"] == command


def test_a_secret_found_in_the_arguments_leaves_every_other_string_too():
    action = Action(
        Surface.SHELL, opaque=(Opaque(OpaqueReason.DYNAMIC_COMMAND, (0, 3), "run hunter2x now"),), notes=("hunter2x",)
    )
    record = guarded(action_record("PASSWORD=hunter2x run hunter2x now", action=action))
    assert "hunter2x" not in text_of(record)
    assert "REDACTED_secret_k1_" in record["classification"]["opaque"][0]["text"]


def test_a_structured_argument_named_like_a_secret_is_one():
    call = ToolCall(
        name="Login", arguments={"user": "kim", "clientSecret": "abc", "max_tokens": 5}, arguments_valid=True
    )
    rule = parse_rules([{"mode": "redacted"}])
    record = Guard(KEYS, rules=rule)(records.action(call, Action(Surface.MCP)))
    assert record["call"]["arguments"]["clientSecret"].startswith("REDACTED_secret_k1_")
    assert record["call"]["arguments"]["user"] == "kim"
    assert record["call"]["arguments"]["max_tokens"] == 5


def test_people_are_keyed_pseudonyms_and_the_same_person_is_the_same_one():
    call = shell_call("ls /home/kim/a", approval=Approval(ApprovalState.APPROVED, decided_by="kim@acme.example"))
    record = guarded(records.action(call, shell_action("/home/kim/a")))
    text = text_of(record)
    assert "kim" not in text
    assert record["call"]["approval"]["decided_by"].startswith("person_k1_")
    home = record["classification"]["effects"][0]["target"]
    assert home.split("/")[2] in record["call"]["arguments"]["command"]


def test_people_stay_when_the_configuration_says_so():
    call = shell_call("ls /home/kim/a")
    assert "/home/kim/a" in text_of(guarded(records.action(call, shell_action()), identities="clear"))


def test_a_disposition_names_its_author_by_pseudonym():
    record = guarded(records.disposition(action="x:1", state="benign", reason="drill", by="lead@acme.example"))
    assert record["disposition"]["by"].startswith("person_k1_")


@pytest.mark.parametrize("role", ["agent", "admin-api"])
def test_who_is_no_person_keeps_its_name(role):
    assert guarded(records.attestation(statement="x", by=role))["attestation"]["by"] == role


def test_sealed_arguments_open_with_the_key_of_their_day_only(tmp_path):
    sealer = Sealer(tmp_path / "seal")
    record = with_mode("sealed", sealer=sealer, today=lambda: "2026-11-30")(action_record("cat letter"))
    call = record["call"]
    assert "letter" not in text_of(record)
    bound = call["arguments_hmac"].encode()
    assert orjson.loads(sealer.unseal(call["sealed"], bound)) == {"command": "cat letter"}
    with pytest.raises(ValueError, match="does not belong"):
        sealer.unseal(call["sealed"], b"another record")
    (tmp_path / "seal" / "2026-11-30.key").unlink()
    with pytest.raises(SealKeyGoneError):
        sealer.unseal(call["sealed"], bound)


def test_rotated_keys_keep_the_old_ones_for_matching(tmp_path):
    first = load_token_keys(tmp_path / "keys" / "redaction.json")
    second = rotate_token_keys(tmp_path / "keys" / "redaction.json")
    assert (first.current, second.current) == ("k1", "k2")
    assert second.mac(b"x", "k1") == first.mac(b"x")
    assert (tmp_path / "keys" / "redaction.json").stat().st_mode & 0o777 == 0o600


def test_the_builders_values_are_not_changed():
    arguments = {"command": "PASSWORD=hunter2 x"}
    guarded(records.action(ToolCall(name="Bash", arguments=arguments, arguments_valid=True), shell_action()))
    assert arguments == {"command": "PASSWORD=hunter2 x"}


@pytest.mark.parametrize(
    "arguments",
    [{"command": "echo \ud800"}, {"n": 2**70}, {"n": [[[[1]]]] * 3}, {"\ud800": 1}, {1: 2}, {"x": float("nan")}],
    ids=["surrogate", "big integer", "nested", "surrogate key", "number key", "nan"],
)
def test_what_json_cannot_hold_does_not_lose_the_record(tmp_path, arguments):
    call = ToolCall(name="Bash", arguments=arguments, arguments_valid=True)
    with open_log(tmp_path, guard=Guard(KEYS)) as log:
        log.append(records.action(call, shell_action()))
        assert log.tail(1)[0]["kind"] == "action"


def test_nesting_over_the_encoders_limit_does_not_lose_the_record(tmp_path):
    value = "PASSWORD=hunter2"
    for _ in range(400):
        value = [value]
    call = ToolCall(name="Bash", arguments={"command": value}, arguments_valid=True)
    with open_log(tmp_path, guard=Guard(KEYS)) as log:
        log.append(records.action(call, shell_action()))
        assert "hunter2" not in text_of(log.tail(1)[0])


def test_every_kind_passes_the_guard():
    for record in every_kind():
        assert guarded(record)["kind"] == record["kind"]


CANARIES = {
    "aws": "AKIAZQ3EGRT2LMNOPQRS",
    "aws secret": "aws_secret_access_key=CANARY1/K7MDENGbPxRfiCYzzEXAMPLEKEY",
    "github": "ghp_CANARY2eR4tY6uI8oP0aS1dF3gH5jK7lZ9xC2vB",
    "gitlab": "glpat-CANARY3C3dE5fG7hI9jK",
    "anthropic": "sk-ant-api03-CANARY4tY6uI8oP0aS1dF3gH5",
    "openai": "sk-proj-CANARY5tY6uI8oP0aS1dF3gH5",
    "slack": "xoxb-CANARY6-abcdefGHIJKL",
    "stripe": "sk_live_CANARY7R4tY6uI8oP0aS1d",
    "google": "AIzaCANARY8mK9vQ2xW8rT5nB7cF1hJ4pL6zY0aE",
    "npm": "npm_CANARY9c3D4e5F6g7H8i9J0k1L2m3N4o5P6q",
    "vault": "hvs.CANARY10q8W2eR4tY6uI8oP0aS1d",
    "jwt": "eyJCANARY11hbGciOiJI.eyJzdWIiOiIxMjM0In0.c2ln",
    "pem": "-----BEGIN PRIVATE KEY-----\nCANARY12\n-----END PRIVATE KEY-----",
    "bearer": "curl -H 'Authorization: Bearer CANARY13xyz' h",
    "basic": "curl -H 'Authorization: Basic CANARY14xyz=' h",
    "x-api-key": "curl -H 'x-api-key: CANARY15xyz' h",
    "cookie": "curl -H 'Cookie: sid=CANARY16xyz' h",
    "url password": "psql postgres://app:CANARY17xyz@db.example/x",
    "url user": "git clone https://CANARY18xyzCANARY18@git.example/x",
    "query key": "curl 'https://h.example/?key=CANARY19xyz'",
    "query sig": "curl 'https://h.example/?X-Amz-Signature=CANARY20xyz'",
    "assignment": "DB_PASSWORD=CANARY21xyz ./run",
    "quoted": "export API_TOKEN='CANARY22 with space'",
    "json": 'echo \'{"client_secret": "CANARY23xyz"}\'',
    "option": "deploy --token CANARY24xyz",
    "login": "curl -u admin:CANARY25xyz h",
    "mysql": "mysql -u root -pCANARY26xyz shop",
    "sshpass": "sshpass -p CANARY27xyz ssh h",
    "sql": "CREATE USER a IDENTIFIED BY 'CANARY28xyz'",
    "netrc": "machine h login me password CANARY29xyz",
    "subprotocol": "Sec-WebSocket-Protocol: openai-insecure-api-key.sk-CANARY30eR4tY6uI8oP0aS1d",
    "here-document": "cat > a <<EOF\nCANARY31 of a letter\nEOF",
}


def planted():
    """Each canary through each path a record has: arguments, unparsed text, targets, messages, errors, results."""
    for text in CANARIES.values():
        call = shell_call(text)
        opaque = (Opaque(OpaqueReason.PARSE_ERROR, (0, len(text)), text),)
        yield records.action(call, Action(Surface.SHELL, opaque=opaque, notes=(text,)))
        if "CANARY31" in text:
            continue  # a here-document is one only in a shell's text
        yield records.action(ToolCall(name="x", arguments_text=text, arguments_valid=False), shell_action(target=text))
        yield records.analysis_failed(stage="classifiers", error=f'Traceback: ValueError("{text}")', call=call)
        yield records.unread(content_type="text/plain", size_bytes=1, reason=text)
        yield records.refusal(status=400, reason=text, detail={"head": text})
        yield records.session_end(around=records.NOTHING, reason="exit", summary={"note": text})


def test_thirty_planted_secrets_are_in_no_record(tmp_path):
    with open_log(tmp_path, guard=Guard(KEYS)) as log:
        for record in planted():
            log.append(record)
    written = b"".join(p.read_bytes() for p in (tmp_path / "audit").iterdir())
    assert len(CANARIES) >= 30
    assert b"CANARY" not in written
    assert b"AKIAZQ3EGRT2LMNOPQRS" not in written
