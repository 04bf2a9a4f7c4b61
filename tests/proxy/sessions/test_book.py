"""Which session an exchange belongs to: the first key that exists decides, and says how sure it is."""

import pytest

from proxy.exchange import Exchange, Head
from proxy.sessions.book import SessionBook
from proxy.sessions.identity import identify, launched


def exchange(
    number: int = 0,
    *,
    peer: str = "127.0.0.1:5000",
    headers: tuple = (),
    prints: dict | None = None,
    pid: int | None = 7,
) -> Exchange:
    return Exchange(
        id=f"r0:{number}",
        request=Head("POST", "/v1/messages", 0, tuple(headers)),
        connection=f"c{number}",
        peer={"addr": peer, "pid": pid},
        fingerprints=prints or {},
    )


def find(book: SessionBook, ex: Exchange, facts: dict | None = None, history: tuple = (), at: float = 100.0):
    return book.find(ex, identify(ex.request), facts or {}, history, at)


CLAUDE = (("user-agent", "claude-cli/2.1.197 (external)"), ("x-claude-code-session-id", "abc-1"))

KEYS = [
    (
        "a client header",
        CLAUDE,
        {"session_ids": {"user": "u"}},
        ("m1",),
        ("abc-1", "header:x-claude-code-session-id", "strong"),
    ),
    ("a body id", (), {"session_ids": {"metadata.user_id": "s9"}}, ("m1",), ("s9", "metadata.user_id", "strong")),
    ("a cache key", (), {"session_ids": {"prompt_cache_key": "k"}}, (), ("k", "prompt_cache_key", "inferred")),
    ("an MCP session", (), {"mcp_session": "m-1"}, (), ("m-1", "mcp_session", "strong")),
    ("a thread", (), {"thread_id": "t-1"}, (), ("t-1", "thread_id", "strong")),
]


@pytest.mark.parametrize(("what", "headers", "facts", "history", "expected"), KEYS, ids=[k[0] for k in KEYS])
def test_the_surest_key_decides(what, headers, facts, history, expected):
    found = find(SessionBook(), exchange(headers=headers), facts, history)
    assert (found.id, found.source, found.strength) == expected


def test_a_longer_history_of_the_same_caller_goes_on_in_its_session():
    book = SessionBook()
    first = find(book, exchange(1), history=("a",))
    second = find(book, exchange(2, peer="127.0.0.1:5001"), history=("a", "b", "c"))
    other = find(book, exchange(3), history=("x",))
    assert first is second
    assert other is not first
    assert first.strength == "inferred"


WHERE_THE_PROCESS_IS_FOUND = [
    ("in the first turn only", (7, None), True),
    ("in the second turn only", (None, 7), True),
    ("in the first and the third", (7, None, 7), True),
    ("in the second and the third", (None, 7, 7), True),
    ("in no turn", (None, None), True),
    ("and it is another one", (7, 8), False),
    ("late, and it is another one", (None, 7, 8), False),
]


@pytest.mark.parametrize(
    ("what", "pids", "one"), WHERE_THE_PROCESS_IS_FOUND, ids=[w[0] for w in WHERE_THE_PROCESS_IS_FOUND]
)
def test_a_conversation_that_goes_on_is_one_session_wherever_its_process_was_found(what, pids, one):
    book, history = SessionBook(), ("a", "b", "c", "d", "e")
    turns = [find(book, exchange(n, pid=pid), history=history[: 2 * n + 1]) for n, pid in enumerate(pids)]
    assert (len({s.id for s in turns}) == 1) is one


def test_the_same_question_from_a_process_that_was_found_and_one_that_was_not_is_two_sessions():
    """It does not go on from anything: two callers may ask the same."""
    book = SessionBook()
    first, second = (find(book, exchange(n, pid=pid), history=("a",)) for n, pid in enumerate((7, None)))
    assert first is not second


