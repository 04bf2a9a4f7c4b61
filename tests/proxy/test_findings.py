"""The coverage line says on which legs calls were seen, and every kind of what was not seen."""

from proxy.findings import coverage_of

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
