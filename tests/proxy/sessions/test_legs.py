"""A second sight joins the first only with proof that both are one caller's: otherwise somebody's call would be lost."""

import pytest

from classifiers.call import ObservedAt, ToolCall
from proxy.sessions.calls import KnownCall, arguments_digest
from proxy.sessions.legs import MAX_CALLERS, MAX_KEYS, LegTable, Place, leg_of

MODEL, MCP, HOOK, APP = (
    ObservedAt.MODEL_RESPONSE,
    ObservedAt.MCP_REQUEST,
    ObservedAt.HOOK,
    ObservedAt.AGUI_EVENT,
)
RANDOM = "toolu_01Qm7RkNSRinyfYLyTUPXLrg"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def call(name, arguments, call_id=None, at=MODEL, **more):
    return ToolCall(name=name, arguments=arguments, arguments_valid=True, id=call_id, observed_at=at, **more)


def show(legs, c, action="a:1", session="s", *, caller="pid 1", at=0.0, trace=None, weak=False):
    place = Place(session, caller, weak)
    legs.note(c, at, place)
    one = KnownCall(action, c.id, c.name, arguments_digest(c), leg_of(c), at, "client")
    legs.add(c, one, trace, place)


def again(legs, c, session="s", *, caller="pid 1", at=5.0, trace=None, weak=False):
    place = Place(session, caller, weak)
    legs.note(c, at, place)
    seen = legs.match(c, at, trace, place)
    return seen and (seen.call.action, seen.by, seen.strength)


READ = call("mcp__files__read_file", {"path": "/a"}, RANDOM)
SERVED = call("read_file", {"path": "/a"}, 3, MCP)
INFERRED = ("a:1", "arguments", "inferred")


def test_the_tool_servers_sight_joins_the_models_call_of_its_session_within_the_window():
    legs = LegTable()
    show(legs, READ)
    assert again(legs, SERVED) == INFERRED


def test_two_equal_calls_of_the_model_take_one_sight_each():
    legs = LegTable()
    show(legs, call("mcp__f__r", {"p": 1}, "toolu_11111111"), "a:1")
    show(legs, call("mcp__f__r", {"p": 1}, "toolu_22222222"), "a:2")
    mcp = call("r", {"p": 1}, 1, MCP)
    seen = [again(legs, mcp), again(legs, mcp), again(legs, mcp)]
    assert [s and s[0] for s in seen] == ["a:1", "a:2", None]


def test_a_hook_with_the_models_id_is_a_strong_sight_in_its_session_whatever_it_says_of_the_arguments():
    legs = LegTable()
    show(legs, call("Bash", {"command": "ls"}, "toolu_12345678"))
    assert again(legs, call("Bash", {"command": "ls -la"}, "toolu_12345678", HOOK)) == ("a:1", "id", "strong")


def test_the_same_leg_again_is_a_new_call():
    legs = LegTable()
    show(legs, call("Bash", {"command": "ls"}, "toolu_12345678"))
    assert again(legs, call("Bash", {"command": "ls"}, "toolu_87654321")) is None


OTHERS = {
    "another caller's equal call": (SERVED, {"caller": "pid 2"}, None),
    "a caller nobody could look up": (SERVED, {"caller": None}, None),
    "the same process, the only one with calls there": (SERVED, {}, INFERRED),
    "after the window": (SERVED, {"at": 500.0}, None),
    "before the model had asked": (SERVED, {"at": -3.0}, None),
    "one trace": (SERVED, {"caller": "pid 2", "trace": TRACE}, ("a:1", "trace", "strong")),
    "one trace, other arguments": (call("read_file", {"path": "/b"}, 3, MCP), {"trace": TRACE}, None),
    "an id nobody makes twice": (
        call("mcp__files__read_file", {"path": "/a"}, RANDOM, APP),
        {"caller": "pid 2"},
        ("a:1", "id", "strong"),
    ),
    "an id nobody makes twice, a day later": (
        call("mcp__files__read_file", {"path": "/a"}, RANDOM, APP),
        {"caller": "pid 2", "at": 86_400.0},
        ("a:1", "id", "strong"),
    ),
    "an id nobody makes twice, other arguments": (
        call("mcp__files__read_file", {"path": "/b"}, RANDOM, APP),
        {"caller": "pid 2"},
        None,
    ),
    "the id in the request's own words": (
        call("read_file", {"path": "/a"}, 3, MCP, extra={"tool_use_id": RANDOM}),
        {"caller": "pid 2"},
        ("a:1", "id", "strong"),
    ),
}


