"""What a run is bound to, and which tools it may call: also when they are called."""

from uuid import uuid4

import pytest
from django.contrib.auth import get_user_model

import ai_assistant
from ai_assistant import ContextModule, conf
from ai_assistant.context.page import page_info
from ai_assistant.engine.calls.availability import told_tools, tools_of
from ai_assistant.engine.lifecycle.scope import RunScope, kept_of, module_prompt
from ai_assistant.models.run import Run
from ai_assistant.modules.resolve import module_for, module_ids
from ai_assistant.registry import registry
from ai_assistant.testing import (
    ScriptedProvider,
    answer_interrupt,
    assert_tool_called,
    call,
    reply,
    run_assistant,
    stage,
)
from ai_assistant.testing.recorded import Recording
from project.questionnaires.models import Questionnaire

pytestmark = pytest.mark.django_db

LIST = "/admin/questionnaires/questionnaire/"


@pytest.fixture
def user():
    return get_user_model().objects.create_superuser("ada", password="x")


@pytest.fixture(autouse=True)
def _registry(settings):
    settings.AI_ASSISTANT = conf.merged(
        settings.AI_ASSISTANT, {"LIMITS": {"TOOL_SCHEMA_CHARS": 10**6}, "POLICY": {}}
    )
    with registry.restored():
        for kind, name in list(registry._registry):
            registry._remove(kind, name)
        yield


@pytest.fixture
def look():
    @ai_assistant.tool(effect="read")
    def look() -> str:
        """Look at it."""
        return "seen"

    return look


@pytest.fixture
def change():
    @ai_assistant.tool(effect="write", policy="allow")
    def change() -> str:
        """Change it."""
        Questionnaire.objects.create(title="changed")
        return "changed"

    return change


def register(**parts):
    parts = {"id": "own", "matches": ["admin:questionnaires_*"], **parts}
    return ai_assistant.register(type("OwnModule", (ContextModule,), parts))


def scope(user, path=LIST, **fields):
    fields.setdefault("module", module_for(page_info(path).view_name).id)
    return RunScope(Run(page_path=path, **fields), user)


def names(tools):
    return [tool.name for tool in tools]


@pytest.mark.row("M05")
class TestToolsOf:
    def test_all_where_no_module_names_any(self, user, look, change):
        assert names(tools_of(scope(user))) == ["look", "change"]

    def test_tool_of_a_module_is_there_only(self, user, look, change):
        register(tools=[change])

        assert names(tools_of(scope(user))) == ["change", "look"]
        assert names(tools_of(scope(user, "/admin/"))) == ["look"]

    def test_shared_is_everywhere(self, user):
        ai_assistant.tool(effect="read", name="both", shared=True)(lambda: 1)
        register(tools=["both"])

        assert names(tools_of(scope(user, "/admin/"))) == ["both"]

    def test_own_tool_stands_in_for_a_shared_one(self, user, look, change):
        register(tools=[change], overrides={"look": "change"})

        assert names(tools_of(scope(user))) == ["change"]

    def test_unknown_name_is_left_out(self, user, look):
        register(tools=["gone"])

        assert names(tools_of(scope(user))) == ["look"]

    def test_get_tools_returns_some_of_its_own_only(self, user, look, change):
        register(tools=[change], get_tools=lambda self, context: [look])

        assert names(tools_of(scope(user))) == ["look"]
        shared = told_tools(scope(user, "/admin/"))
        assert names(shared) == ["look"]

    def test_get_tools_that_raises(self, user, look, change):
        register(tools=[change], get_tools=lambda self, context: 1 / 0)

        assert names(tools_of(scope(user))) == ["change", "look"]

    @pytest.mark.parametrize("enabled", [True, False])
    def test_tools_of_is_enabled(self, user, enabled):
        ai_assistant.tool(effect="read", name="x", is_enabled=lambda _: enabled)(
            lambda: 1
        )

        assert names(tools_of(scope(user))) == ["x"] * enabled

    def test_tools_of_is_enabled_gets_the_page(self, user):
        asked = []
        ai_assistant.tool(effect="read", name="x", is_enabled=asked.append)(lambda: 1)

        tools_of(scope(user))

        assert asked[0].page.model_name == "questionnaire"
        assert (asked[0].user, asked[0].module) == (user, "admin-list")

    def test_tools_of_is_enabled_that_raises(self, user):
        ai_assistant.tool(effect="read", name="x", is_enabled=lambda _: 1 / 0)(
            lambda: 1
        )

        assert tools_of(scope(user)) == []

    def test_render_only_is_not_offered(self, user):
        ai_assistant.tool(effect="ui", name="x", renders_only=True)(lambda: 1)

        assert tools_of(scope(user)) == []

    def test_what_the_site_denies(self, user, look, settings):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "POLICY": {"look": "deny"}}

        assert tools_of(scope(user)) == []

    def test_what_the_user_may_not(self, django_user_model):
        ai_assistant.tool(effect="read", name="x", permission="auth.add_user")(
            lambda: 1
        )

        assert tools_of(scope(django_user_model.objects.create_user("bo"))) == []

    def test_many_are_not_all_told(self, user, look, change, settings):
        settings.AI_ASSISTANT = conf.merged(
            settings.AI_ASSISTANT, {"LIMITS": {"TOOL_SCHEMA_CHARS": 10}}
        )
        register(tools=[change])

        assert names(told_tools(scope(user))) == ["change"]

        run = run_assistant(user, LIST, "x", replies=["."]).run
        Run.objects.filter(pk=run.pk).update(loaded_tools=["look"])
        assert names(told_tools(RunScope(run, user))) == ["change", "look"]


