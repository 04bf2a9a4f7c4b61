"""onlooker.yaml is read strictly: every mistake of a file is named with its place, and flags override it."""

from pathlib import Path

import pytest

from classifiers.strict_yaml import StrictYamlError
from proxy.config import build

WHOLE = """\
onlooker: 1
listen: 127.0.0.1:9790
state: state
workers: 2
routes: {local: "http://127.0.0.1:9000/"}
policies: [policy.yaml, "onlooker:starter"]
trust: required
trust_keys: [keys/policy.pub]
objectives: objectives
spool: {cap: 64MiB, overflow: true}
session: {idle: 10m}
retention: {max_age: 7d, max_bytes: 1GB}
sinks: [{stdout: {}}]
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "onlooker.yaml"
    path.write_text(text)
    return path


def test_a_whole_file_becomes_absolute_values(tmp_path):
    config = build(write(tmp_path, WHOLE))
    assert config.state == str(tmp_path / "state")
    assert config.policies == (str(tmp_path / "policy.yaml"), "onlooker:starter")
    assert (config.trust, config.trust_keys) == ("required", (str(tmp_path / "keys/policy.pub"),))
    assert (config.spool.cap_bytes, config.spool.overflow) == (64 << 20, True)
    assert (config.session_idle_s, config.retention.max_age_s, config.retention.max_bytes) == (600.0, 604800.0, 10**9)
    assert config.routes["local"] == {"url": "http://127.0.0.1:9000", "agui": False}
    assert config.routes["anthropic"]["url"].startswith("https://")


def test_flags_override_the_file_and_add_routes(tmp_path):
    config = build(
        write(tmp_path, WHOLE),
        {"listen": "127.0.0.1:1", "routes": {"/": {"url": "http://127.0.0.1:2", "agui": True}}, "workers": None},
    )
    assert (config.listen, config.workers) == ("127.0.0.1:1", 2)
    assert set(config.routes) >= {"/", "local", "openai"}


def test_without_a_file_the_defaults_are_on_loopback():
    config = build()
    assert (config.listen, config.control, config.file) == ("127.0.0.1:8790", "127.0.0.1:8791", None)


MISTAKES = [
    ("onlooker: 1\nlisten: 8790\n", ":2:9: listen: '8790' is not host:port, such as 127.0.0.1:8790"),
    ("onlooker: 1\npolicys: [a]\n", ":2:1: unknown key 'policys'; did you mean 'policies'?"),
    ("onlooker: 1\ntrust: always\n", ":2:8: trust: 'always'; expected required or optional"),
    ("onlooker: 2\n", ":1:11: onlooker: 2 is a version this onlooker does not read; expected 1"),
    ("listen: 127.0.0.1:1\n", "the first key says the version: 'onlooker: 1'"),
    ("onlooker: 1\nspool: {cap: lots}\n", ":2:14: cap: 'lots' is not a size"),
    ("onlooker: 1\nsession: {idle: 30}\n", "is not a duration"),
    ("onlooker: 1\nroutes: {o: 'http://a.example'}\n", "route name 'o'"),
    ("onlooker: 1\nroutes: {a: 'ftp://a.example'}\n", "is not an upstream"),
    ("onlooker: 1\nroutes: {a: 'https://u:p@a.example'}\n", "is not an upstream"),
    ("onlooker: 1\nroutes: {a: {url: 'https://a.example', key: k.pem}}\n", "a key without its cert"),
    ("onlooker: 1\nupstream_proxy: https://p.example\n", "a parent proxy is http://"),
    ("onlooker: 1\nupstream_proxy: 'http://u:p@p.example'\n", "belong in the environment's HTTPS_PROXY"),
    ("onlooker: 1\nworkers: 0\n", ":2:10: workers: 0 is not a number from 1 to 256"),
    ("onlooker: 1\nlisten: 127.0.0.1:1\nlisten: 127.0.0.1:2\n", "duplicate key 'listen'"),
    ("- a\n", ":1:1: expected a mapping"),
]


@pytest.mark.parametrize(("text", "said"), MISTAKES, ids=[m[1][:30] for m in MISTAKES])
def test_a_mistake_is_named_with_its_place(tmp_path, text, said):
    with pytest.raises(StrictYamlError) as caught:
        build(write(tmp_path, text))
    assert said in str(caught.value)


def test_every_mistake_of_a_file_comes_in_one_run(tmp_path):
    with pytest.raises(StrictYamlError) as caught:
        build(write(tmp_path, "onlooker: 1\nlisten: x\ncontrol: y\nwhat: 1\n"))
    assert len(caught.value.problems) == 3


def test_interception_is_of_the_https_hosts_unless_said_otherwise_and_none_is_none(tmp_path):
    file = tmp_path / "onlooker.yaml"
    for text, expected in (
        ("forward: {intercept: []}", ()),
        ("forward: {intercept: [API.Example, '*.models.example']}", ("api.example", "*.models.example")),
    ):
        file.write_text(f"onlooker: 1\n{text}\n")
        assert build(file).forward.intercept == expected
    assert "api.openai.com" in build(None, {"state": str(tmp_path)}).forward.intercept


def test_each_wrong_route_is_named_in_one_run(tmp_path):
    file = tmp_path / "o.yaml"
    file.write_text("onlooker: 1\nroutes: {a: 'ftp://x', b: 5, c: 'http://x'}\n")
    with pytest.raises(StrictYamlError) as raised:
        build(file)
    assert "route 'a': 'ftp://x' is not an upstream" in str(raised.value)
    assert "; route 'b': " in str(raised.value)
