"""What the log gains is told to the pages that watch, and a mark made on a page becomes a record."""

import asyncio
import json

from proxy.analyzer.messages import on_message
from proxy.inbox import Inbox, inbox_file
from proxy.review.gate import COOKIE, Gate
from proxy.status import status_file, write_status

TOKEN = "t0ken"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


def test_a_watching_page_is_told_of_new_calls(written, browser):
    async def told(stream):
        while True:
            line = await stream.content.readline()
            if line.startswith(b"data: "):
                return json.loads(line[6:])

    async def steps(client):
        stream = await client.get("/review/events", headers=BEARER)
        first = await told(stream)
        while first["actions"] < 3:
            first = await told(stream)
        written.append(written.call("rm -rf /srv/new"))
        async with asyncio.timeout(60):
            second = await told(stream)
        stream.close()
        return first, second

    first, second = browser.run(steps)
    assert (first["actions"], second["actions"]) == (3, 4)
    assert second["flagged"] == first["flagged"] + 1


class Desk:
    """The part of the analyzer a disposition reaches: its writer."""

    def __init__(self, written):
        self.desk, self.writer, self.lines = self, self, []
        self._written = written

    def write(self, line):
        self.lines.append(line)
        self._written.append(line)


def test_a_mark_on_the_page_becomes_a_record_and_the_action_shows_it(written, browser):
    config, desk = written.config, Desk(written)
    write_status(status_file(config.spool.dir), {"log": {}})

    async def analyzer():
        inbox = Inbox(inbox_file(config.spool.dir))
        while True:
            for message in inbox.messages():
                on_message(desk, message)
            await asyncio.sleep(0.01)

    async def steps(client):
        await client.post("/review/login", data={"token": TOKEN})
        cookie = client.session.cookie_jar.filter_cookies(client.make_url("/review"))[COOKIE].value
        form = {"form": Gate(TOKEN)._sign("form", cookie), "state": "escalated", "reason": "ask the owner", "by": "ann"}
        answer = await client.post(f"/review/actions/{written.ids['delete']}/disposition", data=form)
        return answer.status, str(answer.url), await answer.text()

    status, url, text = browser.run(steps, analyzer)
    assert (status, "said=marked" in url, "ask the owner" in text) == (200, True, True)
    (line,) = desk.lines
    assert (line["kind"], line["action"]) == ("disposition", written.ids["delete"])
    assert line["disposition"] == {"state": "escalated", "reason": "ask the owner", "by": "ann"}
    assert line["src"]["writer"] == "inbox"


def test_the_whole_log_is_checked_on_request_and_the_answer_shown(written, browser):
    async def steps(client):
        await client.get("/review/", headers=BEARER)  # a small log is checked when the page is opened
        async with asyncio.timeout(60):
            while True:
                text = await (await client.get("/review/", headers=BEARER)).text()
                if "every line checked in" in text:
                    return text

    assert "valid to checkpoint" in browser.run(steps)
