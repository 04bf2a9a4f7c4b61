"""Commands say what is wrong in one sentence, with the exit code scripts rely on."""

import json

import click
import pytest
from click.testing import CliRunner

from proxy.cli import Folder, cli
from proxy.config import build
from proxy.folders import private_directory
from proxy.instance import supervisor_config


def onlooker(*args, **env):
    return CliRunner(env=env).invoke(cli, list(args))


SAID = [
    (["status"], 4, "nothing runs with the state"),
    (["stop"], 4, "nothing runs with the state"),
    (["env"], 4, "start it with onlooker serve"),
    (["explain", "x:1"], 3, "no record x:1"),
    (["serve", "--listen", "0.0.0.0:0"], 2, "--allow-non-loopback says you mean it"),
    (["serve", "--listen", "8790"], 2, "is not host:port"),
    (["serve", "--route", "x"], 2, "expected NAME=URL"),
    (["serve", "--route", "o=http://a.example"], 2, "route name 'o'"),
    (["serve", "--config", "/nowhere/onlooker.yaml"], 3, "/nowhere/onlooker.yaml: No such file or directory"),
    (["scan", "--since", "soon"], 2, "is not a duration"),
    (["scan", "--policy", "/nowhere/p.yaml"], 3, "/nowhere/p.yaml:1:1: cannot be read: No such file"),
    (["run", "--objective", "/nowhere/o.yaml", "--", "true"], 3, "/nowhere/o.yaml:1:1: cannot be read: No such file"),
    (
        ["import", "har", "--policy", "/nowhere/p.yaml", __file__],
        3,
        "/nowhere/p.yaml:1:1: cannot be read: No such file",
    ),
]


@pytest.mark.parametrize(("args", "code", "said"), SAID, ids=[" ".join(s[0])[:40] for s in SAID])
def test_a_mistake_is_one_sentence_and_its_code(tmp_path, args, code, said):
    result = onlooker(*args, "--state", str(tmp_path / "s"))
    assert (result.exit_code, said in result.output) == (code, True), result.output
    assert "Traceback" not in result.output


def test_a_wrong_file_is_named_with_its_place(tmp_path):
    path = tmp_path / "onlooker.yaml"
    path.write_text("onlooker: 1\nlissen: x\n")
    result = onlooker("serve", "--config", str(path))
    assert result.exit_code == 3
    assert f"{path}:2:1: unknown key 'lissen'; did you mean 'listen'?" in result.output


def test_a_file_that_is_no_text_is_said_so(tmp_path):
    path = tmp_path / "onlooker.yaml"
    path.write_bytes(b"onlooker: 1\n# \xff\n")
    result = onlooker("serve", "--config", str(path))
    assert (result.exit_code, result.output) == (
        3,
        f"onlooker: {path}:1:1: not UTF-8 at byte 14; expected UTF-8 text\n",
    )


@pytest.mark.parametrize("command", [("scan", "--home"), ("import", "claude-transcript")])
def test_a_review_leaves_a_state_an_instance_can_use(tmp_path, command):
    (tmp_path / "t.jsonl").write_text("")
    state = tmp_path / "a" / "state"
    onlooker(*command, str(tmp_path if command[0] == "scan" else tmp_path / "t.jsonl"), "--state", str(state))
    assert private_directory(state) == state


def test_the_state_of_a_run_is_one_an_instance_can_use(tmp_path):
    state = tmp_path / "state"
    supervisor_config(build(None, {"state": str(state / "runs" / "one"), "spool": {}}))
    assert private_directory(state) == state


