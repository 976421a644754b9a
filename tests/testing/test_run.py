"""A run in the process of a test, as a site's own tests have it."""

import logging
import re
import uuid

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.test import TestCase

import ai_assistant
from ai_assistant import Ask, ModelRetry, RunContext, conf
from ai_assistant.exceptions import ModelError, NotRegistered, Refused
from ai_assistant.models import Run
from ai_assistant.registry import registry
from ai_assistant.testing import (
    ScriptedProvider,
    answer_interrupt,
    assert_tool_called,
    assert_tool_not_called,
    call,
    override_tools,
    reasoning,
    reply,
    run_assistant,
    temporary_registration,
)
from tests.testapp.models import Effect

pytestmark = [pytest.mark.row("E01"), pytest.mark.django_db]


@pytest.fixture
def user():
    return get_user_model().objects.create_superuser("ada", password="x")


@pytest.fixture(autouse=True)
def _registry():
    with temporary_registration():
        yield


def write(key="a"):
    return call("write_effect", {"key": key})


class TestRunAssistant:
    def test_run_assistant_says_what_the_model_says(self, user):
        played = run_assistant(user, "/admin/", "Hello", replies=["Hello Ada."])

        assert (played.state, played.text) == ("succeeded", "Hello Ada.")
        assert played.messages == (("user", "Hello"), ("assistant", "Hello Ada."))
        assert played.run.page_path == "/admin/"
        assert played.interrupts == ()

    def test_run_assistant_keeps_what_the_model_was_asked(self, user, settings):
        settings.AI_ASSISTANT = conf.merged(
            settings.AI_ASSISTANT, {"LIMITS": {"TOOL_SCHEMA_CHARS": 10**6}}
        )
        played = run_assistant(
            user,
            "/admin/",
            "Hello",
            replies=[reply("", call("read_big", {"chars": 3})), "x"],
        )

        assert len(played.requests) == 2
        assert played.requests[1].messages[-1]["role"] == "tool"
        assert "'ada'" in played.prompt
        assert "write_effect" in played.offered

    def test_tool_reads_and_its_result_is_told(self, user):
        played = run_assistant(
            user, "/", "x", replies=[reply("", call("read_big", {"chars": 3})), "Done."]
        )

        (made,) = played.calls
        assert (made.name, made.arguments) == ("read_big", {"chars": 3})
        assert (made.status, made.data) == ("complete", {"text": "xxx"})
        assert "xxx" in made.read_by_model

    def test_async_tool(self, user):
        played = run_assistant(
            user, "/", "x", replies=[reply("", call("slow_read", {"seconds": 0})), "."]
        )

        assert assert_tool_called(played, "slow_read").data == {"seconds": 0.0}

    def test_write_waits_for_approval(self, user):
        played = run_assistant(user, "/", "x", replies=[reply("", write()), "Done."])

        assert played.state == "waiting_approval"
        assert [one.kind for one in played.interrupts] == ["approval"]
        assert not Effect.objects.exists()

    def test_function_plays(self, user):
        async def play(request):
            return f"You said {request.messages[-1]['content']}."

        assert run_assistant(user, "/", "hi", provider=play).text == "You said hi."

    def test_given_provider(self, user):
        script = ScriptedProvider([[reasoning("Hm."), "Yes."]])

        played = run_assistant(user, "/", "x", provider=script)

        assert played.text == "Yes."
        assert len(script.requests) == len(played.requests) == 1

    def test_next_message_of_a_conversation(self, user):
        first = run_assistant(user, "/", "one", replies=["1"])

        second = run_assistant(
            user, "/", "two", replies=["2"], conversation_id=first.run.conversation_id
        )

        said = [m["content"] for m in second.requests[0].messages[1:]]
        assert said == ["one", "1", "two"]

    def test_context_of_the_page(self, user):
        item = {"id": "ticked", "description": "Ticked rows", "value": [1, 2]}

        played = run_assistant(
            user, "/admin/", "x", replies=["."], context={"browser": [item]}
        )

        assert "Ticked rows" in played.prompt

    def test_script_that_is_too_short_is_the_tests_own_failure(self, user):
        with pytest.raises(AssertionError, match="The script has 0 replies"):
            run_assistant(user, "/", "x")

    def test_error_of_the_model_is_the_runs(self, user):
        played = run_assistant(user, "/", "x", replies=[ModelError("bad_key")])

        assert played.state == "failed"
        assert played.error

    def test_who_may_not_use_it(self, django_user_model):
        nobody = django_user_model.objects.create_user("nora", is_staff=True)

        played = run_assistant(nobody, "/", "x", replies=["."])

        assert played.state == "cancelled"
        with pytest.raises(AssertionError, match="The model was never called"):
            _ = played.prompt

    def test_permissions_of_the_user(self, django_user_model):
        nora = django_user_model.objects.create_user("nora", is_staff=True)
        codes = ("view_assistant", "use_assistant")
        nora.user_permissions.set(Permission.objects.filter(codename__in=codes))

        @ai_assistant.tool(effect="read", permission="testapp.view_effect")
        def secret() -> str:
            """Tell it."""
            return "it"

        played = run_assistant(nora, "/", "x", replies=[reply("", call("secret")), "."])

        assert "secret" not in played.offered
        assert assert_tool_called(played, "secret").status == "denied"

    def test_long_tool_is_carried_out(self, user):
        steps = call("background_steps", {"n": 2, "seconds": 0})
        played = run_assistant(user, "/", "x", replies=[reply("", steps), "Done."])

        played = answer_interrupt(played, "approve")

        assert played.state == "succeeded"
        assert assert_tool_called(played, "background_steps").data == {"written": 2}
        assert Effect.objects.count() == 2

    def test_other_runs_are_left_alone(self, user):
        waiting = run_assistant(user, "/", "x", replies=[reply("", write()), "Done."])

        run_assistant(user, "/", "y", replies=["y"])

        waiting.run.refresh_from_db()
        assert waiting.run.state == "waiting_approval"

    def test_settings_are_back(self, user, settings):
        before = settings.AI_ASSISTANT

        run_assistant(user, "/", "x", replies=["."])

        assert settings.AI_ASSISTANT is before


