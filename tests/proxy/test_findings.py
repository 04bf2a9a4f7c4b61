"""The coverage line says on which legs calls were seen, and every kind of what was not seen."""

from proxy.findings import coverage_of, not_looked_into

ACTION = {
    "kind": "action",
    "session": {"id": "s"},
    "call": {"observed_at": "model_response", "complete": True},
    "classification": {"complete": True, "effects": []},
    "findings": [],
    "objective": None,
    "verdict": None,
}


def test_the_line_names_the_legs_of_first_and_second_sights():
    said = coverage_of([ACTION, ACTION, {"kind": "sighting", "leg": "hook"}]).line()
    assert said.startswith("2 calls in 1 session(s), 0 answered; not read: 0 call(s) in part")
    assert said.endswith("; seen on: hook 1, model_response 2")


def test_nothing_seen_names_no_leg():
    assert "seen on" not in coverage_of([]).line()


def test_what_crossed_unread_is_said_with_its_place_its_reason_and_what_to_do():
    tunnel = {"kind": "opaque_flow", "flow": {"host": "api.example:443", "reason": "not_listed"}}
    refused = {"kind": "refusal", "refusal": {"status": 502, "reason": "upstream-connect"}}
    assert not_looked_into([tunnel, ACTION, refused, tunnel]) == [
        "1 answered 502 by onlooker: upstream-connect",
        "2 tunnelled to api.example:443: not_listed (--intercept HOST looks into it)",
    ]
