"""What a record's one line says."""

from audit.summary import findings


def policy(*matches):
    return {
        "findings": [
            {"rule": rule, "severity": severity, "result": "match", "status": "stable", "effects": []}
            for rule, severity in matches
        ]
    }


def test_a_rule_two_policies_in_force_share_is_one_finding_at_its_worst():
    library = policy(("net.egress", "medium"), ("fs.delete", "high"))
    stricter = policy(("fs.delete", "high"), ("net.egress", "critical"))
    found = findings({"kind": "action", "policy": [library, stricter]})
    assert [(f["rule"], f["severity"]) for f in found] == [("net.egress", "critical"), ("fs.delete", "high")]