class TestWhatIsNotThere:
    """Mistakes of a test, which a run would pass over."""

    def test_key_of_the_context(self, user):
        with pytest.raises(AssertionError) as failed:
            run_assistant(user, "/", "x", replies=["."], context={"mention": ["a"]})

        assert str(failed.value) == (
            "context has the key 'mention', which no page sends. Did you mean "
            "'mentioned'? Use one of: browser, mentioned, dropped, tools."
        )

    @pytest.mark.parametrize(
        ("context", "told"),
        [
            ({"mentioned": "page"}, "context['mentioned'] is 'page'. Give a list."),
            (
                {"browser": [{"label": "A"}]},
                "context['browser'] has {'label': 'A'}. Give dicts, each with an 'id'.",
            ),
            (
                {"browser": [{"id": "a", "lable": "A"}]},
                "Item 'a' of context['browser'] has the key 'lable', which no page "
                "sends. Did you mean 'label'? Use one of: id, description, value, "
                "label, auto.",
            ),
        ],
    )
    def test_form_of_the_context(self, user, context, told):
        with pytest.raises(AssertionError, match=f"^{re.escape(told)}$"):
            run_assistant(user, "/", "x", replies=["."], context=context)

    @pytest.mark.parametrize("key", ["mentioned", "dropped"])
    def test_id_of_an_item(self, user, key):
        item = {"id": "ticked", "description": "Ticked rows", "value": [1, 2]}
        context = {"browser": [item], key: ["ticked"]}

        with pytest.raises(AssertionError) as failed:
            run_assistant(user, "/admin/", "x", replies=["."], context=context)

        assert str(failed.value) == (
            "context mentions or drops 'ticked', and the page has no such item. The "
            "page has: page, browser.ticked. Items from the browser have 'browser.' "
            "before their id."
        )
        context[key] = ["browser.ticked"]
        run_assistant(user, "/admin/", "x", replies=["."], context=context)

    @pytest.mark.parametrize(
        "path", ["/nowhere/", "//other.example/admin/", "/admin/auth/grup/", "admin/"]
    )
    def test_page(self, user, path):
        with pytest.raises(AssertionError) as failed:
            run_assistant(user, path, "x", replies=["."])

        assert str(failed.value) == (
            f"path is {path!r}, where the site has no page. Give the address as the "
            "browser shows it, for example "
            "reverse('admin:shop_order_change', args=[order.pk])."
        )
        assert not Run.objects.exists()

    def test_page_that_only_leads_on(self, user):
        group = Group.objects.create(name="A")

        with pytest.raises(AssertionError, match="where the site has no page"):
            run_assistant(user, f"/admin/auth/group/{group.pk}/", "x", replies=["."])

    @pytest.mark.parametrize("pk", ["77", "abc"])
    def test_object_of_the_page(self, user, pk):
        with pytest.raises(AssertionError, match=f"no group with the id '{pk}'"):
            run_assistant(user, f"/admin/auth/group/{pk}/change/", "x", replies=["."])

    def test_no_page_at_all(self, user):
        assert run_assistant(user, "", "x", replies=["Hi."]).text == "Hi."

    def test_what_is_not_there_replies_that_are_left_over(self, user):
        replies = [reply("", call("read_big", {"chars": 1})), "Done.", "More.", "More."]

        with pytest.raises(AssertionError) as failed:
            run_assistant(user, "/", "x", replies=replies)

        assert str(failed.value) == (
            "Of 4 replies 2 were not played: the model was called 2 times. Remove "
            "them, or find out why it was not called again. Called were: "
            "read_big(chars=1): complete. The run is 'succeeded'."
        )

    def test_what_is_not_there_replies_that_are_left_over_after_an_answer(self, user):
        replies = [reply("", write()), "Done.", "More."]
        played = run_assistant(user, "/", "x", replies=replies)

        with pytest.raises(AssertionError, match="Of 3 replies 1 were not played"):
            answer_interrupt(played, "approve")

    def test_what_is_not_there_replies_and_a_provider(self, user):
        with pytest.raises(TypeError, match="not both"):
            run_assistant(user, "/", "x", replies=["."], provider=ScriptedProvider())

    def test_provider_of_context_that_fails(self, user):
        @ai_assistant.context()
        def stock(context):
            return {}["gone"]

        with pytest.raises(AssertionError) as failed:
            run_assistant(user, "/admin/", "x", replies=["."])

        assert str(failed.value) == (
            "Context provider 'stock' failed: KeyError: 'gone'. On the site the "
            "message is sent without it."
        )
        assert isinstance(failed.value.__cause__, KeyError)
        assert logging.getLogger("ai_assistant").handlers == []