@pytest.mark.row("M02")
class TestReadOnly:
    def test_read_only_hides_what_writes(self, user, look, change):
        register(read_only=True)

        assert names(tools_of(scope(user))) == ["look"]

    def test_guard_may_be_off(self, user, change):
        register(read_only=True, features={"read_only_guard": False})

        assert names(tools_of(scope(user))) == ["change"]

    def test_rule_that_raises_is_read_only(self, user, look, change):
        register(is_read_only=lambda self, context: 1 / 0)

        assert names(tools_of(scope(user))) == ["look"]

    def test_history_page_keeps_nothing_from_being_changed(self, user, look, change):
        found = tools_of(scope(user, f"{LIST}1/history/"))

        assert names(found) == ["look", "change"]

    def test_read_only_refuses_a_call_all_the_same(self, user, change):
        register(read_only=True)

        played = run_assistant(
            user, LIST, "x", replies=[reply("", call("change")), "No."]
        )

        made = assert_tool_called(played, "change")
        assert made.status != "complete"
        assert not Questionnaire.objects.exists()
        assert "Nothing can be changed on this page." in played.prompt

    def test_read_only_refuses_what_was_approved_before(self, user):
        closed = []
        register(is_read_only=lambda self, context: bool(closed))

        @ai_assistant.tool(effect="write")
        def change() -> str:
            """Change it."""
            Questionnaire.objects.create(title="changed")
            return ""

        played = run_assistant(
            user, LIST, "x", replies=[reply("", call("change")), "No."]
        )
        assert played.state == "waiting_approval"
        closed.append(True)

        played = answer_interrupt(played, "approve")

        made = assert_tool_called(played, "change")
        assert (made.status, made.error_type) != ("complete", "")
        assert "Nothing can be changed" in made.error
        assert not Questionnaire.objects.exists()


@pytest.mark.row("M04")
class TestRunIsFixed:
    def test_run_is_fixed_to_the_module_of_its_start(self, user):
        register(prompt="The first.", matches=["admin:questionnaires_*"])

        async def play(request):
            if len(request.messages) == 2:
                with_more = {"id": "new", "prompt": "The second."}
                register(**with_more, matches=["admin:questionnaires_questionnaire_*"])
                return reply("", call("none_such"))
            return "Done."

        played = run_assistant(user, LIST, "x", provider=play)

        assert played.run.module == "own"
        assert "The first." in played.prompt
        assert "The second." not in played.prompt

    def test_run_is_fixed_goes_on_when_its_module_is_gone(self, user):
        register(prompt="The first.")

        async def play(request):
            if len(request.messages) == 2:
                registry._remove("module", "own")
                return reply("", call("none_such"))
            return "Done."

        played = run_assistant(user, LIST, "x", provider=play)

        assert played.state == "succeeded"
        assert "The first." not in played.prompt


