"""A candidate policy tried from the page: over the log, compared, bounded, and changing nothing."""

import dataclasses
import os
import re
import time

import pytest

from proxy.review.candidate import (
    MAX_BYTES,
    WrongCandidateError,
    logs_since,
    outside_names,
    read_form,
)
from proxy.review.gate import COOKIE, Gate

TOKEN = "t0ken"
QUIET = "policy: 1\nid: candidate\nextends: [onlooker:starter]\noverrides:\n  - {id: RULE, enabled: false}\n"
OWN = """\
policy: 1
id: candidate
rules:
  - id: acme.any-send
    description: Sends anything.
    severity: high
    match: {effects: [{domain: network, action: send}]}
    message: "sends to {effect.target}"
    tests:
      - {action: {effects: ["send network:h.example"]}, expect: match}
"""


@pytest.fixture
def browser(browser, written):
    return type(browser)(dataclasses.replace(written.config, policies=("onlooker:starter",)))


def tried(browser, **fields):
    """Status of the form and the page after it."""

    async def steps(client):
        await client.post("/review/login", data={"token": TOKEN})
        cookie = client.session.cookie_jar.filter_cookies(client.make_url("/review"))[COOKIE].value
        form = Gate(TOKEN)._sign("form", cookie)
        answer = await client.post("/review/policies/candidate", data={"form": form, **fields}, allow_redirects=False)
        page = await client.get("/review/policies/candidate")
        return answer.status, await answer.text(), await page.text()

    return browser.run(steps)


def test_what_a_candidate_says_is_shown_with_the_calls_it_is_about(written, browser):
    status, _, page = tried(browser, text=OWN.replace("\n", "\r\n"), against="", days="")
    assert status == 303
    assert re.search(r"acme\.any-send</td><td[^>]*>1<", page)
    assert re.findall(r"(\d+) calls of", page) == ["4"]
    assert list((written.state / "review").glob("candidate-*")) == []


def test_a_candidate_is_compared_with_the_policy_in_force(written, browser):
    _, _, page = tried(
        browser, text=QUIET.replace("RULE", "fs.delete-recursive-root"), against="onlooker:starter", days="7"
    )
    assert "compared with <code>onlooker:starter</code>" in page
    assert "No recorded call would be judged differently" in page
    _, _, page = tried(browser, text=OWN, against="onlooker:starter", days="7")
    assert re.search(r"new</td>.*acme\.any-send.*href=\"/review/actions/", page, re.DOTALL)


def test_mistakes_are_shown_with_line_and_column_and_no_path_of_this_machine(written, browser):
    _, _, page = tried(browser, text="policy: 1\nid: x\nruls: []\n", against="", days="")
    assert "candidate.yaml:3:1" in page
    assert str(written.state / "review") not in page


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"text": "", "against": "", "days": ""}, 400),
        ({"text": OWN, "against": "/etc/passwd", "days": ""}, 400),
        ({"text": OWN, "against": "", "days": "365"}, 400),
        ({"text": OWN, "against": "", "days": "", "form": "0" * 64}, 403),
    ],
)
def test_a_form_that_is_not_ours_or_not_one_of_the_choices_is_refused(browser, fields, status):
    assert tried(browser, **fields)[0] == status


def test_the_text_has_a_limit():
    with pytest.raises(WrongCandidateError, match="256 KiB"):
        read_form({"text": "x" * (MAX_BYTES + 1), "against": "", "days": ""}, [])


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("policy: 1\nextends: [onlooker:starter]\n", []),
        ("policy: 1\nextends: [/etc/hosts, onlooker:starter]\n", ["/etc/hosts"]),
        ("policy: 1\nextends: ../team.yaml\n", ["../team.yaml"]),
        ("policy: [1", []),
        ("just text", []),
    ],
)
def test_files_of_this_machine_are_not_read_for_a_form(text, named):
    assert outside_names(text) == named


def test_only_the_files_of_the_period_are_read(written):
    (segment,) = (written.state / "audit").glob("*.jsonl")
    now = time.time()
    os.utime(segment, (now - 3 * 86400, now - 3 * 86400))
    assert logs_since(written.state / "audit", "1", now) == []
    assert (
        logs_since(written.state / "audit", "7", now) == logs_since(written.state / "audit", "", now) == [str(segment)]
    )
