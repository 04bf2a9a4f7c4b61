"""The dispatcher answers every call, and says why when nobody can read it."""

from classifiers import classify
from classifiers.call import ToolCall


def test_a_tool_nobody_maps_is_one_unknown_effect_and_incomplete():
    action = classify(ToolCall("frobnicate_everything", {"level": 3}))
    assert [str(e) for e in action.effects] == ["unknown unknown:? maybe_destructive raw=frobnicate_everything"]
    assert not action.complete
    assert action.destructive is None


def test_structured_output_has_no_effects():
    action = classify(ToolCall("final_result", {"answer": 42}, purpose="structured_output"))
    assert action.effects == ()
    assert action.complete
