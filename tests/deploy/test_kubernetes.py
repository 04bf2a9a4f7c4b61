"""The chart and the manifests, as the real helm and kustomize print them, against the schemas of Kubernetes and of onlooker."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from policies.objectives import read_text
from proxy.cli.serve import COMMAND as SERVE
from proxy.config import build

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
CHART = DEPLOY / "helm/onlooker"
OBJECTIVE = """\
objective: 1
id: tidy-notes
statement: Tidy the notes of the week.
declared_by: {kind: human, id: lead@acme.example, via: file, at: "2026-11-30T08:00:00Z"}
scope: {effects: [{domain: filesystem, action: [read, modify], target: ["/srv/notes/**"]}]}
"""
EVERYTHING = {
    "replicas": 3,
    "workers": 2,
    "routes": {"/": "http://app.shop:9000", "tools": {"url": "http://tools.shop:9001", "agui": False}},
    "policies": {"team.yaml": "policy: 1\n"},
    "objectives": {"tidy-notes.yaml": OBJECTIVE},
    "sinks": [{"stdout": {}}, {"otlp": {"endpoint": "http://collector:4318"}}],
    "extraConfig": {"session": {"idle": "10m"}, "privacy": {"identities": "clear"}},
    "image": {"pullSecrets": [{"name": "pull"}]},
    "metrics": {"onPodAddress": True, "scrapers": [{"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}]},
    "networkPolicy": {
        "clients": [{"podSelector": {"matchLabels": {"agent": "yes"}}}],
        "egress": [{"ports": [{"port": 9}]}],
    },
    "autoscaling": {"enabled": True},
    "persistence": {"storageClass": "fast"},
    "podAnnotations": {"team": "web"},
    "nodeSelector": {"disk": "ssd"},
    "tolerations": [{"operator": "Exists"}],
    "affinity": {"podAntiAffinity": {}},
}
CASES = {"defaults": {}, "everything": EVERYTHING, "no volume": {"persistence": {"enabled": False}, "starter": False}}


@pytest.fixture(scope="module")
def template(tool, tmp_path_factory):
    helm = tool("helm")

    def run(values):
        file = tmp_path_factory.mktemp("values") / "values.json"
        file.write_text(json.dumps(values))
        argv = [helm, "template", "onlooker", str(CHART), "--namespace", "onlooker", "-f", str(file)]
        return subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)

    return run


@pytest.fixture(scope="module")
def accepted(tool, tmp_path_factory):
    validate = tool("kubernetes-validate")

    def run(text):
        file = tmp_path_factory.mktemp("manifests") / "all.yaml"
        file.write_text(text)
        argv = [validate, "--strict", "-k", "1.33.0", str(file)]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
        return done.returncode == 0, done.stdout + done.stderr

    return run


def by_kind(text):
    found = {}
    for document in yaml.safe_load_all(text):
        if document:
            found.setdefault(document["kind"], []).append(document)
    return found


def test_helm_finds_nothing_wrong_with_the_chart(tool):
    done = subprocess.run(
        [tool("helm"), "lint", "--strict", str(CHART)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("values", CASES.values(), ids=CASES)
def test_kubernetes_accepts_what_the_chart_prints(template, accepted, values):
    done = template(values)
    assert done.returncode == 0, done.stderr
    ok, said = accepted(done.stdout)
    assert ok, said


def test_kubernetes_would_refuse_a_mistake(template, accepted):
    ok, said = accepted(template({}).stdout.replace("fsGroup:", "fsGroop:"))
    assert not ok, said


@pytest.mark.parametrize("values", CASES.values(), ids=CASES)
def test_onlooker_loads_the_configuration_the_chart_writes(template, tmp_path, values):
    maps = by_kind(template(values).stdout)["ConfigMap"]
    (text,) = (m["data"]["onlooker.yaml"] for m in maps if m["metadata"]["name"] == "onlooker-config")
    file = tmp_path / "onlooker.yaml"
    file.write_text(text)
    config = build(file, {"allow_remote": True})
    assert config.listen == "0.0.0.0:8790"
    assert config.state == "/var/lib/onlooker/state"
    assert [dict(s) for s in config.sinks] == values.get("sinks", [{"stdout": {}}])
    assert config.workers == values.get("workers", 1)
    assert set(values.get("routes", {})) <= set(config.routes)
    assert ("onlooker:starter" in config.policies) is values.get("starter", True)


@pytest.mark.parametrize("values", CASES.values(), ids=CASES)
def test_everything_a_pod_mounts_is_there_and_serve_has_its_flags(template, values):
    kinds = by_kind(template(values).stdout)
    maps = {m["metadata"]["name"] for m in kinds["ConfigMap"]}
    (stateful,) = kinds["StatefulSet"]
    pod = stateful["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    claims = {c["metadata"]["name"] for c in stateful["spec"].get("volumeClaimTemplates", [])}
    assert {m["name"] for m in container["volumeMounts"]} == {v["name"] for v in pod["volumes"]} | claims
    assert {v["configMap"]["name"] for v in pod["volumes"] if "configMap" in v} == maps
    flags = {flag for option in SERVE.params for flag in option.opts}
    assert {a for a in container["args"] if a.startswith("--")} <= flags


def test_the_memory_limit_holds_the_spool_too(template):
    (stateful,) = by_kind(template({}).stdout)["StatefulSet"]
    pod = stateful["spec"]["template"]["spec"]
    spool = next(v["emptyDir"]["sizeLimit"] for v in pod["volumes"] if v["name"] == "spool")
    assert spool == "320Mi"
    assert pod["containers"][0]["resources"]["limits"]["memory"] == "1Gi"


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"replica": 2}, "replica"),
        ({"workers": 0}, "workers"),
        ({"policies": {"../evil.yaml": "policy: 1"}}, "policies"),
        ({"extraConfig": {"listen": "0.0.0.0:1"}}, "extraConfig"),
        ({"sinks": [{"stdout": {}, "otlp": {}}]}, "sinks"),
        ({"image": {"pullPolicy": "Sometimes"}}, "pullPolicy"),
    ],
)
def test_a_wrong_value_is_refused_by_name(template, values, named):
    done = template(values)
    assert done.returncode != 0
    assert named in done.stderr


def test_the_gateway_without_helm_is_what_the_chart_prints(template):
    printed = template({}).stdout.replace("managed-by: Helm", "managed-by: kustomize")
    assert (DEPLOY / "kubernetes/gateway/gateway.yaml").read_text() == printed


def kustomized(tool, folder):
    kubectl = tool("kubectl")
    done = subprocess.run([kubectl, "kustomize", str(folder)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_kubernetes_accepts_the_gateway_of_kustomize(tool, accepted):
    text = kustomized(tool, DEPLOY / "kubernetes/gateway")
    ok, said = accepted(text)
    assert ok, said
    spaces = {
        d["metadata"].get("namespace") for kind, all_ in by_kind(text).items() for d in all_ if kind != "Namespace"
    }
    assert spaces == {"onlooker"}


AGENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: coder, labels: {onlooker.example/sidecar: "true"}}
spec:
  selector: {matchLabels: {app: coder}}
  template:
    metadata: {labels: {app: coder}, annotations: {onlooker.example/objective: OBJECTIVE}}
    spec: {containers: [{name: agent, image: "agent:1"}]}
"""


