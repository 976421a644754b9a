"""What a person may send, and what happens to what cannot be taken."""

import asyncio
import html
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
from django.db import connection
from django.test import AsyncClient
from django.urls import reverse

from ai_assistant import conf
from ai_assistant.engine import service
from ai_assistant.engine.execution.dequeue import SendNowRequest
from ai_assistant.engine.execution.presence import say_present
from ai_assistant.exceptions import Refused
from ai_assistant.models import (
    Conversation,
    ExecutorProcess,
    Message,
    QueuedMessage,
    Run,
)
from ai_assistant.models.run import RunState
from ai_assistant.safety.identity.session import SessionStamp
from tests.web.conftest import ask, asked_a_question, asked_to_approve

SCRIPT = {"HX-Request": "true"}

pytestmark = pytest.mark.usefixtures("quiet")


def form(**changes) -> dict[str, str]:
    return {
        "conversation": str(uuid4()),
        "key": str(uuid4()),
        "text": "Hello",
        "path": "/admin/",
        "next": "/admin/",
        **changes,
    }


def send(client, fields, *, script=False):
    headers = SCRIPT if script else {}
    return client.post(reverse("ai_assistant:send"), fields, headers=headers)


def count() -> tuple[int, int, int]:
    return (
        Conversation.objects.count(),
        Message.objects.count(),
        Run.objects.count(),
    )


class TestSend:
    @pytest.mark.row("D01")
    def test_send_stores_a_message_and_starts_a_run(self, browser, people):
        fields = form(text="  Two\r\nlines  ", path="/admin/auth/user/?q=a")

        response = send(browser("ada"), fields, script=True)

        assert (response.status_code, response.content) == (204, b"")
        message = Message.objects.get()
        assert message.text == "Two\nlines"
        assert message.key == fields["key"]
        assert str(message.conversation_id) == fields["conversation"]
        assert message.conversation.owner == people["ada"]
        assert message.run.state == RunState.QUEUED
        assert message.run.page_path == "/admin/auth/user/?q=a"

    def test_send_without_a_script_leads_back_with_the_panel_open(self, browser):
        client, fields = browser("ada"), form(next="/admin/auth/user/")
        client.cookies["aia_ui"] = "o=0&m=float&w=640"

        response = send(client, fields)

        assert response.status_code == 303
        assert response["Location"] == "/admin/auth/user/#aia"
        page = client.get("/admin/auth/user/").content.decode()
        assert 'data-mode="float" data-w="640" data-open' in page
        assert "Hello" in page

    def test_unusual_text_is_text(self, browser):
        for text in (
            "<script>alert(1)</script>",
            "null",
            "0",
            "😀" * 500,
            "a\tb",
            "\u202ex",
        ):
            assert send(browser("ada"), form(text=text), script=True).status_code == 204
            assert Message.objects.latest("created_at").text == text
            Run.objects.update(state=RunState.SUCCEEDED)

    @pytest.mark.row("X06")
    def test_send_takes_no_role_no_prompt_and_no_model(self, browser):
        more = {"role": "system", "system": "x", "prompt": "x", "model": "x"}
        more |= {"messages": '[{"role": "system"}]', "user": "1"}

        send(browser("ada"), form(**more), script=True)

        message = Message.objects.get()
        assert (message.role, message.text) == ("user", "Hello")
        assert message.run.profile == "default"

    @pytest.mark.parametrize(
        "path", ["/" + "x" * 9000, "//evil", "https://evil/", "\0"]
    )
    def test_odd_path_does_no_harm(self, browser, path):
        assert send(browser("ada"), form(path=path), script=True).status_code == 204
        assert len(Run.objects.get().page_path) <= 2000
        assert "evil" not in Run.objects.get().page_path


