"""What a person asks for while another transaction holds the row: a sentence, no fault."""

from datetime import timedelta

import pytest
from django.db import connection
from django.urls import reverse

from ai_assistant.engine.storage import units
from ai_assistant.models import Conversation, Feedback, QueuedMessage, Run
from tests.engine.people import locked
from tests.web.conftest import ask
from tests.web.rest.program import Program, code

of_postgres = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="of PostgreSQL only"
)
SCRIPT = {"HX-Request": "true"}
SENTENCE = "The assistant is saving something. Try again in a moment."
CHANGES = ("pin", "unpin", "archive", "unarchive", "delete", "undo")
DOORS = (
    *((f"change {do}", "change", {"do": do}) for do in CHANGES),
    ("rename", "rename", {"title": "Other"}),
    ("branch", "branch", {}),
    ("queue resume", "queue", {"do": "resume"}),
    ("queue drop", "queue", {"do": "drop"}),
    ("send", "send", {"text": "More", "key": "more"}),
    ("retry", "retry", {"key": "again"}),
)


@pytest.fixture(autouse=True)
def _short(monkeypatch, quiet):
    """Let nobody wait for long, and nothing be executed."""
    monkeypatch.setattr(units, "FIRST_WAIT_S", 0.02)
    monkeypatch.setattr(units, "LOCK_WAIT_S", 0.05)


@pytest.fixture
def run(people):
    """A run that has failed, in a conversation in which a message waits."""
    run = ask(people["ada"], "First")
    ask(people["ada"], "Second", conversation=run.conversation_id)
    Run.objects.filter(pk=run.pk).update(state="failed")
    run.refresh_from_db()
    return run


@pytest.fixture
def post(browser, run):
    def send(name, *, script=True, **fields):
        said = {
            "conversation": str(run.conversation_id),
            "run": str(run.pk),
            "message": str(QueuedMessage.objects.get().pk),
            **fields,
        }
        headers = SCRIPT if script else {}
        return browser("ada").post(
            reverse(f"ai_assistant:{name}"), said, headers=headers
        )

    return send


@of_postgres
class TestPanel:
    @pytest.mark.parametrize(
        ("name", "fields"),
        [door[1:] for door in DOORS],
        ids=[door[0] for door in DOORS],
    )
    def test_locked_conversation_is_a_409_page_and_a_notice(
        self, post, run, name, fields
    ):
        if fields.get("do") == "undo":
            post("change", do="delete")

        with locked(run.conversation):
            page, notice = post(name, script=False, **fields), post(name, **fields)

        assert (page.status_code, notice.status_code) == (409, 200)
        assert SENTENCE in page.text
        assert SENTENCE in notice.text
        assert notice["HX-Retarget"] == "#aia-notice"

    def test_feedback(self, post, run, people):
        Run.objects.update(state="succeeded")
        kept = Feedback.objects.create(run=run, user=people["ada"], value="up")

        with locked(kept):
            assert SENTENCE in post("feedback", value="down").text

        kept.refresh_from_db()
        assert kept.value == "up"

    def test_what_was_seen_is_noted_later(self, post, run):
        Run.objects.update(state="succeeded", finished_at=run.created_at)
        Conversation.objects.update(read_at=run.created_at - timedelta(days=1))

        with locked(run.conversation):
            assert post("seen", seen="1").json()["unread"] == 1

        assert post("seen", seen="1").json()["unread"] == 0


@of_postgres
class TestProgram:
    @pytest.mark.parametrize(
        ("method", "path", "body"),
        [
            ("patch", "conversations/{}/", {"title": "Other"}),
            ("delete", "conversations/{}/", None),
            ("post", "runs/", {"text": "More"}),
        ],
    )
    def test_program_is_told_a_code(self, people, run, method, path, body):
        if method == "post":
            body = {**body, "conversation": str(run.conversation_id)}

        with locked(run.conversation):
            answer = Program(people["ada"]).post(
                path.format(run.conversation_id), body, method=method
            )

        assert (answer.status_code, code(answer)) == (409, "locked")