class TestAnswerInterrupt:
    def test_answer_interrupt_approves(self, user):
        played = run_assistant(user, "/", "x", replies=[reply("", write()), "Done."])

        played = answer_interrupt(played, "approve")

        assert (played.state, played.text) == ("succeeded", "Done.")
        assert Effect.objects.get().key == "a"
        assert len(played.requests) == 2

    def test_answer_interrupt_denies_with_a_reason(self, user):
        played = run_assistant(user, "/", "x", replies=[reply("", write()), "Done."])

        played = answer_interrupt(played, "deny", text="Not today.")

        made = assert_tool_called(played, "write_effect")
        assert (made.status, made.error_type) == ("denied", "denied")
        assert "Not today." in made.error
        assert not Effect.objects.exists()

    def test_answers_a_question(self, user):
        @ai_assistant.tool(effect="read")
        def colour(context: RunContext) -> str:
            """Ask for a colour."""
            if "answer" not in context.answers:
                raise Ask("Which colour?", options=("red", "blue"))
            return context.answers["answer"]

        played = run_assistant(user, "/", "x", replies=[reply("", call("colour")), "."])
        assert played.state == "waiting_answer"

        played = answer_interrupt(played, text="blue")

        assert assert_tool_called(played, "colour").data == "blue"

    def test_answer_interrupt_chooses_several(self, user):
        @ai_assistant.tool(effect="read")
        def colours(context: RunContext) -> list[str]:
            """Ask for colours."""
            if "answer" not in context.answers:
                raise Ask("Which?", options=("red", "blue"), kind="multi_select")
            return context.answers["answer"]

        played = run_assistant(
            user, "/", "x", replies=[reply("", call("colours")), "."]
        )

        played = answer_interrupt(played, chosen=["red", "blue"])

        assert assert_tool_called(played, "colours").data == ["red", "blue"]

    def test_answer_interrupt_skips_a_question(self, user):
        @ai_assistant.tool(effect="read")
        def colour(context: RunContext) -> str:
            """Ask for a colour."""
            raise Ask("Which colour?")

        played = run_assistant(user, "/", "x", replies=[reply("", call("colour")), "."])

        played = answer_interrupt(played, "skip")

        assert assert_tool_called(played, "colour").status == "cancelled"

    def test_nested_call(self, user):
        @ai_assistant.tool(effect="write")
        def outer(context: RunContext) -> object:
            """Write by way of another tool."""
            return context.call_tool("write_effect", key="inner").data

        played = run_assistant(user, "/", "x", replies=[reply("", call("outer")), "."])

        played = answer_interrupt(played, "approve")

        assert Effect.objects.get().key == "inner"
        assert assert_tool_called(played, "write_effect", key="inner")

    def test_plays_the_page_of_a_browser_tool(self, user):
        ai_assistant.tool(effect="ui", browser=True, name="pick")(lambda: None)
        replies = [reply("", call("pick")), reply("", call("pick")), "."]

        played = run_assistant(user, "/admin/", "x", replies=replies)
        assert played.state == "waiting_browser"
        played = answer_interrupt(played, value={"picked": 3})
        played = answer_interrupt(played, text="no such row")

        assert [one.status for one in played.calls] == ["complete", "failed"]
        assert "no such row" in played.calls[1].error

    def test_two_approvals_one_after_the_other(self, user):
        both = reply("", write("a"), write("b"))
        played = run_assistant(user, "/", "x", replies=[both, "Done."])

        played = answer_interrupt(played, "approve")
        assert played.state == "waiting_approval"
        played = answer_interrupt(played, "deny")

        assert played.state == "succeeded"
        assert [one.status for one in played.calls] == ["complete", "denied"]

    def test_nothing_waits(self, user):
        played = run_assistant(user, "/", "x", replies=["."])

        with pytest.raises(AssertionError, match="Nothing waits for an answer"):
            answer_interrupt(played, "approve")

    def test_what_a_person_may_not_say_is_refused(self, user):
        played = run_assistant(user, "/", "x", replies=[reply("", write()), "Done."])

        with pytest.raises(Refused, match="Choose Approve or Deny"):
            answer_interrupt(played)


