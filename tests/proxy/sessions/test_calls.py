"""A result answers one call, once, however often its history is sent again."""

from classifiers.call import ToolCall, ToolResult
from proxy.sessions.calls import MAX_CALLS, CallTable, KnownCall, arguments_digest


def known(call_id, name="bash", action="a:1", at=0.0):
    return KnownCall(action=action, id=call_id, name=name, digest="d", leg="model", at=at, executed_by="client")


def result(call_id, digest, name=None):
    return ToolResult(id=call_id, name=name, digest=digest, asserted_by="request", source="request")


def settle(table, res, nth=0):
    found = table.answers(res, nth)
    if found is not None:
        found.answer = res.digest
    return found and found.action


def test_a_result_is_attached_once_although_every_request_sends_it_again():
    table = CallTable()
    table.add(known("t1", action="a:1"))
    assert settle(table, result("t1", "x")) == "a:1"
    assert settle(table, result("t1", "x")) is None


def test_ids_used_again_each_round_belong_to_their_own_call():
    table = CallTable()
    table.add(known("search:0", action="a:1"))
    assert settle(table, result("search:0", "x"), 0) == "a:1"
    table.add(known("search:0", action="a:2"))
    assert settle(table, result("search:0", "x"), 0) is None
    assert settle(table, result("search:0", "y"), 1) == "a:2"


def test_calls_without_ids_are_answered_in_order_of_their_name():
    table = CallTable()
    table.add(known(None, "read", "a:1"))
    table.add(known(None, "read", "a:2"))
    assert settle(table, result(None, "x", "read"), 0) == "a:1"
    assert settle(table, result(None, "y", "read"), 1) == "a:2"


def test_a_compacted_history_answers_the_open_call_and_not_an_old_one():
    table = CallTable()
    table.add(known("c", action="a:1"))
    settle(table, result("c", "x"), 0)
    table.add(known("c", action="a:2"))
    assert settle(table, result("c", "y"), 0) == "a:2"


def test_a_result_of_a_call_never_seen_answers_nothing():
    assert CallTable().answers(result("ghost", "x"), 0) is None


def test_a_number_and_its_text_are_different_ids():
    table = CallTable()
    table.add(known(1))
    assert table.answers(result("1", "x"), 0) is None


def test_the_table_forgets_its_oldest_calls_and_counts_them():
    table = CallTable()
    for n in range(MAX_CALLS + 3):
        table.add(known(f"t{n}"))
    assert (len(table.calls), table.evicted) == (MAX_CALLS, 3)
    assert table.latest("t0") is None


def call(name, arguments):
    return ToolCall(name=name, arguments=arguments, arguments_valid=True)


def test_spacing_and_key_order_do_not_change_what_the_arguments_are():
    assert arguments_digest(call("t", {"a": 1, "b": 2})) == arguments_digest(call("t", {"b": 2, "a": 1}))


def test_an_id_the_client_made_up_answers_the_call_that_came_without_one():
    table = CallTable()
    table.add(known(None, "run_shell_command", "a:1"))
    assert settle(table, result("run_shell_command_1700_0", "x", "run_shell_command")) == "a:1"
