"""``onlooker ca``: what it prints, what it leaves on disk, and how it says what is wrong."""

import json

import pytest
from click.testing import CliRunner

from proxy.cli.ca import COMMAND, STORES


@pytest.fixture
def ca(tmp_path):
    def call(*arguments, code=0):
        given = [arguments[0], "--state", str(tmp_path / "state"), *arguments[1:]]
        result = CliRunner().invoke(COMMAND, given)
        assert result.exit_code == code, result.output
        return result.output

    return call


def test_create_show_rotate_delete(ca, tmp_path):
    assert "for 1 hosts, until " in ca("create", "--intercept", "api.example")
    first = json.loads(ca("show", "--json"))
    assert first["usable"]
    assert "api.example" in first["hosts"]
    assert 88 <= first["days_left"] <= 90
    assert "a running onlooker signs with the old one until it is restarted" in ca(
        "rotate", "--intercept", "api.example"
    )
    second = json.loads(ca("show", "--json"))
    assert [r["fingerprint"] for r in second["retired"]] == [first["fingerprint"]]
    assert ca("show", "--pem").startswith("-----BEGIN CERTIFICATE-----")
    assert "ca.key: removed" in ca("delete")
    assert not (tmp_path / "state" / "ca").exists()


def test_the_hosts_are_those_of_the_routes_when_nobody_names_any(ca):
    ca("create")
    assert {"api.anthropic.com", "api.openai.com"} <= set(json.loads(ca("show", "--json"))["hosts"])


@pytest.mark.parametrize("command", ["show", "trust", "rotate", "delete"])
def test_without_an_authority_each_says_so_in_one_sentence(ca, command):
    said = ca(command, code=3)
    assert said.count("\n") == 1
    assert "no local authority" in said


def test_creating_twice_is_refused(ca):
    ca("create")
    assert "is there already; onlooker ca rotate replaces it" in ca("create", code=3)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--days", "91"), "expected 1 to 90"),
        (("--intercept", "*.com"), "list too much"),
        (("--intercept", "https://a.example"), "is no host to intercept"),
    ],
)
def test_a_wrong_flag_is_exit_2(ca, flags, said):
    assert said in ca("create", *flags, code=2)


def test_trust_prints_variables_and_changes_no_store(ca, tmp_path):
    ca("create")
    said = ca("trust")
    assert f"export SSL_CERT_FILE={tmp_path}/state/ca/bundle.pem" in said
    assert f"export NODE_EXTRA_CA_CERTS={tmp_path}/state/ca/added.pem" in said


@pytest.mark.parametrize("store", STORES)
def test_trust_prints_what_a_store_needs(ca, store):
    ca("create")
    assert "state/ca/ca.pem" in ca("trust", "--system", store)


def test_trust_exports_the_certificate(ca, tmp_path):
    ca("create")
    ca("trust", "--export", str(tmp_path / "out.pem"))
    assert (tmp_path / "out.pem").read_text() == ca("show", "--pem")
    assert "No such file" in ca("trust", "--export", str(tmp_path / "no" / "out.pem"), code=3)


def test_apply_without_a_store_is_refused(ca):
    ca("create")
    assert "--apply needs --system" in ca("trust", "--apply", code=2)


def test_a_damaged_key_is_said_and_show_exits_3(ca, tmp_path):
    ca("create")
    (tmp_path / "state" / "ca" / "ca.key").chmod(0o644)
    assert "others may read the key" in ca("show", code=3)


def programs(folder, **scripts):
    """A PATH of stand-ins for a store's own programs; each appends how it was called to ``called``."""
    folder.mkdir()
    for name, code in scripts.items():
        (folder / name).write_text(f'#!/bin/sh\necho "{name} $*" >> {folder}/called\nexit {code}\n')
        (folder / name).chmod(0o755)
    return {"PATH": str(folder)}


def test_apply_runs_the_commands_of_a_store_in_order(ca, tmp_path):
    ca("create")
    given = programs(tmp_path / "bin", trust=0)
    result = CliRunner().invoke(
        COMMAND, ["trust", "--state", str(tmp_path / "state"), "--system", "arch", "--apply"], env=given
    )
    assert result.exit_code == 0, result.output
    assert (tmp_path / "bin" / "called").read_text() == f"trust anchor {tmp_path}/state/ca/ca.pem\n"


def test_apply_stops_at_the_first_command_that_fails_and_says_which(ca, tmp_path):
    ca("create")
    given = programs(tmp_path / "bin", **{"cp": 1, "update-ca-certificates": 0})
    result = CliRunner().invoke(
        COMMAND, ["trust", "--state", str(tmp_path / "state"), "--system", "debian", "--apply"], env=given
    )
    assert result.exit_code == 4
    assert "ended with 1" in result.output
    assert "update-ca-certificates" not in (tmp_path / "bin" / "called").read_text()


def test_apply_says_which_program_is_not_here(ca, tmp_path):
    ca("create")
    given = programs(tmp_path / "bin")
    result = CliRunner().invoke(
        COMMAND, ["trust", "--state", str(tmp_path / "state"), "--system", "nss", "--apply"], env=given
    )
    assert result.exit_code == 4
    assert "certutil: No such file or directory" in result.output
