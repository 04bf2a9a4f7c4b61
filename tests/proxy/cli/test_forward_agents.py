"""Clients that must be fetched or compiled first, through a forward proxy: undici, axios, Go, Java (make test-agents)."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from proxy.ca import authority
from proxy.instance import read_records

from . import forward_clients
from .forward_clients import ASK, CALL, Model, client_environment, recorded
from .instance import serving

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]
PACKAGES = {"undici": "7", "axios": "1", "https-proxy-agent": "7"}


@pytest.fixture(scope="module")
def asking(tmp_path_factory):
    """(ready, state, url, body, environment) of an instance before an https model."""
    folder = tmp_path_factory.mktemp("forward")
    one, state, body = Model(folder), folder / "state", folder / "body.json"
    authority.create(state / "ca", ["localhost"])
    body.write_text(json.dumps(ASK))
    flags = ("--forward", "127.0.0.1:0", "--intercept", "localhost", "--upstream-ca", str(one.ca))
    with serving(state, *flags) as ready:
        yield ready, state, f"https://localhost:{one.port}/v1/messages", str(body), client_environment(ready, state)
    one.sock.close()


def answered(asking, command, **more):
    """The command gets the model's answer, and what it was is recorded: read, not tunnelled."""
    _, state, _, _, environment = asking
    before = len([r for r in read_records(state) if r["kind"] == "action"])
    done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True, timeout=240, **more)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == CALL
    assert recorded(state, "action", before + 1)[-1]["call"]["name"] == "bash"
    assert not [r for r in read_records(state) if r["kind"] in {"opaque_flow", "unread", "gap"}]


@pytest.fixture(scope="module")
def modules(pytestconfig):
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = Path(pytestconfig.cache.mkdir("npm-forward"))
    (folder / "package.json").write_text(json.dumps({"private": True, "type": "module", "dependencies": PACKAGES}))
    argv = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"]
    done = subprocess.run(argv, cwd=folder, capture_output=True, timeout=240, check=False)
    if done.returncode:
        pytest.skip("npm could not install the packages")
    return folder


@pytest.mark.parametrize(
    ("script", "how"), [("UNDICI", "theirs"), ("UNDICI", "built-in"), ("AXIOS", "environment"), ("AXIOS", "agent")]
)
def test_node_libraries(asking, modules, script, how):
    _, _, url, body, _ = asking
    file = modules / f"{script.lower()}.js"
    file.write_text(getattr(forward_clients, script))
    answered(asking, ["node", str(file), url, body, how])


def test_go(asking, tmp_path):
    if shutil.which("go") is None:
        pytest.skip("go is not installed")
    _, _, url, body, environment = asking
    (tmp_path / "ask.go").write_text(forward_clients.GO)
    build = ["go", "build", "-o", str(tmp_path / "ask"), str(tmp_path / "ask.go")]
    cache = {"GOCACHE": str(tmp_path / "cache"), "GO111MODULE": "off"}
    subprocess.run(build, check=True, env={**environment, **cache}, cwd=tmp_path, timeout=240)
    answered(asking, [str(tmp_path / "ask"), url, body])


def test_java(asking, tmp_path):
    if shutil.which("javac") is None or shutil.which("keytool") is None:
        pytest.skip("no JDK is installed")
    ready, state, url, body, _ = asking
    (tmp_path / "Ask.java").write_text(forward_clients.JAVA)
    store = tmp_path / "trust.p12"
    put = ["keytool", "-importcert", "-noprompt", "-alias", "onlooker", "-file", str(state / "ca" / "ca.pem")]
    subprocess.run(
        [*put, "-keystore", str(store), "-storepass", "changeit"], check=True, capture_output=True, timeout=60
    )
    host, port = ready["forward"].rsplit(":", 1)
    trust = [f"-Djavax.net.ssl.trustStore={store}", "-Djavax.net.ssl.trustStorePassword=changeit"]
    answered(asking, ["java", *trust, str(tmp_path / "Ask.java"), url, body, host, port])


def test_boto3_signs_and_what_arrives_is_what_was_signed(tmp_path):
    """SigV4 covers Host and path: the upstream computes the signature of what it got, and it is the one that came."""
    auth = pytest.importorskip("botocore.auth")
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    one, state, body = Model(tmp_path), tmp_path / "state", tmp_path / "body.json"
    authority.create(state / "ca", ["localhost"])
    body.write_text(
        json.dumps({k: v for k, v in ASK.items() if k != "model"} | {"anthropic_version": "bedrock-2023-05-31"})
    )
    flags = ("--forward", "127.0.0.1:0", "--intercept", "localhost", "--upstream-ca", str(one.ca))
    with serving(state, *flags) as ready:
        command = [sys.executable, "-c", forward_clients.BOTO3, f"https://localhost:{one.port}", str(body)]
        environment = client_environment(ready, state)
        done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout) == CALL
        (action,) = recorded(state, "action")
    assert action["call"]["name"] == "bash"
    ((head, sent),) = one.seen
    line, *fields = head.decode().split("\r\n")
    headers = {k.lower(): v.strip() for k, v in (f.split(":", 1) for f in fields)}
    signed = headers["authorization"].partition("SignedHeaders=")[2].partition(",")[0].split(";")
    assert "host" in signed
    again = AWSRequest("POST", f"https://{headers['host']}{line.split(' ')[1]}", {n: headers[n] for n in signed}, sent)
    again.context["timestamp"] = headers["x-amz-date"]
    signer = auth.SigV4Auth(Credentials("AKIDEXAMPLE", "not-a-secret"), "bedrock", "us-east-1")
    text = signer.string_to_sign(again, signer.canonical_request(again))
    assert headers["authorization"].endswith("Signature=" + signer.signature(text, again))
    one.sock.close()
