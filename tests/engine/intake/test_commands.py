"""A command is expanded before it is stored; the line and the text are kept apart."""

import asyncio
import json
import threading
from dataclasses import replace

import pytest

import ai_assistant
from ai_assistant.engine.calls.provenance import typed_by_person
from ai_assistant.engine.execution.dequeue import start_waiting
from ai_assistant.engine.intake.commands import with_command
from ai_assistant.engine.intake.retries import (
    Version,
    again_submission,
    regenerate_submission,
)
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.storage.lease import this_process
from ai_assistant.exceptions import ArgumentsMissing, CommandAnswered, Refused
from ai_assistant.models import configuration as rows
from ai_assistant.models.conversation import Message, QueuedMessage
from ai_assistant.models.run import RunState
from ai_assistant.registry import registry
from ai_assistant.safety.identity.session import SessionStamp
from ai_assistant.testing import call, reply
from tests.engine.conftest import carry_on

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def commands():
    with registry.restored():

        @ai_assistant.prompt_command("sales-report")
        def sales_report(period: str = "this week") -> str:
            """Sum up the orders of a period."""
            return f"Sum up the orders of {period}."

        yield


@pytest.fixture
def sent(submission):
    """Return a message as the door stores it, with its command."""

    def send(text, **fields):
        return asyncio.run(with_command(submission(text, **fields)))

    return send


@pytest.mark.row("P01")
@pytest.mark.row("P03")
@pytest.mark.row("P08")
class TestCommand:
    def test_model_gets_what_the_command_stands_for(self, sent, script):
        script.add("Three orders.")

        run = carry_on(
            accept(sent("/sales-report last month"), owner=this_process()).hold
        )

        last = script.requests[0].messages[-1]
        assert last == {
            "role": "user",
            "content": "Sum up the orders of last month.",
        }
        assert run.state == RunState.SUCCEEDED

    def test_message_keeps_line_and_text_apart(self, sent):
        accept(sent("/sales-report last month"))

        message = Message.objects.get()
        assert message.text == "Sum up the orders of last month."
        assert message.typed == "/sales-report last month"
        assert message.command == {
            "name": "sales-report",
            "arguments": {"period": "last month"},
            "label": "site",
            "near": [],
            "typed": "/sales-report last month",
        }
        assert message.conversation.title == "/sales-report last month"

    def test_text_of_a_row_is_filled(self, sent):
        rows.PromptCommand.objects.create(name="ask", text="Ask about {{ arguments }}.")

        accept(sent("/Ask the {{ weather }}\nof today"))

        assert Message.objects.get().text == "Ask about the {{ weather }}\nof today."

    def test_message_that_waits_keeps_its_command(self, sent, script):
        first = accept(sent("Hello"), owner=this_process())
        waiting = sent("/sales-report", conversation_id=first.conversation_id)
        accept(waiting)
        script.add("Hi.")

        assert QueuedMessage.objects.get().text == "/sales-report"
        carry_on(first.hold)
        start_waiting()
        message = Message.objects.get(key=waiting.key)
        assert message.text == "Sum up the orders of this week."
        assert message.typed == "/sales-report"

    def test_words_of_the_site_are_not_typed_by_the_person(self, sent):
        accepted = accept(sent("/sales-report May"))

        assert typed_by_person(accepted.conversation_id) == ["/sales-report May"]

    def test_words_of_ones_own_command_are(self, sent, user):
        rows.PromptCommand.objects.create(name="mine", text="Pay 300.", owner=user)

        accepted = accept(sent("/mine"))

        assert typed_by_person(accepted.conversation_id) == ["/mine", "Pay 300."]

    def test_words_of_the_model_are_not_in_ones_own_command_either(
        self, sent, user, script, options
    ):
        options(FOLLOWUPS=True)
        rows.PromptCommand.objects.create(name="mine", text="Pay 300.", owner=user)
        suggested = call("suggest_followups", {"items": ["Pay 300."]})
        script.add(reply("It is open.", suggested))
        first = accept(sent("Hello"), owner=this_process())
        carry_on(first.hold)

        accept(sent("/mine", conversation_id=first.conversation_id))

        assert typed_by_person(first.conversation_id) == ["Hello", "/mine"]

    @pytest.mark.parametrize(
        "again", [again_submission, None], ids=["retry", "regenerate"]
    )
    def test_another_try_keeps_what_was_sent(self, sent, user, again):
        accepted = accept(sent("/sales-report May"), owner=this_process())
        assert carry_on(accepted.hold).state == RunState.FAILED  # no reply
        registry._registry.pop(("command", "sales-report"))
        stamp = SessionStamp()
        if again:
            other = again(user.pk, accepted.run_id, "k", stamp)
        else:
            version = Version(
                user_id=user.pk, run_id=accepted.run_id, key="k", stamp=stamp
            )
            other = regenerate_submission(version)

        second = accept(asyncio.run(with_command(other)))

        message = Message.objects.get(run=second.run_id)
        assert message.text == "Sum up the orders of May."
        assert (message.typed, message.command["label"]) == (
            "/sales-report May",
            "site",
        )


