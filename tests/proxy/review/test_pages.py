"""Pages answer whom they should, show hostile text as text, link every number, and say what to do when empty."""

import html
import re
from datetime import UTC, datetime

import pytest

from audit import record as records
from policies.source import check_text
from proxy.review.gate import COOKIE, Gate

TOKEN = "t0ken"
SHIPPED = "cloud.delete-stateful"
BEARER = {"Authorization": f"Bearer {TOKEN}", "Accept": "text/html"}
PAGES = ["/review/", "/review/?days=7", "/review/sessions", "/review/sessions/s-1", "/review/actions", "/review/policies",
         "/review/objectives", "/review/records", "/review/records?kind=gap"]  # fmt: skip


@pytest.mark.parametrize("path", PAGES)
def test_each_page_answers_with_its_title_and_may_load_nothing_foreign(browser, path):
    status, text, headers = browser.get(path)
    assert status == 200
    assert "<h1>" in text
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "style=" not in text
    assert not re.search(r"(src|href)=\"(?:https?:)?//", text)
    assert "<script>" not in text


@pytest.mark.parametrize("path", [*PAGES, "/review", "/review/actions.csv", "/review/events", "/review/nowhere"])
def test_without_login_nothing_is_shown(browser, path):
    status, text, _ = browser.get(path, headers={"Accept": "text/html"})
    assert (status, "s-1" in text) == (303, False)
    assert browser.get(path, headers={})[0] == 401


def test_a_foreign_host_or_origin_is_refused_before_anything(browser):
    assert browser.get("/review/", headers={**BEARER, "Host": "evil.example"})[0] == 403
    assert browser.get("/review/", headers={**BEARER, "Origin": "https://evil.example"})[0] == 403


def test_login_gives_a_cookie_that_scripts_and_other_sites_cannot_use(browser):
    async def steps(client):
        wrong = await client.post("/review/login", data={"token": "nope"})
        right = await client.post("/review/login", data={"token": TOKEN}, allow_redirects=False)
        page = await client.get("/review/")
        return wrong.status, right.status, right.headers["Set-Cookie"], page.status

    wrong, right, cookie, page = browser.run(steps)
    assert (wrong, right, page) == (401, 303, 200)
    assert all(word in cookie for word in ("HttpOnly", "SameSite=Strict", "Path=/review"))
    assert TOKEN not in cookie


def test_a_cookie_ends_and_cannot_be_made_up():
    gate = Gate(TOKEN)
    cookie = gate.new_cookie(now=1000)
    assert gate.knows(cookie, now=1001)
    assert not gate.knows(cookie, now=1000 + 13 * 3600)
    later = "9" + cookie
    for made_up in (later, "", "..", "\udcff.x.y", Gate("other").new_cookie()):
        assert not gate.knows(made_up, now=1001)


HOSTILE = "<img src=x onerror=alert(1)>\x1b[2J\u202e\"'{{7*7}}</script>"


def test_hostile_strings_are_text_everywhere(written, browser):
    call = written.call(f"rm {HOSTILE}", session=f"s/{HOSTILE}")
    call["call"]["name"] = HOSTILE
    call["classification"]["effects"][0]["target"] = HOSTILE
    call["policy"][0]["findings"][0]["message"] = HOSTILE
    call["agent"]["id"] = HOSTILE
    (identity,) = written.append(call)
    paths = [
        "/review/",
        "/review/actions",
        "/review/sessions",
        f"/review/actions/{identity}",
        f"/review/record/{identity}",
    ]
    (session,) = re.findall(r'href="(/review/sessions/s%2F[^"]*)"', browser.get("/review/sessions")[1])[:1]
    for path in [*paths, html.unescape(session)]:
        status, text, _ = browser.get(path)
        assert (path, status) == (path, 200)
        assert "&lt;img src=x" in text
        for bad in ("<img src=x", "\x1b", "\u202e", "49</script>"):
            assert bad not in text, (path, bad)


def test_the_evidence_is_marked_in_the_argument_text(written, browser):
    text = browser.get(f"/review/actions/{written.ids['send']}")[1]
    assert '<mark data-effects="0">paste.example</mark>' in text
    assert '<sup><a href="#e0"' in text


def test_an_action_says_rule_objective_outcome_and_hashes(written, browser):
    text = browser.get(f"/review/actions/{written.ids['delete']}")[1]
    for said in (
        "policy.yaml:21:5",
        "objective.yaml:9:7",
        "tree-sitter, bashlex",
        "<b>error</b>",
        "this line",
        "sha256:",
    ):
        assert said in text


def test_what_is_not_there_says_so_and_where_to_go(browser):
    for path in ("/review/actions/x:1", "/review/sessions/none", "/review/record/x:9"):
        status, text, _ = browser.get(path)
        assert status == 404
        assert 'href="/review/"' in text


