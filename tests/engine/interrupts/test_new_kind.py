"""A kind of interrupt that is added: no room needs to know its name."""

import ast
from datetime import timedelta
from pathlib import Path

import pytest
from ag_ui.core import ResumeEntry
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from ai_assistant import RunContext
from ai_assistant.engine.execution.sweep import sweep_once
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.engine.interrupts.base import (
    kind_names,
    register_kind,
    unregister_kind,
)
from ai_assistant.models import Interrupt
from ai_assistant.render.agui.interrupts import FORMS, open_interrupts
from ai_assistant.render.html.cards.interrupts import CARDS
from ai_assistant.render.html.transcript.thread import read_thread
from ai_assistant.safety.identity.session import SessionStamp
from ai_assistant.testing import call, reply
from ai_assistant.web.agui.planning import read_answers
from ai_assistant.web.principal import Caller
from tests.engine.conftest import resume
from tests.render.html.tab import whole_page
from tests.testapp.codes import AskCode, Code, CodeCard, CodeForm
from tests.web.rest.program import Program, code

pytestmark = pytest.mark.django_db(transaction=True)

APP = Path(__file__).parents[3] / "ai_assistant"
BUILT_IN = {"approval", "question", "browser", "task", "run"}
CODE = "471108154242"  # longer than digits that an id has in a row
SENT = ("succeeded", {"sent": CODE})
# Here a kind is a class, or is drawn by one. That of another agent begins its run.
OF_KINDS = (
    *("engine/interrupts/", "engine/delegation.py"),
    "render/html/cards/interrupts.py",
)
OF_CLIENTS = ("render/agui/interrupts.py", "web/rest/interrupts.py")


@pytest.fixture
def _code_kind(monkeypatch):
    register_kind(Code())
    monkeypatch.setitem(CARDS, "code", CodeCard())
    monkeypatch.setitem(FORMS, "code", CodeForm())
    yield
    unregister_kind("code")


@pytest.fixture
def waiting(_code_kind, play, script, offer, options):
    """Return a run that waits for the code."""

    def send_money(context: RunContext) -> dict:
        if "code" not in context.answers:
            raise AskCode("Which code did you get?", CODE)
        return {"sent": context.answers["code"]}

    offer(send_money)
    script.add(reply("", call("send_money")), "Done.")
    run = play()
    options(EXECUTOR="worker")  # a test goes on with it itself
    return run


def panel_answer(user, asked, text):
    browser = Client()
    browser.force_login(user)
    fields = {"interrupt": asked.pk, "nonce": asked.nonce, "answer": text}
    return browser.post(reverse("ai_assistant:answer"), fields)


def outcome(run):
    """Let the run go on; return how it ends, and what its tool has returned."""
    run = resume(run)
    return run.state, run.calls.get().result["data"]


class TestOpened:
    def test_run_waits_in_the_state_of_the_kind(self, waiting):
        asked = waiting.interrupts.get()

        assert (asked.kind, asked.status) == ("code", "open")
        assert waiting.state == "waiting_answer"
        assert waiting.calls.get().status == "waiting"

    @pytest.mark.usefixtures("_code_kind")
    def test_name_is_taken_once(self):
        with pytest.raises(ValueError, match="'code' is already registered by 'tests"):
            register_kind(Code())

    def test_kinds_are_the_built_in_ones_without_it(self):
        assert set(kind_names()) == BUILT_IN == set(Interrupt.Kind.values)


class TestShown:
    def test_card_is_drawn_by_its_own_template(self, waiting):
        page, _run, _seq = whole_page(waiting.conversation)

        card = page.by_id(f"i-{waiting.interrupts.get().pk}")
        assert card.attrs["data-digits"] == "12"
        assert "Which code did you get?" in card.text()

    def test_client_of_agui_gets_its_own_schema(self, waiting):
        (told,) = open_interrupts(waiting, may_answer=True)

        assert (told.reason, told.message) == (
            "input_required",
            "Which code did you get?",
        )
        assert told.response_schema["properties"]["answer"]["pattern"] == "^[0-9]{12}$"

    def test_program_reads_it(self, waiting, user):
        told = Program(user).get("interrupts/").json()["results"]

        asked = waiting.interrupts.get()
        assert [one["kind"] for one in told] == ["code"]
        assert told[0]["question"]["text"] == "Which code did you get?"
        assert told[0]["nonce"] == asked.nonce
        assert CODE not in str(told)