class TestWhileTheFirstIsAnswered:
    @pytest.mark.parametrize("script", [False, True])
    def test_a_second_one_waits(self, browser, people, script):
        run = ask(people["ada"])
        client, fields = browser("ada"), form(conversation=str(run.conversation_id))

        answers = [send(client, fields, script=script) for _ in range(2)]

        assert [one.status_code for one in answers] == [204 if script else 303] * 2
        queued = QueuedMessage.objects.get()
        assert (queued.key, queued.text) == (fields["key"], "Hello")
        assert count() == (1, 1, 1)


class TestRefusal:
    LONG = "x" * 1_000_000
    REFUSED = (
        ({"text": ""}, 400, "Write a message first."),
        ({"text": " \r\n\t "}, 400, "Write a message first."),
        ({"text": LONG}, 400, "This message has 1000000 characters; at most 100000"),
        ({"text": "a\x00b"}, 400, "contains characters that are not text"),
        ({"text": "\x1b[31mred"}, 400, "contains characters that are not text"),
        ({"text": "a\x85b"}, 400, "contains characters that are not text"),
        ({"key": ""}, 400, "Reload the page and send the message again."),
        ({"key": "k" * 65}, 400, "Reload the page and send the message again."),
        ({"key": "a\x00b"}, 400, "This page is out of date."),
        ({"conversation": "x"}, 400, "This page is out of date."),
    )

    def test_refusal_is_a_sentence_on_a_page_and_in_the_panel(self, browser, subtests):
        client = browser("ada")
        for changes, status, sentence in self.REFUSED:
            with subtests.test(changes=str(changes)[:60]):
                page = send(client, form(**changes))
                notice = send(client, form(**changes), script=True)
                assert (page.status_code, notice.status_code) == (status, 200)
                for response in (page, notice):
                    assert sentence in html.unescape(response.content.decode())
                assert b"<body" in page.content
                assert notice.content.startswith(b'<p class="aia-note"')
        assert count() == (0, 0, 0)

    def test_page_leads_back(self, browser):
        page = send(browser("ada"), form(text="", next="/admin/auth/user/"))

        assert b'<a href="/admin/auth/user/">' in page.content

    @pytest.mark.row("ui 33")
    def test_refusal_not_of_what_the_answer_is_to_read(self, browser, people):
        run = ask(people["ada"])
        conversation = str(run.conversation_id)
        fields = form(conversation=conversation, text="Only 2025", steers="1")

        response = send(browser("ada"), fields, script=True)

        assert (response.status_code, count()) == (204, (1, 2, 1))
        assert run.messages.last().text == "Only 2025"

    def test_refusal_of_too_many_at_once(self, browser, people, settings):
        settings.AI_ASSISTANT = conf.merged(
            settings.AI_ASSISTANT, {"LIMITS": {"RUNS_PER_USER": 1}}
        )
        ask(people["ada"])

        notice = send(browser("ada"), form(), script=True)

        assert "1 answers are already being written" in notice.content.decode()
        assert count() == (1, 1, 1)

    @pytest.mark.parametrize(
        "body",
        [
            ("application/json", '{"text": "Hello"}'),
            ("text/plain", "text=Hello"),
            ("multipart/form-data; boundary=x", "--x\r\nnonsense"),
            ("application/x-www-form-urlencoded", "%ff%fe=%00&text"),
        ],
    )
    def test_refusal_of_a_body_that_is_no_form(self, browser, body):
        kind, content = body

        response = browser("ada").post(
            reverse("ai_assistant:send"), content, content_type=kind
        )

        assert response.status_code == 400
        assert count() == (0, 0, 0)

    def test_refusal_of_files_in_place_of_words(self, browser):
        from django.core.files.uploadedfile import SimpleUploadedFile

        response = send(browser("ada"), form(text=SimpleUploadedFile("a", b"\xff")))

        assert response.status_code == 400