EMPTY = [
    ("/review/", "onlooker run -- claude"),
    ("/review/actions", "onlooker doctor"),
    ("/review/sessions", "onlooker env"),
    ("/review/policies", "onlooker:starter"),
    ("/review/objectives", "onlooker objective new"),
    ("/review/records", "/review/actions"),
]


@pytest.mark.parametrize(("path", "advice"), EMPTY)
def test_an_empty_state_says_what_to_do_next(nothing_yet, path, advice):
    status, text, _ = nothing_yet.get(path)
    assert (status, advice in text) == (200, True)


def test_every_number_of_the_overview_leads_to_that_many_records(written, browser):
    text = browser.get("/review/")[1]
    tiles = re.findall(r'<a href="([^"]+)"><b[^>]*>([\d,]+)</b>', text) + re.findall(
        r'<h2 id="q-\w+"><a href="([^"]+)">[^<]*<b class="count[^"]*">([\d,]+)</b>', text
    ) + re.findall(r'<a href="(/review/actions[^"]*)" (?:class|aria-label)[^>]*>([\d,]+)</a>', text)  # fmt: skip
    assert len(tiles) > 10
    for address, count in tiles:
        listed = browser.get(html.unescape(address))[1]
        total = re.search(r'<p class="sum"><b>([\d,]+)</b>', listed)
        assert (address, total and total[1]) == (address, count)


def test_a_filter_that_cannot_be_meant_is_said_and_not_passed_over(browser):
    text = browser.get("/review/actions?severity=hihg&foo=<b>&ask=left")[1]
    assert "Not filtered by severity=hihg: expected info, low, medium, high, critical." in text
    assert "Not filtered by foo=&lt;b&gt;: no such filter" in text
    assert "Not filtered by" not in browser.get("/review/actions?severity=high&ask=left&order=newest&since=2026")[1]


def test_a_spreadsheet_gets_no_formula_and_jsonl_is_the_logs_own_bytes(written, browser):
    call = written.call("rm x")
    call["call"]["name"] = '=HYPERLINK("http://evil.example")'
    written.append(call)
    status, text, headers = browser.get("/review/actions.csv?session=s-3")
    assert (status, headers["Content-Type"]) == (200, "text/csv; charset=utf-8")
    assert "\"'=HYPERLINK(" in text
    (path,) = (written.state / "audit").glob("*.jsonl")
    lines = set(path.read_text().splitlines())
    exported = browser.get("/review/actions.jsonl")[1].splitlines()
    assert len(exported) == 5
    assert set(exported) <= lines


def test_a_mark_needs_the_forms_own_value_and_its_origin(written, browser):
    path = f"/review/actions/{written.ids['delete']}/disposition"

    async def steps(client):
        await client.post("/review/login", data={"token": TOKEN})
        cookie = client.session.cookie_jar.filter_cookies(client.make_url("/review"))[COOKIE].value
        form = Gate(TOKEN)._sign("form", cookie)
        said = {"state": "benign", "reason": "drill"}
        foreign = {"Origin": f"http://127.0.0.1:{client.port + 1}"}
        answers = [
            await client.post(path, data=said),
            await client.post(path, data={**said, "form": "x" * 64}),
            await client.post(path, data={**said, "form": form}, headers=foreign),
            await client.post(path, data={**said, "form": form, "reason": ""}),
            await client.post(path, data={**said, "form": form}),
        ]
        return [a.status for a in answers]

    assert browser.run(steps) == [403, 403, 403, 400, 503]  # the last: no analyzer runs here


def test_a_benign_mark_shows_an_exception_that_the_policy_checker_takes(written, browser):
    written.append(records.disposition(action=written.ids["delete"], state="benign", reason='drill "4"\n', by="lead"))
    text = browser.get(f"/review/actions/{written.ids['delete']}")[1]
    (yaml,) = re.findall(r'<pre id="yaml">(.*?)</pre>', text, re.DOTALL)
    policy = "policy: 1\nid: acme\nextends: [onlooker:starter]\n" + html.unescape(yaml).replace(
        "fs.delete-protected-tree", SHIPPED
    )
    policy = policy.replace('approved_by: "lead"', 'approved_by: "lead@acme.example"')
    assert check_text(policy, "policy.yaml", datetime.now(UTC)).errors == []


def test_an_exception_never_excuses_everything(written):
    from proxy.review.exception import exception_yaml

    call = written.call("rm x") | {"seq": 1}
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert '["/srv/shop/cache"]' in exception_yaml(call, "drill", None, now)
    for target in ("**", "/*", None, "*:*"):
        call["classification"]["effects"][0]["target"] = target
        for named in ([0], []):
            call["policy"][0]["findings"][0]["effects"] = named
            assert exception_yaml(call, "drill", None, now) == ""
