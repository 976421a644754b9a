"""What the assistant is told no more is greyed, and its title says why."""

import uuid

import pytest

import ai_assistant
from ai_assistant.models import Conversation, Message, Run, Step, ToolCall
from ai_assistant.registry import registry
from ai_assistant.render.html.live.projection import Projection
from ai_assistant.render.html.transcript.faded import faded_of
from tests.render.html.tab import panel as drawn_panel
from tests.web.markup import all_with, one_with
from tests.web.panel.test_chips import look

pytestmark = [pytest.mark.usefixtures("quiet"), pytest.mark.row("D09")]
OVER = "The assistant is told this no more: it was for 1 message."


@pytest.fixture
def say(people):
    """Store a message of Ada's with its answer, behind the one before."""
    own = Conversation.objects.create(owner=people["ada"], title="Doors")
    last = []

    def store(text, *, rounds=None, call_rounds=None, **fields):
        run = Run.objects.create(
            conversation=own,
            after=last[-1] if last else None,
            user=people["ada"],
            idempotency_key=uuid.uuid4().hex,
            state="succeeded",
            context_rounds=rounds,
            **fields,
        )
        last.append(run)
        Message.objects.append(Message.said(run, uuid.uuid4().hex, text))
        call_id = uuid.uuid4()
        parts = [{"type": "call", "call_id": str(call_id)}]
        message = Message(conversation=own, run=run, role="assistant", parts=parts)
        Message.objects.append(message)
        step = Step.objects.create(
            run=run, index=0, message=message, finish_reason="stop"
        )
        ToolCall.objects.create(
            pk=call_id,
            run=run,
            step=step,
            position=0,
            name="list_models",
            effect="read",
            status="complete",
            context_rounds=call_rounds,
        )
        return run

    return store


def drawn(browser, run):
    url = f"/assistant/panel/?conversation={run.conversation_id}&path=/admin/"
    return browser("ada").get(url).content.decode()


def faded(html):
    return [(one["id"][:2], one["title"]) for one in all_with(html, data_faded=None)]


class TestConversation:
    def test_message_and_its_answer(self, browser, say):
        say("Night.", rounds=1)
        run = say("More.")

        assert faded(drawn(browser, run)) == [("u-", OVER), ("r-", OVER)]

    def test_result_alone(self, browser, say):
        say("Look.", call_rounds=1)
        run = say("More.")

        assert faded(drawn(browser, run)) == [("c-", OVER)]

    def test_one_that_is_never_told(self, browser, say):
        run = say("Look.", call_rounds=0)

        ((_card, title),) = faded(drawn(browser, run))
        assert title == "The assistant is not told this: it is for you alone."

    def test_what_is_told_still(self, browser, say):
        say("Night.", rounds=2, call_rounds=2)
        run = say("More.")

        assert faded(drawn(browser, run)) == []

    def test_going_on_is_no_message(self, browser, say):
        say("Night.", rounds=1)
        run = say("Go on.", kind="continue")

        assert faded(drawn(browser, run)) == []

    def test_above_what_is_drawn_at_first(self, browser, say):
        early = say("Night.", rounds=5)
        runs = [say(f"Question {number}") for number in range(13)]

        url = (
            f"/assistant/earlier/?conversation={early.conversation_id}"
            f"&before={runs[1].pk}"
        )
        html = browser("ada").get(url).content.decode()

        assert {title[-12:] for _id, title in faded(html)} == {" 5 messages."}

    def test_seen_live_with_the_next_message(self, people, say):
        first = say("Night.", rounds=1)
        own = first.conversation_id, people["ada"].pk
        projection = Projection(*own, drawn_panel())
        projection.attach(first.pk, first.next_seq - 1)

        say("More.")

        html = "".join(op[2] for op in projection.catch_up() if op[0] == "upsert")
        assert [one["title"] for one in all_with(html, data_faded=None)] == [OVER] * 2

    def test_costs_no_query_where_there_is_none(
        self, browser, say, django_assert_num_queries
    ):
        run = say("Hello")
        calls = list(run.calls.all())

        with django_assert_num_queries(0):
            assert faded_of([run], calls, [run.pk]) == {}


class TestChip:
    @pytest.fixture(autouse=True)
    def provider(self):
        with registry.restored():

            @ai_assistant.context(context_rounds=1, title="Prices")
            def prices(context):
                """The prices."""
                return "9.99 a door"

            yield

    def test_greyed_once_it_was_told(self, browser, say):
        client = browser("ada")
        run = say("Hello", page_path="/admin/")
        before = look(client, "/admin/")
        after = look(client, "/admin/", conversation=run.conversation_id)

        assert "data-faded" not in before
        chip = one_with(after, data_item="prices")
        assert chip["title"] == OVER
        assert "aia-on" not in chip["class"]

    def test_again_on_another_page(self, browser, say):
        say("Hello", page_path="/admin/")
        run = say("There", page_path="/admin/auth/")

        html = look(browser("ada"), "/admin/", conversation=run.conversation_id)

        assert "data-faded" not in html

    def test_of_another_ones_conversation_nothing_is_known(self, browser, say):
        run = say("Hello", page_path="/admin/")

        url = f"/assistant/context/?path=/admin/&conversation={run.conversation_id}"
        html = browser("bob").get(url).content.decode()

        assert "data-faded" not in html