def test_a_history_two_processes_had_is_nobodys_in_particular():
    book = SessionBook()
    known = [find(book, exchange(n, pid=n), history=("a",)) for n in (7, 8)]
    stranger = find(book, exchange(3, pid=None), history=("a", "b", "c"))
    assert stranger not in known
    assert find(book, exchange(4, pid=8), history=("a", "b", "d")) is known[1]


def test_equal_first_messages_behind_two_keys_are_two_sessions():
    book = SessionBook()
    one = find(book, exchange(1, prints={"x-api-key": "k1:aa"}), history=("a",))
    two = find(book, exchange(2, prints={"x-api-key": "k1:bb"}), history=("a",))
    assert one is not two


def test_a_request_that_names_the_previous_response_joins_its_session():
    book = SessionBook()
    first = find(book, exchange(1), {"session_ids": {"conversation": "cv"}})
    book.responded(first, "resp_1")
    assert find(book, exchange(2), {"previous_response_id": "resp_1"}) is first


def test_without_any_key_the_connection_is_a_weak_one():
    found = find(SessionBook(), exchange(4))
    assert (found.id, found.strength) == ("c-c4", "weak")


def test_inside_run_traffic_without_ids_belongs_to_the_launch():
    book = SessionBook(launch="run-1")
    assert find(book, exchange(1), history=("a",)).id == "run-1"
    assert find(book, exchange(2, headers=CLAUDE)).id == "abc-1"


def test_idle_sessions_end_oldest_first_and_busy_ones_stay():
    book = SessionBook(idle_s=60)
    find(book, exchange(1), at=0.0)
    find(book, exchange(2), at=50.0)
    ended = list(book.idle(now=61.0))
    assert [(s.id, why) for s, why in ended] == [("c-c1", "idle")]
    assert list(book.sessions) == ["c-c2"]


def test_the_agent_is_named_from_its_headers():
    found = find(SessionBook(), exchange(headers=CLAUDE))
    assert (found.agent, found.agent_version) == ("claude-code", "2.1.197")


AGENTS = [
    ("codex_exec/0.171.0 (Debian 12; x86_64)", "codex", "0.171.0"),
    ("GeminiCLI-tui/0.61.0/gemini-2.5-flash (linux)", "gemini-cli", "0.61.0"),
    ("opencode/1.18.33 ai-sdk/provider-utils", "opencode", "1.18.33"),
    ("OpenAI/Python 3.57.0", "openai-python", "3.57.0"),
    ("curl/8.5.0", "curl", "8.5.0"),
    ("", None, None),
]


@pytest.mark.parametrize(("agent_header", "agent", "version"), AGENTS, ids=[a[0][:12] for a in AGENTS])
def test_a_client_is_told_by_its_user_agent(agent_header, agent, version):
    found = identify(Head("POST", "/", 0, (("user-agent", agent_header),)))
    assert (found.agent, found.version) == (agent, version)


@pytest.mark.parametrize(
    ("agent_header", "started", "agent"),
    [
        ("OpenAI/Python 3.57.0", "aider", "aider"),
        ("OpenAI/Python 3.57.0", None, "openai-python"),
        ("codex_exec/0.171.0", "aider", "codex"),
        ("curl/8.5.0", "aider", "curl"),
    ],
)
def test_a_client_library_inside_run_speaks_for_the_program_that_was_started(agent_header, started, agent):
    said = identify(Head("POST", "/", 0, (("user-agent", agent_header),)))
    assert launched(said, started).agent == agent


def test_a_sub_agent_is_told_from_its_parent_in_one_session():
    """Claude Code names both in headers of its own; the main agent sends neither."""
    ids = (("x-claude-code-agent-id", "sub-1"), ("x-claude-code-parent-agent-id", "main-0"))
    main, sub = identify(Head("POST", "/", 0, CLAUDE)), identify(Head("POST", "/", 0, CLAUDE + ids))
    assert (main.agent_id, main.parent_agent_id) == (None, None)
    assert (sub.agent_id, sub.parent_agent_id) == ("sub-1", "main-0")
    assert main.session == sub.session == ("header:x-claude-code-session-id", "abc-1")
