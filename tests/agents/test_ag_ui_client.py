"""@ag-ui/client 1.0.0 and an application of its own kind, with onlooker in between; and a browser on another origin."""

from __future__ import annotations

import contextlib
import functools
import http.client
import http.server
import json
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from tests.ports import free_port
from tests.proxy.cli.instance import of_kind, records_until, serving, wait_for

pytestmark = pytest.mark.agents
HERE = Path(__file__).resolve().parent


@contextlib.contextmanager
def application(folder):
    """The AG-UI application's port, while it runs."""
    script = folder / "ag_ui_server.mjs"
    shutil.copy(HERE / script.name, script)
    port = free_port()
    with subprocess.Popen(["node", str(script), str(port)], cwd=folder) as process:
        try:
            wait_for(lambda: _answers(port))
            yield port
        finally:
            process.terminate()


def _answers(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    with contextlib.closing(connection), contextlib.suppress(OSError):
        connection.request("OPTIONS", "/agui")
        return connection.getresponse().status == 204
    return False


def drive(folder, url, *words):
    script = folder / "ag_ui_client.mjs"
    shutil.copy(HERE / script.name, script)
    done = subprocess.run(["node", str(script), url, *words], cwd=folder, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return [json.loads(line) for line in done.stdout.decode().split("\n") if line]


@pytest.mark.parametrize(("path", "protocol"), [("/agui", "ag-ui-sse"), ("/proto", "ag-ui-proto")])
def test_the_official_client_sees_what_it_sees_without_us_and_we_see_its_calls(node_modules, tmp_path, path, protocol):
    words = ("own", "client", "approve", "chunks", "text")
    with application(node_modules) as port:
        direct = drive(node_modules, f"http://127.0.0.1:{port}{path}", *words)
        state = tmp_path / "state"
        with serving(state, "--route", f"/=http://127.0.0.1:{port}") as instance:
            assert drive(node_modules, f"http://{instance['listen']}{path}", *words) == direct
            found = records_until(state, lambda r: len(of_kind(r, "action")) >= 4 and len(of_kind(r, "outcome")) >= 4)
    actions = {r["call"]["id"]: r for r in of_kind(found, "action")}
    assert {r["exchange"]["protocol"] for r in actions.values()} == {protocol}
    assert {i: (r["call"]["name"], r["call"]["executed_by"], r["session"]["id"]) for i, r in actions.items()} == {
        "own-1": ("prune_orchard", "unknown", "thread-own"),
        "cli-1": ("open_page", "client", "thread-client"),
        "app-1": ("burn_row", "unknown", "thread-approve"),
        "chk-1": ("prune_orchard", "unknown", "thread-chunks"),
    }
    outcomes = [(r["call"]["id"], r["reported_by"], r["approval"]["state"]) for r in of_kind(found, "outcome")]
    assert ("own-1", "agent", "none") in outcomes
    assert ("cli-1", "harness", "none") in outcomes
    assert ("app-1", "agent", "required") in outcomes
    assert ("app-1", "harness", "approved") in outcomes
    assert not of_kind(found, "unread")


PAGE = """<!doctype html><meta charset="utf-8"><title>waiting</title><script>
fetch("{url}", {{method: "POST", headers: {{"content-type": "application/json"}}, body: JSON.stringify({{
  threadId: "thread-browser", runId: "b-1", state: {{}}, context: [], forwardedProps: {{}},
  messages: [{{id: "u1", role: "user", content: "please client"}}],
  tools: [{{name: "open_page", description: "opens", parameters: {{type: "object"}}}}]}})}})
.then(async (reply) => {{
  const reader = reply.body.getReader(); let size = 0, text = "";
  for (;;) {{ const {{done, value}} = await reader.read(); if (done) break; size += value.length; text += new TextDecoder().decode(value); }}
  document.title = "read"; document.body.textContent = "status " + reply.status + " " + text.split("data:").length;
}}).catch((error) => {{ document.body.textContent = "failed " + error; }});
</script><body>waiting</body>"""


@contextlib.contextmanager
def page_server(folder):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_page_on_another_origin_calls_an_application_through_us(node_modules, tmp_path):
    browser = next(
        (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
    )
    if browser is None:
        pytest.skip("no Chromium is installed")
    pages, state = tmp_path / "pages", tmp_path / "state"
    pages.mkdir()
    with application(node_modules) as port, serving(state, "--route", f"/=http://127.0.0.1:{port}") as instance:
        (pages / "index.html").write_text(PAGE.format(url=f"http://{instance['listen']}/agui"), encoding="utf-8")
        with page_server(pages) as origin:
            argv = [
                browser,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
            ]
            argv += [
                f"--user-data-dir={tmp_path / 'profile'}",
                "--virtual-time-budget=20000",
                "--dump-dom",
                f"http://127.0.0.1:{origin}/index.html",
            ]
            done = subprocess.run(argv, capture_output=True, timeout=120, check=False)
        assert b"status 200 7" in done.stdout, done.stdout.decode(errors="replace")[-500:]
        found = records_until(state, lambda r: of_kind(r, "action"))
    (action,) = of_kind(found, "action")
    assert (action["call"]["name"], action["session"]["id"]) == ("open_page", "thread-browser")