def test_the_sidecar_is_put_into_an_agents_pod_with_its_objective(tool, accepted, tmp_path):
    shutil.copytree(DEPLOY / "kubernetes/sidecar", tmp_path / "sidecar")
    (tmp_path / "agent.yaml").write_text(AGENT.replace("OBJECTIVE", json.dumps(OBJECTIVE)))
    (tmp_path / "kustomization.yaml").write_text("resources: [agent.yaml]\ncomponents: [sidecar]\n")
    text = kustomized(tool, tmp_path)
    ok, said = accepted(text)
    assert ok, said
    (deployment,) = by_kind(text)["Deployment"]
    pod = deployment["spec"]["template"]
    assert [c["name"] for c in pod["spec"]["containers"]] == ["agent"]
    (sidecar,) = pod["spec"]["initContainers"]
    assert (sidecar["name"], sidecar["restartPolicy"]) == ("onlooker", "Always")
    (item,) = next(v["downwardAPI"]["items"] for v in pod["spec"]["volumes"] if v["name"] == "onlooker-objective")
    key = re.fullmatch(r"metadata\.annotations\['(.+)'\]", item["fieldRef"]["fieldPath"])[1]
    objective, wrong = read_text(pod["metadata"]["annotations"][key], item["path"])
    assert (objective.id, wrong) == ("tidy-notes", [])


def test_the_sidecars_configuration_loads_and_listens_in_the_pod_only():
    config = build(DEPLOY / "kubernetes/sidecar/onlooker.yaml")
    assert (config.listen, config.control) == ("127.0.0.1:8790", "127.0.0.1:8791")
    assert config.objectives == ("/etc/onlooker/objectives",)