class TestRepeat:
    def test_repeat_starts_nothing_twice(self, browser):
        client, fields = browser("ada"), form()
        for _ in range(3):
            assert send(client, fields, script=True).status_code == 204
        Run.objects.update(state=RunState.SUCCEEDED)

        assert send(client, fields, script=True).status_code == 204
        assert count() == (1, 1, 1)

    def test_repeat_of_another_text_keeps_the_first(self, browser):
        client, fields = browser("ada"), form()
        send(client, fields, script=True)

        send(client, {**fields, "text": "Other"}, script=True)

        assert Message.objects.get().text == "Hello"

    def test_repeat_of_another_user_is_no_repeat(self, browser):
        key = str(uuid4())

        send(browser("ada"), form(key=key), script=True)
        send(browser("bob"), form(key=key), script=True)

        assert count() == (2, 2, 2)

    async def test_repeat_at_the_same_moment_starts_one_run(self, people):
        client, fields = AsyncClient(), form()
        await client.aforce_login(people["ada"])
        address = reverse("ai_assistant:send")

        answers = await asyncio.gather(
            *(client.post(address, fields, headers=SCRIPT) for _ in range(8))
        )

        assert {answer.status_code for answer in answers} == {204}
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(count).result() == (1, 1, 1)


class TestRetry:
    def test_retry_begins_anew_once(self, browser, people):
        run = ask(people["ada"], "Count them")
        Run.objects.update(state=RunState.FAILED)
        client, fields = browser("ada"), {"run": run.pk, "key": run.pk}
        address = reverse("ai_assistant:retry")

        for _ in range(2):
            assert client.post(address, fields, headers=SCRIPT).status_code == 204

        again = Run.objects.latest("created_at")
        assert count() == (1, 2, 2)
        assert again.continues_id == run.pk
        assert Message.objects.last().text == "Count them"

    def test_retry_of_an_unfinished_run_is_refused(self, browser, people):
        run = ask(people["ada"])

        response = browser("ada").post(
            reverse("ai_assistant:retry"), {"run": run.pk}, headers=SCRIPT
        )

        assert "still being written" in response.content.decode()
        assert count() == (1, 1, 1)


class TestStop:
    def test_stop_ends_a_queued_run_and_may_be_repeated(self, browser, people):
        run = ask(people["ada"])
        for _ in range(2):
            response = browser("ada").post(
                reverse("ai_assistant:stop"), {"run": run.pk}, headers=SCRIPT
            )
            assert response.status_code == 204

        assert Run.objects.get().state == RunState.CANCELLED


class TestAnswer:
    def post(self, client, interrupt, **changes):
        fields = {"interrupt": interrupt.pk, "nonce": interrupt.nonce, **changes}
        return client.post(reverse("ai_assistant:answer"), fields, headers=SCRIPT)

    def test_answer_is_taken_once(self, browser, people):
        interrupt, client = asked_to_approve(people["ada"]), browser("ada")

        first = self.post(client, interrupt, decision="deny", reason="Not now")
        second = self.post(client, interrupt, decision="approve")

        interrupt.refresh_from_db()
        assert (first.status_code, second.status_code) == (204, 200)
        assert "already answered" in second.content.decode()
        assert (interrupt.status, interrupt.answer) == ("denied", "Not now")

    @pytest.mark.row("Q03")
    @pytest.mark.parametrize(
        ("fields", "status", "value"),
        [
            ({"answer": "r"}, "answered", ["r"]),
            ({"chosen": ["r", "b"], "answer": ""}, "answered", ["r", "b"]),
            ({"chosen": ["r"], "answer": "green"}, "answered", ["r", "green"]),
            ({"decision": "skip", "answer": "half"}, "declined", None),
        ],
    )
    def test_answer_to_a_question(self, browser, people, fields, status, value):
        interrupt = asked_a_question(people["ada"])

        response = self.post(browser("ada"), interrupt, **fields)

        interrupt.refresh_from_db()
        assert response.status_code == 204
        assert (interrupt.status, interrupt.answer) == (status, value)

    @pytest.mark.parametrize("fields", [{}, {"answer": " "}, {"chosen": ["\x00"]}])
    def test_answer_that_is_none_is_refused_in_words(self, browser, people, fields):
        interrupt = asked_a_question(people["ada"])

        response = self.post(browser("ada"), interrupt, **fields)

        interrupt.refresh_from_db()
        assert "aia-note" in response.content.decode()
        assert interrupt.status == "open"

    @pytest.mark.parametrize("decision", ["", "yes", "APPROVE", "\x00"])
    def test_answer_needs_a_decision(self, browser, people, decision):
        interrupt = asked_to_approve(people["ada"])

        response = self.post(browser("ada"), interrupt, decision=decision)

        interrupt.refresh_from_db()
        assert "Choose Approve or Deny." in response.content.decode()
        assert interrupt.status == "open"

    @pytest.mark.parametrize("reason", ["a\x00b", "x" * 20_000])
    def test_answer_of_no_text_or_too_much_is_refused(self, browser, people, reason):
        interrupt = asked_to_approve(people["ada"])

        response = self.post(browser("ada"), interrupt, decision="deny", reason=reason)

        interrupt.refresh_from_db()
        assert response.content.startswith(b'<p class="aia-note"')
        assert interrupt.status == "open"