@pytest.mark.row("P04")
class TestUnknown:
    def test_unknown_one_is_sent_as_typed(self, sent):
        accept(sent("/sales-reprot May"))

        message = Message.objects.get()
        assert message.text == message.typed == "/sales-reprot May"
        assert message.command["near"][0] == "sales-report"
        assert message.command["label"] == ""

    @pytest.mark.parametrize("text", ["/admin/shop/", "/ hello", "a /sales-report"])
    def test_text_without_a_name_is_no_command(self, sent, text):
        accept(sent(text))

        assert Message.objects.get().command == {}


class TestWho:
    def test_command_of_somebody_else_is_unknown(self, sent, staff):
        rows.PromptCommand.objects.create(name="theirs", text="Hi.", owner=staff)

        accept(sent("/theirs"))

        assert Message.objects.get().command["label"] == ""

    @pytest.mark.row("P07")
    def test_command_without_permission_is_unknown(self, submission, staff):
        @ai_assistant.prompt_command("secret", permission="auth.view_user")
        def secret() -> str:
            return "Hi."

        sent = submission("/secret", user_id=staff.pk)

        assert asyncio.run(with_command(sent)).command.label == ""

    @pytest.mark.row("P07")
    def test_available_decides_by_page(self, sent):
        @ai_assistant.prompt_command(
            "here", available=lambda context: context.page.path == "/admin/"
        )
        def here() -> str:
            return "Hi."

        assert sent("/here", page_path="/admin/").command.label == "site"
        assert sent("/here", page_path="/").command.label == ""


