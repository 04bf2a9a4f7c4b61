"""Everything under deploy/ that can be checked without a container engine is checked."""

import re
import subprocess
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"


def run(*argv: str, cwd: Path = DEPLOY) -> str:
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_alert_rules_hold_their_unit_tests(tool):
    run(tool("promtool"), "test", "rules", "onlooker.rules.test.yml", cwd=DEPLOY / "prometheus")


def test_prometheus_accepts_the_scrape_config(tool):
    run(tool("promtool"), "check", "config", "prometheus.yml", cwd=DEPLOY / "prometheus")


def test_every_alert_has_a_unit_test_in_which_it_fires():
    rules = yaml.safe_load((DEPLOY / "prometheus/onlooker.rules.yml").read_text())
    tests = yaml.safe_load((DEPLOY / "prometheus/onlooker.rules.test.yml").read_text())
    fired = {t["alertname"] for part in tests["tests"] for t in part["alert_rule_test"] if t["exp_alerts"]}
    assert {r["alert"] for group in rules["groups"] for r in group["rules"]} == fired


def test_alertmanager_accepts_its_config(tool):
    run(tool("amtool"), "check-config", "alertmanager/alertmanager.yml")


def test_every_metric_an_alert_names_is_documented():
    documented = set(re.findall(r"`(onlooker_[a-z_]+)`", (ROOT / "docs/metrics.md").read_text()))
    used = set(re.findall(r"onlooker_[a-z_]+", (DEPLOY / "prometheus/onlooker.rules.yml").read_text()))
    assert used
    assert used <= documented, used - documented


def test_every_alert_has_a_runbook_entry():
    headings = {
        h.strip().lower() for h in re.findall(r"^#+ (.+)$", (ROOT / "docs/runbook.md").read_text(), re.MULTILINE)
    }
    links = re.findall(r"runbook: docs/runbook.md#(\w+)", (DEPLOY / "prometheus/onlooker.rules.yml").read_text())
    assert links
    assert {link for link in links if link not in headings} == set()


def test_compose_mounts_only_files_that_exist():
    compose = yaml.safe_load((DEPLOY / "compose/compose.yaml").read_text())
    mounts = [v for s in compose["services"].values() for v in s.get("volumes", []) if v.startswith(".")]
    assert mounts
    missing = [m for m in mounts if not (DEPLOY / "compose" / m.split(":")[0]).exists()]
    assert missing == []


def test_the_dockerfile_copies_only_what_exists():
    copied = re.findall(r"^COPY (?!--)(.+) \S+$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    assert copied
    assert [p for line in copied for p in line.split() if not (ROOT / p).exists()] == []


def test_the_collector_pipelines_name_defined_parts():
    conf = yaml.safe_load((DEPLOY / "collector/otelcol.yaml").read_text())
    for pipeline in conf["service"]["pipelines"].values():
        for kind, names in pipeline.items():
            assert set(names) <= set(conf[kind])


def test_systemd_accepts_the_unit(tool, tmp_path):
    analyze = tool("systemd-analyze")
    unit = (DEPLOY / "systemd/onlooker.service").read_text().replace("/opt/onlooker/bin/onlooker", "/bin/true")
    path = tmp_path / "onlooker.service"
    path.write_text(unit)
    run(analyze, "verify", "--man=no", str(path))


def test_hadolint_finds_nothing_wrong_with_the_dockerfile(tool):
    run(tool("hadolint"), "Dockerfile")


def test_yamllint_finds_nothing_wrong(tool):
    rules = "{extends: default, rules: {line-length: {max: 200}, document-start: disable, braces: disable, brackets: disable, comments: disable, indentation: {indent-sequences: whatever}, commas: disable, key-ordering: disable, truthy: {check-keys: false}}}"
    files = [str(p) for p in sorted(DEPLOY.rglob("*.y*ml")) if "templates" not in p.parts]
    assert files
    run(tool("yamllint"), "--strict", "-d", rules, *files)