class TestAnswered:
    def test_wrong_code_is_refused_in_the_panel(self, waiting, user):
        response = panel_answer(user, waiting.interrupts.get(), "0815")

        assert response.status_code == 400
        assert waiting.interrupts.get().status == "open"

    def test_answered_in_the_panel(self, waiting, user):
        response = panel_answer(user, waiting.interrupts.get(), f" {CODE} ")

        assert response.status_code in (204, 303)
        assert waiting.interrupts.get().answer == CODE
        assert outcome(waiting) == SENT

    def test_answered_by_a_program(self, waiting, user):
        asked, program = waiting.interrupts.get(), Program(user)
        body = {"nonce": asked.nonce, "decision": "answer"}
        path = f"interrupts/{asked.pk}/answer/"

        assert code(program.post(path, {**body, "answer": "1"})) == "wrong_answer"
        told = program.post(path, {**body, "answer": CODE})

        assert (told.status_code, told.json()["status"]) == (200, "answered")
        assert outcome(waiting) == SENT

    def test_answered_by_a_client_of_agui(self, waiting, user):
        caller = Caller(user=user, stamp=SessionStamp())
        (told,) = open_interrupts(waiting, may_answer=True)
        resolved = ResumeEntry(
            interrupt_id=told.id, status="resolved", payload={"answer": CODE}
        )

        (given,) = read_answers(caller, waiting, [resolved])
        answer(given)

        assert outcome(waiting) == SENT

    def test_answered_by_a_message(self, waiting, submission):
        accept(submission(CODE, conversation_id=waiting.conversation_id))

        assert outcome(waiting) == SENT

    def test_message_that_is_no_code_ends_it(self, waiting, submission):
        accept(submission("Never mind", conversation_id=waiting.conversation_id))

        assert waiting.interrupts.get().status == "declined"
        assert waiting.calls.get().status == "cancelled"

    def test_answer_is_shown_on_the_card_of_the_call(self, waiting, user):
        panel_answer(user, waiting.interrupts.get(), CODE)

        drawn = read_thread(waiting.conversation)

        (part,) = drawn.entries[-1]["parts"]
        question = {"question": "Which code did you get?", "labels": [CODE]}
        assert part["call"]["answers"] == [question]


class TestExpired:
    def test_call_is_denied_and_the_run_goes_on(self, waiting):
        Interrupt.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

        swept = sweep_once()

        assert swept.moved == [waiting.pk]
        assert waiting.interrupts.get().status == "expired"
        called = waiting.calls.get()
        assert (called.status, called.reason) == ("denied", "expired")
        assert resume(waiting).state == "succeeded"


def names_a_kind(node):
    """Tell whether a node of code names one of the built-in kinds."""
    if isinstance(node, ast.Attribute):
        return ast.unparse(node).startswith("Interrupt.Kind.")
    if isinstance(node, ast.Compare) and "kind" in ast.unparse(node.left):
        others = {getattr(one, "value", None) for one in node.comparators}
        return bool(others & (BUILT_IN - {"run"}))  # entries have a kind "run", too
    return False


def test_no_other_module_names_a_kind():
    inside = (*OF_KINDS, *OF_CLIENTS, "migrations/")
    files = {path.relative_to(APP).as_posix(): path for path in APP.rglob("*.py")}
    named = [
        name
        for name, path in files.items()
        if not name.startswith(inside)
        and any(map(names_a_kind, ast.walk(ast.parse(path.read_text()))))
    ]

    assert named == []
