"""A running instance whose signed bundle is touched: the last good policy judges on, and every place says so."""

from __future__ import annotations

import http.client
import json

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from policies.bundle import sign

from .instance import of_kind, records_until, serving, wait_for


def get(address, path):
    host, _, port = address.rpartition(":")
    link = http.client.HTTPConnection(host, int(port), timeout=120)
    link.request("GET", path)
    said = link.getresponse().read()
    link.close()
    return said


def test_a_bundle_that_is_touched_while_it_is_in_force_is_refused_out_loud(tmp_path):
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    (tmp_path / "key.pem").write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    rules = tmp_path / "rules"
    rules.mkdir()
    text = "policy: 1\nid: acme\nextends: [onlooker:starter]\nrules: []\n"
    (rules / "acme.yaml").write_text(text)
    sign(rules, "acme.rules", 1, key)
    config = tmp_path / "onlooker.yaml"
    config.write_text("onlooker: 1\nstate: state\ntrust: required\ntrust_keys: [key.pem]\npolicies: [rules]\n")
    with serving(tmp_path / "state", "--config", str(config)) as up:
        (loaded,) = of_kind(records_until(tmp_path / "state", lambda r: of_kind(r, "policy_loaded")), "policy_loaded")
        assert loaded["policies"][0]["bundle"]["revision"] == 1
        active = loaded["policies"][0]["hash"]
        (rules / "acme.yaml").write_text(text + "# all is allowed\n")
        found = records_until(tmp_path / "state", lambda r: of_kind(r, "policy_reload_failed"))
        (refused,) = of_kind(found, "policy_reload_failed")
        assert refused["reload"]["active_hash"] == active
        assert "'acme.yaml' is not what the manifest says" in refused["reload"]["errors"][0]
        wait_for(lambda: "policy acme: disk differs" in json.loads(get(up["control"], "/readyz"))["degraded"])
        assert b'onlooker_policy_disk_matches_active{policy="acme"} 0' in get(up["control"], "/metrics")
        (rules / "acme.yaml").write_text(text)
        records_until(tmp_path / "state", lambda r: len(of_kind(r, "policy_loaded")) == 2)