@pytest.mark.row("M11")
class TestModulePrompt:
    def test_module_prompt_is_asked_before_each_step(self, user, look):
        asked = []

        def get_prompt(self, context):
            asked.append(context.page.action)
            return f"Asked {len(asked)} times."

        register(get_prompt=get_prompt)

        played = run_assistant(user, LIST, "x", replies=[reply("", call("look")), "."])

        assert asked == ["changelist", "changelist"]
        assert "Asked 2 times." in played.prompt

    def test_module_prompt_that_raises_is_left_out(self, user):
        register(get_prompt=lambda self, context: 1 / 0)

        assert module_prompt(scope(user)) == ""

    @pytest.mark.row("M11")
    def test_module_prompt_is_bounded_and_says_so_in_the_log(self, user, caplog):
        register(get_prompt=lambda self, context: "x" * 20_000)

        assert len(module_prompt(scope(user))) == 8000
        assert "'own' has 20000 characters, and is cut at 8000" in caplog.text

    @pytest.mark.row("T13")
    @pytest.mark.row("B05")
    def test_hints_of_the_tools_that_are_offered(self, user):
        for name in ("a", "b"):
            ai_assistant.tool(effect="read", name=name, prompt_hint="Look first.")(
                lambda: 1
            )
        ai_assistant.tool(
            effect="read", name="c", prompt_hint="Never.", is_enabled=lambda _: False
        )(lambda: 1)

        prompt = run_assistant(user, LIST, "x", replies=["."]).prompt

        assert prompt.count("- Look first.") == 1
        assert "Never." not in prompt


class TestItems:
    def test_items_of_the_page_stand_last(self, user):
        prompt = run_assistant(user, f"{LIST}?q=weekly", "x", replies=["."]).prompt

        assert '"value": "weekly"' in prompt
        assert prompt.endswith("</page>")

    def test_what_was_dropped_is_not_sent(self, user):
        played = run_assistant(
            user,
            f"{LIST}?q=weekly",
            "x",
            replies=["."],
            context={"dropped": ["search"]},
        )

        assert "weekly" not in played.prompt

    def test_what_was_mentioned_is_sent(self, user):
        ai_assistant.context(name="extra", auto=False)(lambda context: "the value")

        without = run_assistant(user, LIST, "x", replies=["."])
        mentioned = run_assistant(
            user, LIST, "x", replies=["."], context={"mentioned": ["extra"]}
        )

        assert "the value" not in without.prompt
        assert "the value" in mentioned.prompt

    def test_provider_that_raises_ends_no_run(self, user):
        ai_assistant.context(name="broken")(lambda context: 1 / 0)

        with pytest.raises(AssertionError, match="Context provider 'broken' failed"):
            run_assistant(user, LIST, "x", replies=["Fine."])

        run = Run.objects.get()
        assert run.state == "succeeded"
        assert run.messages.get(role="assistant").text == "Fine."

    @pytest.mark.parametrize("path", ["//[/", "//other.example/admin/", "/nowhere/"])
    def test_path_of_no_page_ends_no_run(self, user, path):
        played = stage.play(
            user,
            Recording(provider=ScriptedProvider(["Fine."])),
            text="x",
            path=path,
            conversation_id=uuid4(),
        )

        assert (played.text, played.run.module) == ("Fine.", "default")

    def test_kept_of_nothing(self):
        kept = kept_of({})

        assert (kept.dropped, kept.mentioned, kept.browser) == (
            frozenset(),
            frozenset(),
            (),
        )


class TestClosedPage:
    """A path is said by the browser: what belongs to the page is not given for it."""

    @pytest.fixture
    def nora(self):
        return get_user_model().objects.create_user("nora", is_staff=True)

    def test_closed_page_has_no_module(self, user, nora, look):
        register(tools=[look], prompt="Private.")

        assert names(tools_of(scope(user))) == ["look"]
        closed = scope(nora)
        assert not closed.is_page_open
        assert (closed.module.id, closed.context.module) == ("default", "default")
        assert (tools_of(closed), module_prompt(closed)) == ([], "")

    def test_closed_page_stays_read_only(self, nora, look):
        register(tools=[look], read_only=True)

        assert scope(nora).is_read_only

    def test_closed_page_costs_nothing_without_code_of_the_site(
        self, nora, django_assert_num_queries
    ):
        module_ids()  # the rows of modules, which a process has read

        with django_assert_num_queries(0):
            assert scope(nora).is_page_open