class TestAssertions:
    @pytest.fixture
    def played(self, user):
        big = call("read_big", {"chars": 3})
        return run_assistant(user, "/", "x", replies=[reply("", big), "."])

    def test_called(self, played):
        assert assert_tool_called(played, "read_big", chars=3) is played.calls[0]
        assert assert_tool_called(played, "read_big") is played.calls[0]

    def test_called_otherwise(self, played):
        with pytest.raises(AssertionError) as failed:
            assert_tool_called(played, "read_big", chars=4)

        assert str(failed.value) == (
            "Tool read_big(chars=4) was not called. Called were: "
            "read_big(chars=3): complete. The run is 'succeeded'."
        )

    def test_nothing_called(self, user):
        played = run_assistant(user, "/", "x", replies=["."])

        with pytest.raises(AssertionError, match="No tool was called"):
            assert_tool_called(played, "read_big")

    def test_assertions_not_called(self, played):
        assert_tool_not_called(played, "read_big", chars=4)
        assert_tool_not_called(played, "other")
        with pytest.raises(AssertionError, match=r"read_big\(chars=3\) was called"):
            assert_tool_not_called(played, "read_big")


class TestOverrideTools:
    def test_override_tools_stands_in_with_all_its_rules(self, user):
        seen = []

        def fake(key: str, value: str = "") -> str:
            seen.append(key)
            return "faked"

        with override_tools(write_effect=fake):
            played = run_assistant(user, "/", "x", replies=[reply("", write()), "."])
            assert played.state == "waiting_approval"
            played = answer_interrupt(played, "approve")

        assert assert_tool_called(played, "write_effect").data == "faked"
        assert seen == ["a"]
        assert not Effect.objects.exists()
        assert registry.tool("write_effect").handler is not fake

    def test_override_tools_as_a_decorator(self, user):
        def refuse(chars: int) -> str:
            raise ModelRetry("Too many.")

        @override_tools(read_big=refuse)
        def test():
            replies = [reply("", call("read_big", {"chars": 1})), "."]
            return run_assistant(user, "/", "x", replies=replies)

        assert assert_tool_called(test(), "read_big").error == "Too many."

    def test_override_tools_needs_neither_hints_nor_context(self, user):
        async def fake(**arguments):
            return arguments

        with override_tools(write_effect=fake, read_big=lambda chars: "big"):
            calls = reply("", write(), call("read_big", {"chars": 1}))
            played = run_assistant(user, "/", "x", replies=[calls, "."])
            played = answer_interrupt(played, "approve")

        assert assert_tool_called(played, "read_big").data == "big"
        made = assert_tool_called(played, "write_effect")
        assert made.data == {"key": "a", "value": ""}

    def test_override_of_an_unregistered_tool_is_refused(self):
        override = override_tools(nothing=print)
        with pytest.raises(NotRegistered, match="'nothing' is not registered"):
            override.__enter__()


class TestTemporaryRegistration:
    def test_temporary_registration_is_undone(self):
        name = f"tool_{uuid.uuid4().hex}"
        with temporary_registration():

            @ai_assistant.tool(effect="read", name=name)
            def own() -> str:
                """Return nothing."""
                return ""

            assert registry.tool(name)

        assert registry.tool(name) is None


class TestDjangosOwnTestCase(TestCase):
    """The base that most sites use: one transaction that is rolled back."""

    def test_djangos_own_test_case_sees_the_rows_of_the_test_and_writes_beside_them(
        self,
    ):
        user = get_user_model().objects.create_superuser("ada", password="x")
        Effect.objects.create(key="before", run=uuid.uuid4())

        played = run_assistant(user, "/", "x", replies=[reply("", write()), "Done."])
        played = answer_interrupt(played, "approve")

        assert played.state == "succeeded"
        keys = Effect.objects.values_list("key", flat=True)
        assert sorted(keys) == ["a", "before"]


@pytest.mark.django_db(transaction=True)
def test_in_a_transactional_test(user):
    played = run_assistant(user, "/", "x", replies=[reply("", write()), "Done."])
    played = answer_interrupt(played, "approve")

    assert played.state == "succeeded"
    assert Effect.objects.count() == 1
