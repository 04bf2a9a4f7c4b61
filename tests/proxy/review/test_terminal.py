"""The review in a terminal and in a pipe: worst first, filtered, explained, marked in the log."""

import asyncio

import pytest
from click.testing import CliRunner

from audit.read import records
from proxy.cli.review import COMMAND, mark


def command(*arguments):
    return CliRunner().invoke(COMMAND, [str(a) for a in arguments])


def test_a_pipe_gets_lines_worst_first(written):
    done = command("--state", written.state)
    first = done.stdout.splitlines()[0].split("\t")
    assert done.exit_code == 0
    assert (first[0], first[-1]) == ("critical", written.ids["delete"])
    only = command("--state", written.state, "ask=left").stdout
    assert written.ids["send"] in only
    assert written.ids["delete"] not in only


WRONG = [
    (["severity"], 2, "NAME=VALUE"),
    (["severity=hihg"], 2, "severity=hihg: expected info, low, medium, high, critical"),
    (["tools=Bash"], 2, "tools=Bash: no such filter; expected q, severity,"),
    (["since=yesterday"], 2, "since=yesterday: expected a time in UTC"),
    (["order=newest", "since=2026", "ask=left", "tool=Bash"], 3, "no audit log is here"),
    ([], 3, "no audit log is here"),
]


@pytest.mark.parametrize(("arguments", "code", "said"), WRONG)
def test_what_cannot_be_meant_is_said_in_one_sentence(tmp_path, arguments, code, said):
    done = command("--state", tmp_path / "nowhere", *arguments)
    assert (done.exit_code, said in done.output) == (code, True)


def test_without_an_analyzer_a_mark_is_appended_by_the_command_itself(written):
    index = written.index()
    assert mark(written.config, index, written.ids["delete"], "benign", "drill") == "in the log"
    (said,) = records(written.state, kinds=["disposition"])
    assert (said["action"], said["disposition"]["state"]) == (written.ids["delete"], "benign")


def test_while_somebody_else_writes_the_log_nothing_is_forced(written):
    import audit_build

    with audit_build.open_log(written.state):
        assert "not written" in mark(written.config, written.index(), written.ids["delete"], "benign", "drill")


def test_keys_walk_from_the_list_to_a_mark(written):
    pytest.importorskip("textual")
    from proxy.review.terminal import Explained, ReviewApp

    marked = []
    index = written.index()
    app = ReviewApp(index, lambda *said: marked.append(said) or "done")

    async def walk():
        async with app.run_test(size=(140, 40)) as pilot:
            await pilot.pause()
            assert app.table.row_count == 4
            await pilot.press("2")
            assert app.table.row_count == 1
            await pilot.press("0", "/")
            await pilot.press(*"cache severity=high".replace(" ", "_").replace("_", " "), "enter")
            await pilot.pause()
            assert app.table.row_count == 1
            await pilot.press("enter")
            await pilot.pause()
            assert isinstance(app.screen, Explained)
            await pilot.press("b")
            await pilot.pause()
            await pilot.press(*"drill", "enter")
            await pilot.pause()

    asyncio.run(walk())
    assert marked == [(written.ids["delete"], "benign", "drill")]
