"""A conversation's agent: whose words, model, tools, limits and loop its runs have."""

import pytest
from django.contrib.auth.models import Group

import ai_assistant
from ai_assistant import conf, models
from ai_assistant.configuration.setup import _of_runs
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.loop import Finished, run_loop
from ai_assistant.exceptions import Refused
from ai_assistant.registry import registry
from ai_assistant.testing import ScriptedProvider, call, reply
from tests.docs.blocks import blocks, page
from tests.engine.conftest import said

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("H02")]


@pytest.fixture(autouse=True)
def _restored():
    with registry.restored():
        registry._registry = {
            key: part for key, part in registry._registry.items() if key[0] != "agent"
        }
        yield


@pytest.fixture
def analyst():
    """Register an agent: `analyst(tools="list_*")`."""

    def register(name="analyst", text="You count.", **options):
        ai_assistant.agent(name, **options)(lambda context: text)

    return register


def prompt_of(request):
    return request.messages[0]["content"]


def tool_names(request):
    return {tool["function"]["name"] for tool in request.tools}


class TestAgent:
    def test_instructs_its_runs_alone(self, play, script, analyst):
        analyst()
        script.add("One.", "Two.")

        run = play(agent="analyst")
        play()

        assert "You count." in prompt_of(script.requests[0])
        assert "You count." not in prompt_of(script.requests[1])
        assert run.agent == "analyst"

    def test_row_keeps_its_words_for_a_run_that_another_process_takes(
        self, play, script, offer
    ):
        agent = models.Agent.objects.create(name="writer", label="W", text="Be calm.")

        def move() -> str:
            agent.text = "Be loud."
            agent.save()
            _of_runs.clear()
            return "moved"

        offer(move)
        script.add(reply("", call("move")), "Done.", "Done.")

        first = play(agent="writer")
        play("And?", conversation_id=first.conversation_id)

        said = ["Be calm." in prompt_of(one) for one in script.requests]
        assert said == [True, True, False]

    def test_stays_that_of_the_conversation(self, play, script, analyst):
        analyst()
        script.add("One.", "Two.", "Three.")

        first = play(agent="analyst")
        second = play("And?", conversation_id=first.conversation_id)
        third = play("And?", conversation_id=first.conversation_id, agent="")

        assert [first.agent, second.agent, third.agent] == ["analyst", "analyst", ""]

    @pytest.mark.row("V07")
    def test_has_the_model_of_its_profile(self, play, options, script, analyst):
        small = ScriptedProvider(["Small."])
        own = {"PROVIDER": "ai_assistant.testing.ScriptedProvider"}
        options(
            PROFILES={
                "default": {**own, "MODEL": "large", "SCRIPT": script},
                "small": {**own, "MODEL": "small", "SCRIPT": small},
                "other": {**own, "MODEL": "other", "SCRIPT": script, "LABEL": "Other"},
            }
        )
        analyst(profile="small")
        script.add("Other.")

        assert said(play(agent="analyst")) == "Small."
        # What a person chooses goes before it.
        assert said(play(agent="analyst", profile="other")) == "Other."

    def test_is_left_the_tools_of_its_patterns(self, play, script, analyst, offer):
        def count_orders() -> int:
            """Count."""
            return 3

        def drop_orders() -> int:
            """Drop."""
            raise AssertionError("the agent has no such tool")

        offer(count_orders)
        offer(drop_orders)
        analyst(tools="count_*")
        script.add(reply("", call("drop_orders"), call("count_orders")), "Done.")

        run = play(agent="analyst")

        assert "count_orders" in tool_names(script.requests[0])
        assert "drop_orders" not in tool_names(script.requests[0])
        assert "search_objects" not in tool_names(script.requests[0])
        calls = run.calls.order_by("position").values_list("name", "status")
        assert "does without" in run.calls.get(name="drop_orders").result["error"]
        assert list(calls) == [("drop_orders", "denied"), ("count_orders", "complete")]

    def test_grants_no_tool_that_the_user_may_not_call(
        self, play, script, analyst, offer, staff
    ):
        def drop_orders() -> int:
            """Drop."""
            raise AssertionError("not permitted")

        offer(drop_orders, permission="auth.delete_user")
        analyst(tools="*")
        script.add(reply("", call("drop_orders")), "Done.")

        run = play(agent="analyst", user_id=staff.pk)

        assert "drop_orders" not in tool_names(script.requests[0])
        assert run.calls.get().status != "complete"

    def test_limits_its_steps(self, play, script, analyst, offer):
        def look() -> str:
            """Look."""
            return "seen"

        offer(look)
        analyst(steps=2)
        script.add(reply("", call("look")), reply("", call("look")))

        run = play(agent="analyst")

        assert (run.state, run.error_code) == ("limited", "limit_steps")
        assert "2" in run.error_text

    def test_has_its_own_loop(self, play, script, analyst):
        seen = []

        @ai_assistant.loop("counting")
        async def counting(model, calls, state, limits, *, is_answer):
            async for item in run_loop(
                model, calls, state, limits, is_answer=is_answer
            ):
                if isinstance(item, Finished):
                    seen.append(item.outcome)
                yield item

        analyst(loop="counting")
        script.add("One.")

        assert said(play(agent="analyst")) == "One."
        assert seen == ["succeeded"]

    def test_works_in_its_modules_alone(self, play, script, analyst):
        class UserModule(ai_assistant.ContextModule):
            matches = ("admin:auth_user_*",)
            prompt = "Users come here."

        ai_assistant.register(UserModule)
        analyst(modules="order*")
        script.add("One.", "Two.")

        play(page_path="/admin/auth/user/")
        play(page_path="/admin/auth/user/", agent="analyst")

        assert "Users come here." in prompt_of(script.requests[0])
        assert "Users come here." not in prompt_of(script.requests[1])

    def test_hook_may_be_of_an_agent(self, play, script, analyst):
        told = []
        ai_assistant.hook("run_finished", agent="anal*", name="noting")(
            lambda context, ended: told.append(context.agent)
        )
        analyst()
        script.add("One.", "Two.")

        play()
        play(agent="analyst")

        assert told == ["analyst"]


