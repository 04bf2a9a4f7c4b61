"""What control hands over arrives once, in order, whatever happened to either side."""

from proxy.inbox import Inbox, Outbox, inbox_file


def test_messages_arrive_in_order_and_once(tmp_path):
    path = inbox_file(str(tmp_path / "spool"))
    out = Outbox(path)
    out.put("hook", {"n": 1})
    inbox = Inbox(path)
    assert [m.body for m in inbox.messages()] == [{"n": 1}]
    out.put("hook", {"n": 2})
    assert [m.body for m in inbox.messages()] == [{"n": 2}]
    assert inbox.messages() == []


def test_a_reader_that_starts_again_goes_on_behind_its_offset(tmp_path):
    path = inbox_file(str(tmp_path / "spool"))
    out = Outbox(path)
    out.put("a", 1)
    out.put("b", 2)
    first = Inbox(path).messages()[0]
    assert [m.kind for m in Inbox(path, first.end).messages()] == ["b"]


def test_a_half_written_line_waits_and_a_broken_one_is_skipped(tmp_path):
    path = inbox_file(str(tmp_path / "spool"))
    out = Outbox(path)
    with path.open("ab") as file:
        file.write(b'not json\n{"kind":"c","bo')
    inbox = Inbox(path)
    assert inbox.messages() == []
    with path.open("ab") as file:
        file.write(b'dy":3}\n')
    assert [m.body for m in inbox.messages()] == [3]
    out.close()


def test_an_inbox_that_does_not_exist_yet_is_empty(tmp_path):
    inbox = Inbox(inbox_file(str(tmp_path / "spool")))
    assert inbox.messages() == []


def test_a_message_that_is_too_large_is_declined(tmp_path):
    assert not Outbox(inbox_file(str(tmp_path / "s"))).put("big", "x" * (9 << 20))