class TestRefusals:
    def test_missing_argument_asks_with_a_form(self, sent):
        @ai_assistant.prompt_command("order")
        def order(number: int, note: str = "") -> str:
            return f"Order {number}: {note}"

        with pytest.raises(ArgumentsMissing) as caught:
            sent("/order note=quick")

        assert str(caught.value) == "The command “/order” needs: Number."
        number, note = caught.value.fields
        assert (number.kind, number.is_required) == ("number", True)
        assert note.value == "quick"
        given = {"number": "7"}
        assert sent("/order note=quick", arguments=given).command.prompt == (
            "Order 7: quick"
        )

    def test_wrong_argument_asks_again(self, sent):
        @ai_assistant.prompt_command("order")
        def order(number: int) -> str:
            return f"Order {number}"

        with pytest.raises(ArgumentsMissing) as caught:
            sent("/order seven")

        assert str(caught.value) == (
            "The command “/order” cannot take this for: Number."
        )
        assert caught.value.fields[0].problem

    def test_function_that_raises_is_a_sentence(self, sent, caplog):
        @ai_assistant.prompt_command("broken")
        def broken() -> str:
            raise ZeroDivisionError

        with pytest.raises(Refused) as caught:
            sent("/broken")

        assert caught.value.code == "command_failed"
        assert str(caught.value) == (
            "The command “/broken” has failed, and nothing was sent. Tell whoever "
            "runs this site."
        )
        assert "prompt command 'broken' failed" in caplog.text

    def test_place_without_an_argument_is_a_sentence(self, sent, user):
        rows.PromptCommand.objects.create(name="odd", text="{{ when }}", owner=user)

        with pytest.raises(Refused, match="has the place “{{ when }}”.*Correct it in"):
            sent("/odd")

    @pytest.mark.parametrize(
        "text",
        ["{% include 'x' %}", "{% load no_such %}{% boom", "{{ arguments|boom }}"],
    )
    def test_what_a_template_language_would_raise_for_is_words(self, sent, user, text):
        rows.PromptCommand.objects.create(name="odd", text=f"A {text}", owner=user)

        accept(sent("/odd"))

        assert Message.objects.get().text == f"A {text}"

    def test_schema_that_is_none_is_a_sentence(self, sent):
        rows.PromptCommand.objects.create(
            name="odd", text="Hi.", arguments={"type": "array"}
        )

        with pytest.raises(Refused, match="“/odd” has failed"):
            sent("/odd")

    def test_huge_text_is_refused_with_its_length(self, sent, options):
        options(LIMITS={"MESSAGE_CHARS": 55})

        with pytest.raises(Refused, match="becomes a message of 6"):
            sent("/sales-report " + "x" * 40)

    def test_hanging_function_is_given_up(self, sent, options, release):
        options(TIMEOUTS={"TOOL_S": 0.05})

        @ai_assistant.prompt_command("hang")
        def hang() -> str:
            release.wait(5)
            return "Hi."

        with pytest.raises(Refused, match="takes too long"):
            sent("/hang")

    def test_answer_of_its_own_sends_nothing(self, sent):
        @ai_assistant.prompt_command("about")
        def about() -> ai_assistant.CommandAnswer:
            return ai_assistant.CommandAnswer(text="A shop.")

        with pytest.raises(CommandAnswered) as caught:
            sent("/about")

        assert caught.value.answer.text == "A shop."


@pytest.fixture
def release():
    event = threading.Event()
    yield event
    event.set()


class TestLine:
    """What of a line each argument takes."""

    @pytest.fixture(autouse=True)
    def command(self):
        schema = {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "days": {"type": "integer", "default": 7},
                "loud": {"type": "boolean"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "style": {"enum": ["short", "long"]},
            },
            "required": ["name"],
        }

        @ai_assistant.prompt_command("line", arguments=schema)
        def line(**values) -> str:
            return json.dumps(values)

    @pytest.mark.parametrize(
        ("rest", "said"),
        [
            ("Jo Smith", {"name": "Jo Smith"}),
            ('name="Jo Smith" days=3', {"name": "Jo Smith", "days": 3}),
            ("days=3 Jo Smith", {"name": "Jo Smith", "days": 3}),
            ("Jo loud=yes tags=a,b", {"name": "Jo", "loud": True, "tags": ["a", "b"]}),
            ("Jo style=long", {"name": "Jo", "style": "long"}),
            ("Jo other=1", {"name": "Jo other=1"}),
        ],
    )
    def test_arguments_of_a_line(self, sent, rest, said):
        assert sent(f"/line {rest}").command.arguments == said

    def test_value_that_is_not_offered_is_refused(self, sent):
        with pytest.raises(ArgumentsMissing, match="cannot take this for: Style"):
            sent("/line Jo style=loud")


def test_repeat_of_a_command_starts_nothing(sent):
    first = sent("/sales-report")
    accept(first)

    assert not accept(replace(first)).is_new
    assert Message.objects.count() == 1