class TestNoRoom:
    @pytest.fixture
    def full(self, monkeypatch):
        """The database file cannot grow: its thread finds that out when it writes."""

        def accept(*args, **options):
            with connection.cursor() as cursor:
                cursor.execute("VACUUM")  # no page is free for another row
                pages = cursor.execute("PRAGMA page_count").fetchone()[0]
                cursor.execute(f"PRAGMA max_page_count = {pages}")
                try:
                    return real(*args, **options)
                finally:
                    cursor.execute("PRAGMA max_page_count = 1073741823")

        real = service.accept
        monkeypatch.setattr(service, "accept", accept)

    def test_person_is_told_and_nothing_is_stored(self, browser, full):
        fields = form(text="x" * 16_000)

        response = send(browser("ada"), fields, script=True)

        assert response.status_code == 200  # a sentence; the panel keeps the text
        assert "disk is full" in response.text
        assert count() == (0, 0, 0)

    def test_person_without_a_script_is_told(self, browser, full):
        response = send(browser("ada"), form(text="x" * 16_000))

        assert response.status_code == 507
        assert "disk is full" in response.text


class TestNothingWorks:
    @pytest.fixture(autouse=True)
    def _web(self, settings, quiet, people):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "EXECUTOR": "web"}
        ExecutorProcess.objects.all().delete()

    def test_person_is_told_and_nothing_is_stored(self, browser):
        response = send(browser("ada"), form(), script=True)

        assert response.status_code == 200
        assert "no process of this site answers them" in response.text
        assert count() == (0, 0, 0)

    def test_page_says_it_before(self, browser):
        page = browser("ada").get(reverse("ai_assistant:full"))

        assert "no process of this site answers them" in page.text

    def test_panel_goes_on_saying_it(self, browser):
        address = reverse("ai_assistant:context")
        page = browser("ada").get(address, {"path": "/admin/"}, headers=SCRIPT)

        assert "no process of this site answers them" in page.text

    def test_message_that_waits_stays_in_the_queue(self, people, browser):
        run = ask(people["ada"])
        fields = form(conversation=str(run.conversation_id))
        say_present("another|-|-|1|1")
        send(browser("ada"), fields, script=True)
        Run.objects.update(state=RunState.FAILED)
        ExecutorProcess.objects.all().delete()
        queued = QueuedMessage.objects.get()
        wanted = SendNowRequest(
            user_id=people["ada"].pk,
            conversation_id=run.conversation_id,
            stamp=SessionStamp(),
            queued_id=queued.pk,
        )

        with pytest.raises(Refused) as refused:
            asyncio.run(service.send_now(wanted))

        assert refused.value.code == "no_executor"
        assert QueuedMessage.objects.get() == queued

    def test_page_says_nothing_where_another_process_works(self, browser):
        say_present("another|-|-|1|1")

        page = browser("ada").get(reverse("ai_assistant:full"))

        assert "no process of this site answers them" not in page.text
        assert send(browser("ada"), form(), script=True).status_code == 204