@pytest.mark.parametrize("what", OTHERS)
def test_a_call_in_another_session_joins_only_with_proof(what):
    second, where, expected = OTHERS[what]
    legs = LegTable()
    show(legs, READ, trace=TRACE)
    assert again(legs, second, "m-1", **where) == expected


COUNTED = [
    "search_web:0",
    "run_shell_command_1700000000000_0",
    "call_d5wgq1",
    "toolu_0000000000000000001",
    "functions.web:12",
]


@pytest.mark.parametrize("call_id", COUNTED)
def test_an_id_that_comes_again_elsewhere_proves_nothing_in_another_session(call_id):
    legs = LegTable()
    show(legs, call("search_web", {"q": "x"}, call_id))
    assert again(legs, call("search_web", {"q": "x"}, call_id, APP), "t-2", caller="pid 2") is None
    assert again(legs, call("search_web", {"q": "x"}, call_id, APP)) == ("a:1", "id", "strong")


@pytest.mark.parametrize(
    "call_id",
    ["0b5c1f6e-9f1d-4c1e-8a53-2f6f0a7c9b11", "tooluse_AbC-dEf_GhI-jKl_MnO-pQ", "call_UdvUeOElp5zdU0DKr6IoyhjE"],
)
def test_ids_made_at_random_are_known_as_such(call_id):
    legs = LegTable()
    show(legs, call("search_web", {"q": "x"}, call_id))
    assert again(legs, call("search_web", {"q": "x"}, call_id, APP), "t-2", caller="pid 2") == ("a:1", "id", "strong")


def test_in_a_process_with_two_conversations_equal_arguments_prove_nothing():
    legs = LegTable()
    show(legs, READ, session="one")
    show(legs, call("other", {}, "toolu_33333333"), "a:2", "two", at=1.0)
    assert again(legs, SERVED, "m-1") is None


def test_a_conversation_that_fell_silent_does_not_keep_the_other_from_being_joined():
    legs = LegTable()
    show(legs, call("other", {}, "toolu_33333333"), "a:2", "two", at=-900.0)
    show(legs, READ, session="one")
    assert again(legs, SERVED, "m-1") == INFERRED


def test_a_session_that_is_only_a_connection_proves_nothing():
    legs = LegTable()
    show(legs, READ, weak=True, caller=None)
    assert again(legs, SERVED, weak=True, caller=None) is None


def test_the_order_of_analysis_does_not_decide_only_the_order_on_the_wire():
    legs = LegTable()
    show(legs, SERVED, "a:1", "m-1", at=5.0)
    assert again(legs, READ, "s", at=4.0) == INFERRED
    assert again(legs, call("read_file", {"path": "/a"}, "toolu_44444444"), "s", at=9.0) is None


def test_the_table_is_bounded_and_counts_what_it_forgets():
    legs = LegTable()
    for n in range(MAX_KEYS // 2 + 1):
        show(legs, call("t", {"n": n}, f"toolu_{n:08}"), caller=f"pid {n}")
    assert (len(legs.keys), legs.evicted) == (MAX_KEYS, 2)
    for n in range(MAX_CALLERS + 1):
        legs.note(SERVED, 0.0, Place("s", f"pid {n}"))
    assert len(legs.callers) == MAX_CALLERS


@pytest.mark.parametrize(
    ("session", "call_id", "joined"), [("s", RANDOM, True), ("other", RANDOM, False), ("s", "c", False)]
)
def test_a_harness_that_names_the_tool_otherwise_is_known_by_the_calls_id_in_its_session(session, call_id, joined):
    """Codex asks the model with exec_command and tells its hook of Bash; either sight may be read first."""
    asked, told = call("exec_command", {"cmd": "ls"}, call_id), call("Bash", {"command": "ls"}, call_id, HOOK)
    for first, second in ((asked, told), (told, asked)):
        legs = LegTable()
        show(legs, first, at=1.0)
        assert again(legs, second, session, at=1.2) == (("a:1", "id", "strong") if joined else None)


def test_a_tool_server_that_is_asked_for_another_tool_is_no_second_sight_whatever_the_id():
    legs = LegTable()
    show(legs, call("exec_command", {"cmd": "ls"}, RANDOM))
    assert again(legs, call("Bash", {"command": "ls"}, 3, MCP, extra={"tool_use_id": RANDOM})) is None