@pytest.mark.parametrize(
    "args",
    [["import", "har", "--state", "{full}", "{here}"], ["init", "{full}/x.yaml"], ["scan", "--state", "{full}"]],
)
def test_a_place_nothing_can_be_written_to_is_one_sentence(tmp_path, args):
    file = tmp_path / "file"
    file.write_text("{}")
    full = file / "in" / "it"  # nothing can be made below a file
    done = CliRunner().invoke(cli, [a.format(full=full, here=__file__) for a in args])
    assert done.exit_code == 3
    assert done.stderr.startswith(f"onlooker: {file}")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(28, "No space left on device"), "No space left on device"),
        (OSError(13, "Permission denied", "/x/y"), "/x/y: Permission denied"),
        (PermissionError("/x: open to others"), "/x: open to others"),
        (TimeoutError(), "TimeoutError"),
    ],
)
def test_what_the_system_refuses_a_command_is_one_sentence(error, said):
    @click.command()
    def refused():
        raise error

    group = Folder("onlooker")
    group.get_command = lambda *_: refused
    done = CliRunner().invoke(group, ["x"])
    assert (done.exit_code, done.stderr) == (3, f"onlooker: {said}\n")


def test_ctrl_c_is_130_as_a_shell_says_it(tmp_path):
    @click.command()
    def interrupted():
        raise KeyboardInterrupt

    group = Folder("onlooker")
    group.get_command = lambda *_: interrupted
    assert CliRunner().invoke(group, ["x"]).exit_code == 130


def test_doctor_names_what_is_bad_and_what_is_not(tmp_path):
    policy = tmp_path / "p.yaml"
    policy.write_text("policy: 1\nid: p\nrules: [{id: x, sevirity: low}]\n")
    state = tmp_path / "s"
    state.mkdir(mode=0o755)
    result = onlooker(
        "doctor",
        "--json",
        "--offline",
        "--listen",
        "127.0.0.1:0",
        "--control",
        "127.0.0.1:0",
        "--policy",
        str(policy),
        "--state",
        str(state),
        PATH="",
    )
    checks = {c["name"]: c for c in json.loads(result.stdout)["checks"]}
    assert result.exit_code == 1
    assert (checks["state"]["state"], checks["policy"]["state"], checks["listen"]["state"]) == ("bad", "bad", "ok")
    assert f"{policy}:3:" in checks["policy"]["said"]


def test_doctor_knows_a_sink_that_would_not_open(tmp_path):
    config = tmp_path / "onlooker.yaml"
    config.write_text(
        "onlooker: 1\nlisten: 127.0.0.1:0\ncontrol: 127.0.0.1:0\n"
        "sinks: [{pigeon: {}}, {webhook: {uri: x}}, {stdout: {style: json}}]\n"
    )
    result = onlooker("doctor", "--json", "--offline", "--config", str(config), "--state", str(tmp_path / "s"), PATH="")
    found = [c for c in json.loads(result.stdout)["checks"] if c["name"] == "sink"]
    assert [c["state"] for c in found] == ["bad", "bad", "ok"]
    assert found[0]["said"].startswith("unknown sink 'pigeon'; expected clickhouse, ")
    assert found[1]["said"].startswith("sink webhook: unknown option 'uri'; expected url, ")


def test_doctor_finds_an_agent_on_the_path(tmp_path):
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    result = onlooker(
        "doctor",
        "--offline",
        "--listen",
        "127.0.0.1:0",
        "--control",
        "127.0.0.1:0",
        "--state",
        str(tmp_path / "s"),
        PATH=str(tmp_path),
    )
    assert "claude-code" in result.output
    assert "onlooker run -- claude" in result.output


def test_an_upstream_that_does_not_answer_is_named(tmp_path):
    result = onlooker(
        "doctor",
        "--listen",
        "127.0.0.1:0",
        "--control",
        "127.0.0.1:0",
        "--route",
        "mine=http://127.0.0.1:1",
        "--state",
        str(tmp_path / "s"),
    )
    assert "BAD  route mine: http://127.0.0.1:1: Connection refused" in result.output


def _options(command, context, path):
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            yield " ".join((*path, parameter.opts[-1])), parameter.help
    if isinstance(command, click.Group):
        yield from ((" ".join((*path, name)), sub.help) for name, sub in _below(command, context))
        for name, sub in _below(command, context):
            yield from _options(sub, click.Context(sub, parent=context), (*path, name))


def _below(group, context):
    return [(name, group.get_command(context, name)) for name in group.list_commands(context)]


def test_every_command_and_option_says_what_it_is_for():
    told = list(_options(cli, click.Context(cli), ()))
    assert len(told) > 150
    assert [name for name, text in told if not text] == []
