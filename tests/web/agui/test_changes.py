"""A change of a row: shown in the interrupt, made when approved, asked anew if stale."""

import sqlite3
from contextlib import closing
from uuid import uuid4

import pytest

from tests.agui.client import approve, deny
from tests.web.agui.site import call, text

DONE = [text("Done.")]


@pytest.fixture
def page(site):
    """A page of the wiki, as a row of its own."""
    slug = f"p-{uuid4().hex[:8]}"
    write(
        site,
        "INSERT INTO wiki_page (slug, title, text) VALUES (?, ?, ?)",
        (slug, "Old title", "Text."),
    )
    (row,) = site.oracle.rows("SELECT id FROM wiki_page WHERE slug = %s", slug)
    return row["id"]


def write(site, statement, values):
    path = site.server.database_url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path, timeout=30)) as connection:
        connection.execute(statement, values)
        connection.commit()


def title_of(site, page):
    (row,) = site.oracle.rows("SELECT title FROM wiki_page WHERE id = %s", page)
    return row["title"]


def changing(site, page, title="New title"):
    made = call("change_object", model="wiki.page", id=page, values={"title": title})
    return site.script([made], DONE)


class TestChanges:
    def test_difference_is_shown_and_made_when_approved(self, site, page):
        front = site.front()

        (wait,) = front.ask(changing(site, page)).interrupts
        (shown,) = wait["metadata"]["aia"]["changes"]["objects"]
        before = title_of(site, page)
        reading = front.answer(approve(wait))

        (field,) = shown["fields"]
        assert (field["before"], field["after"]) == ("Old title", "New title")
        assert before == "Old title"
        assert title_of(site, page) == "New title"
        (result,) = front.held.results().values()
        assert "Changed" in result
        assert reading.text() == "Done."

    def test_refused_one_is_not_made(self, site, page):
        front = site.front()
        (wait,) = front.ask(changing(site, page)).interrupts

        front.answer(deny(wait))

        assert title_of(site, page) == "Old title"

    def test_row_that_was_changed_meanwhile_is_asked_anew(self, site, page):
        front = site.front()
        (wait,) = front.ask(changing(site, page)).interrupts
        write(site, "UPDATE wiki_page SET title = ? WHERE id = ?", ("By another", page))

        (anew,) = front.answer(approve(wait)).interrupts

        assert title_of(site, page) == "By another"
        assert anew["id"] != wait["id"]
        assert anew["toolCallId"] == wait["toolCallId"]
        (shown,) = anew["metadata"]["aia"]["changes"]["objects"]
        assert shown["fields"][0]["before"] == "By another"
        assert front.answer(approve(anew)).text() == "Done."
        assert title_of(site, page) == "New title"

    def test_changes_by_a_user_who_may_not_is_not_asked_for(self, site, page):
        front = site.front("editor")
        made = call("delete_object", model="wiki.page", id=page)

        reading = front.ask(site.script([made], DONE))

        assert reading.text() == "Done."
        assert title_of(site, page) == "Old title"


class TestExpiry:
    def expire(self, site, front):
        """Let the time for all that is open in a thread be over."""
        write(
            site,
            "UPDATE ai_assistant_interrupt SET expires_at = ? WHERE status = ? "
            "AND run_id IN (SELECT id FROM ai_assistant_run WHERE conversation_id IN "
            "(SELECT id FROM ai_assistant_conversation WHERE thread_id = ?))",
            ("2020-01-01 00:00:00", "open", front.thread),
        )

    def test_answer_that_comes_too_late_is_refused(self, site, page):
        front = site.front()
        (wait,) = front.ask(changing(site, page)).interrupts
        assert wait["expiresAt"]
        self.expire(site, front)

        response = front.post(front.input(resume=[approve(wait)]))

        assert response.status_code in (400, 409)
        assert response.json()["detail"]
        site.wait_state(front, "succeeded")
        assert title_of(site, page) == "Old title"

    def test_thread_goes_on_after_it(self, site, page):
        front = site.front()
        front.ask(changing(site, page))
        self.expire(site, front)
        site.wait_state(front, "succeeded")
        fresh = front.fresh()
        fresh.ask()

        assert len(fresh.held.results()) == 1
        assert fresh.ask(site.script([text("Next.")])).text() == "Next."

    def test_client_that_waited_a_day_too_long(self, site):
        pick = {"name": "pick_color", "description": "Pick."}
        front = site.front(tools=[pick])
        front.ask(site.script([call("pick_color")], DONE))
        self.expire(site, front)
        site.wait_state(front, "succeeded", "needs_review", "failed")
        (made,) = front.held.calls()
        front.add_result(made["id"], "teal")
        before = site.count()

        response = front.post(front.input())

        assert response.status_code in (400, 409)
        assert site.count() == before
