"""The configuration survives the trip to a child process."""

import pytest

from proxy.settings import Config, Launch, Privacy, Retention, SpoolSettings, host_port, spool_dir_for


def test_a_configuration_is_the_same_after_json():
    config = Config(
        state="/tmp/s",
        spool=SpoolSettings("/dev/shm/x", 1 << 20, overflow=True),
        routes={"/": {"url": "http://127.0.0.1:9000", "agui": True}},
        policies=("a.yaml",),
        privacy=Privacy("clear", ({"mode": "none"},)),
        retention=Retention(1.0, 2),
        sinks=({"stdout": {}},),
        launch=Launch("/w", "s", "codex", {"n": "obj"}),
    )
    assert Config.from_json(config.to_json()) == config


@pytest.mark.parametrize("address", ["8790", "host:", "host:70000", "host:x"])
def test_an_address_without_a_port_is_refused(address):
    with pytest.raises(ValueError, match="host:port"):
        host_port(address)


def test_an_ipv6_address_loses_its_brackets():
    assert host_port("[::1]:80") == ("::1", 80)


def test_without_a_memory_backed_parent_the_spool_is_below_the_state(tmp_path):
    assert spool_dir_for(str(tmp_path), str(tmp_path / "absent")) == (f"{tmp_path}/spool", False)
