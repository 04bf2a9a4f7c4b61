"""Where relative paths stand: the strongest source decides, and a prompt that repeats itself undoes no cd."""

from proxy.sessions.cwd import Cwd, stated_in_prompt


def test_a_stronger_source_replaces_a_weaker_one_and_not_the_other_way_round():
    cwd = Cwd()
    cwd.state("/home/dev", "config")
    cwd.state("/home/dev/shop", "launcher")
    cwd.state("/srv", "prompt")
    assert (cwd.value, cwd.source) == ("/home/dev/shop", "launcher")


def test_a_prompt_saying_the_same_again_does_not_undo_a_cd():
    cwd = Cwd()
    cwd.state("/home/dev/shop", "prompt")
    assert cwd.moved("/home/dev/shop/api")
    assert not cwd.state("/home/dev/shop", "prompt")
    assert (cwd.value, cwd.source) == ("/home/dev/shop/api", "cd")


def test_what_is_no_path_states_nothing():
    cwd = Cwd()
    assert not cwd.state("relative/dir", "hook")
    assert not cwd.state(None, "hook")
    assert cwd.value is None


def test_an_environment_block_in_the_system_text_names_the_directory():
    request = {
        "system": [{"type": "text", "text": "x\n<env>\nWorking directory: /home/dev/shop\nPlatform: linux\n</env>"}]
    }
    assert stated_in_prompt("claude-code", request) == "/home/dev/shop"


def test_codex_says_it_in_a_first_message():
    text = "<environment_context>\n  <cwd>/home/dev/api</cwd>\n</environment_context>"
    request = {"input": [{"role": "user", "content": [{"type": "input_text", "text": text}]}]}
    assert stated_in_prompt("codex", request) == "/home/dev/api"


def test_an_agent_without_a_known_block_states_nothing():
    assert stated_in_prompt(None, {"system": "Working directory: /x\n"}) is None
    assert stated_in_prompt("claude-code", ["not", "a", "request"]) is None