class TestUnavailable:
    def test_unknown_one_is_refused_before_anything_is_stored(self, submission):
        with pytest.raises(Refused) as refused:
            accept(submission(agent="gone\x00"), owner="")

        assert refused.value.code == "no_agent"
        assert not models.Conversation.objects.exists()

    def test_conversation_of_one_that_is_gone_says_so(self, play, script, analyst):
        analyst()
        script.add("One.", "Two.")
        first = play(agent="analyst")
        registry._remove("agent", "analyst")
        analyst("other")

        with pytest.raises(Refused) as refused:
            play("And?", conversation_id=first.conversation_id)

        assert refused.value.code == "no_agent"
        later = play("And?", conversation_id=first.conversation_id, agent="")
        assert said(later) == "Two."

    @pytest.mark.parametrize("limit", [{"permission": "auth.add_user"}, {"group": "A"}])
    def test_user_who_may_not_use_it_is_told(self, play, script, analyst, staff, limit):
        analyst(**limit)

        run = play(agent="analyst", user_id=staff.pk)

        assert (run.state, run.error_code) == ("failed", "no_agent")
        assert script.requests == []

    def test_member_who_leaves_the_group_loses_it_at_the_next_step(
        self, play, script, analyst, offer, staff
    ):
        group = Group.objects.create(name="A")
        staff.groups.add(group)

        def leave() -> str:
            """Leave."""
            staff.groups.clear()
            return "left"

        offer(leave)
        analyst(group="A")
        script.add(reply("", call("leave")), "Never said.")

        run = play(agent="analyst", user_id=staff.pk)

        assert (run.state, run.error_code) == ("failed", "no_agent")
        assert len(script.requests) == 1

    def test_loop_that_is_gone(self, play, analyst):
        analyst(loop="gone")

        assert play(agent="analyst").error_code == "no_agent"

    def test_profile_that_is_gone(self, play, analyst):
        analyst(profile="gone")

        assert play(agent="analyst").error_code == "not_configured"

    def test_words_that_raise_are_left_out(self, play, script):
        @ai_assistant.agent("broken")
        def broken(context):
            raise ValueError("no words")

        script.add("One.")

        assert said(play(agent="broken")) == "One."


class TestRows:
    def test_row_is_an_agent(self, play, script):
        models.Agent.objects.create(name="analyst", text="You count.", tools="list_*")
        script.add("One.")

        play(agent="analyst")

        assert "You count." in prompt_of(script.requests[0])

    def test_row_takes_the_place_of_one_in_code(self, play, script, analyst):
        analyst()
        models.Agent.objects.create(name="analyst", text="You add.")
        script.add("One.")

        play(agent="analyst")

        assert "You add." in prompt_of(script.requests[0])
        assert "You count." not in prompt_of(script.requests[0])

    def test_inactive_row_switches_one_off(self, submission, analyst):
        analyst()
        models.Agent.objects.create(name="analyst", is_active=False)

        with pytest.raises(Refused):
            accept(submission(agent="analyst"), owner="")

    @pytest.mark.parametrize("field", ["profile", "loop"])
    def test_names_only_what_there_is(self, field):
        from django.core.exceptions import ValidationError

        with pytest.raises(ValidationError) as invalid:
            models.Agent.objects.create(name="analyst", **{field: "gone"})

        assert "There is no “gone”" in str(invalid.value)


class TestPage:
    """The examples of docs/agents.md."""

    @pytest.fixture
    def documented(self):
        for block in blocks(page("docs/agents.md")):
            names = {
                "ai_assistant": ai_assistant,
                "RunContext": ai_assistant.RunContext,
            }
            exec(block.code, {**names, "__name__": "docs.assistant"})  # noqa: S102

    @pytest.mark.usefixtures("documented")
    def test_analyst_has_its_words_and_tools(self, play, options, script, user):
        profiles = dict.fromkeys(["default", "large"], conf.profile())
        options(PROFILES=profiles)
        user.groups.add(Group.objects.create(name="Management"))
        script.add("One.")

        play(agent="analyst")

        assert "Count with the tools." in prompt_of(script.requests[0])
        assert not any(
            name.startswith("change") for name in tool_names(script.requests[0])
        )

    @pytest.mark.usefixtures("documented")
    def test_loop_ends_after_one_look(self, play, script, analyst, offer):
        def look() -> str:
            """Look."""
            return "seen"

        offer(look)
        analyst("looking", loop="one-look")
        script.add(reply("", call("look")), reply("", call("look")))

        assert play(agent="looking").error_code == "limit_steps"


class TestRegistering:
    def test_name_that_cannot_be_used(self):
        with pytest.raises(ValueError, match="Sales Analyst"):
            ai_assistant.agent("Sales Analyst")(lambda context: "")

    def test_forgotten_parentheses(self):
        with pytest.raises(TypeError, match="with parentheses"):
            ai_assistant.agent(lambda context: "")

    def test_loop_that_is_no_async_generator(self):
        with pytest.raises(TypeError, match="async generator"):
            ai_assistant.loop("plain")(lambda: None)
