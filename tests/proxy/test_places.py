"""Records name files, not folders; the configuration leads back to them."""

import json

from policies import vocab
from proxy.places import Places, file_of, named
from proxy.settings import Config, SpoolSettings

SHIPPED = vocab.__file__.rpartition("/")[0]


def test_what_stands_for_a_file_loses_its_folder_and_nothing_else_changes():
    record = {
        "kind": "action",
        "call": {"arguments": {"file": "/srv/acme/policy.yaml"}, "at": "/srv/acme/p.yaml"},
        "classification": {"effects": [{"target": "/srv/acme/policy.yaml"}]},
        "objective": {"hash": "sha256:aa", "trail": [{"at": "/home/ana/my work/objective.yaml:9:7", "note": "/srv/x"}]},
        "policy": [
            {
                "hash": "sha256:bb",
                "error": "/srv/acme/policy.yaml:3:1: unknown key; see /srv/acme/more.yml",
                "findings": [{"at": "/srv/acme/policy.yaml:21:5", "message": "delete /srv/acme/policy.yaml"}],
            },
            {"findings": [{"at": "onlooker:rules/fs.x.yaml:2:5"}], "error": None},
        ],
        "policies": [{"files": ["/srv/acme/policy.yaml", f"{SHIPPED}/rules/fs.x.yaml"]}],
        "summary": {"scope_used": ["/srv/acme/objective.yaml:9:7"], "scope_unused": []},
    }
    out = named(record)
    assert (out["call"], out["classification"]) == (record["call"], record["classification"])
    assert out["objective"] == {"hash": "sha256:aa", "trail": [{"at": "objective.yaml:9:7", "note": "/srv/x"}]}
    assert out["policy"][0]["error"] == "policy.yaml:3:1: unknown key; see more.yml"
    assert out["policy"][0]["findings"] == [{"at": "policy.yaml:21:5", "message": "delete /srv/acme/policy.yaml"}]
    assert out["policy"][1] == record["policy"][1]
    assert out["policies"] == [{"files": ["policy.yaml", "onlooker:rules/fs.x.yaml"]}]
    assert out["summary"]["scope_used"] == ["objective.yaml:9:7"]


def test_the_way_back_is_the_configuration_and_an_ambiguous_name_leads_nowhere(tmp_path):
    for name in ("a/one.yaml", "a/same.yaml", "b/same.yaml", "b/deep/two.yml", "state/objectives/api.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x: 1\n")
    config = Config(
        state=str(tmp_path / "state"),
        spool=SpoolSettings(str(tmp_path / "spool")),
        policies=("onlooker:starter", str(tmp_path / "a/one.yaml"), str(tmp_path / "a/same.yaml")),
        objectives=(str(tmp_path / "b"), str(tmp_path / "gone.yaml")),
    )
    places = Places(config)
    assert file_of("one.yaml", places) == tmp_path / "a/one.yaml"
    assert file_of("two.yml", places) == tmp_path / "b/deep/two.yml"
    assert file_of("api.yaml", places) == tmp_path / "state/objectives/api.yaml"
    assert file_of("same.yaml", places) is None
    assert file_of("gone.yaml", places) is None
    assert file_of(str(tmp_path / "a/same.yaml"), None) == tmp_path / "a/same.yaml"
    assert file_of("onlooker:rules/fs.delete-recursive-root.yaml", None) is not None
    (tmp_path / "secret.txt").write_text("s")
    assert file_of(str(tmp_path / "secret.txt"), places) is None


def test_a_state_knows_the_configuration_it_last_ran_with(tmp_path):
    assert Places.of_state(tmp_path) is None
    (tmp_path / "config.json").write_text(Config(str(tmp_path), SpoolSettings(str(tmp_path))).to_json())
    assert Places.of_state(tmp_path) is not None
    (tmp_path / "config.json").write_text(json.dumps({"no": "such"}))
    assert Places.of_state(tmp_path) is None
