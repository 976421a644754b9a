"""Which tools the model is told of, and which it has to look for."""

import pytest

from ai_assistant import conf
from ai_assistant.engine.calls.availability import (
    ALWAYS_TOLD,
    BUILT_IN_CHARS,
    OF_API,
    told_tools,
    tools_of,
)
from ai_assistant.engine.intake.submission import MOST_LOADED
from ai_assistant.engine.lifecycle.scope import RunScope
from ai_assistant.models.run import Run
from ai_assistant.registry import registry
from ai_assistant.testing import call, reply
from ai_assistant.tools.model_schema import schema_chars
from tests.engine.conftest import statuses
from tests.web.doors import OF_PAGE

pytestmark = pytest.mark.django_db(transaction=True)


def names(request):
    return {tool["function"]["name"] for tool in request.tools}


@pytest.mark.row("T05")
class TestIsEnabled:
    @pytest.fixture(autouse=True)
    def _all_are_told(self, options):
        options(LIMITS={"TOOL_SCHEMA_CHARS": 1_000_000})

    def test_is_enabled_is_asked_before_each_step(self, play, script, offer):
        on = []
        offer(lambda: on.append(1), name="switch")
        offer(lambda: 1, name="lamp", is_enabled=lambda context: bool(on))
        script.add(reply("", call("switch")), "Done.")

        play()

        assert "lamp" not in names(script.requests[0])
        assert "lamp" in names(script.requests[1])

    def test_and_of_a_call_that_nobody_offered(self, play, script, offer):
        offer(lambda: 1, name="lamp", is_enabled=lambda context: False)
        script.add(reply("", call("lamp")), "I see.")

        run = play()

        assert statuses(run) == ["denied"]
        assert run.calls.get().result["error_type"] == "not_here"

    def test_and_when_it_is_carried_out(self, play, script, offer):
        answers = iter([True, False, False])
        offer(lambda: 1, name="lamp", is_enabled=lambda context: next(answers))
        script.add(reply("", call("lamp")), "I see.")

        run = play()

        assert statuses(run) == ["denied"]
        assert run.calls.get().result["error_type"] == "not_here"

    def test_is_enabled_gets_the_page_and_the_user(self, play, script, offer, user):
        seen = []

        def is_enabled(context):
            seen.append((context.user.pk, context.page.path))
            return True

        offer(lambda: 1, name="lamp", is_enabled=is_enabled)
        script.add("Hello.")

        play(page_path="/admin/")

        assert seen[0] == (user.pk, "/admin/")

    def test_is_enabled_that_fails_hides_the_tool(self, play, script, offer):
        offer(lambda: 1, name="lamp", is_enabled=lambda context: 1 / 0)
        script.add("Hello.")

        run = play()

        assert run.state == "succeeded"
        assert "lamp" not in names(script.requests[0])


class TestWithoutSchema:
    def test_without_schema_is_left_out(self, play, script, offer):
        def strange(amount: memoryview) -> None: ...

        offer(strange)
        script.add(reply("", call("strange", {"amount": 1})), "I see.")

        run = play()

        assert run.state == "succeeded"
        assert "strange" not in names(script.requests[0])
        assert run.calls.get().result["error_type"] == "unknown_tool"


class TestFindTools:
    @pytest.fixture
    def many(self, offer, options):
        options(LIMITS={"TOOL_SCHEMA_CHARS": 2000})

        def plain(text: str = "") -> str:
            return text

        def invoice(number: int) -> int:
            """Print one invoice again. Use it when a customer has lost the paper."""
            return number

        offer(invoice)
        for number in range(30):
            offer(plain, name=f"other_{number}")

    def test_loads_what_it_finds_for_the_next_step(self, play, script, many):
        script.add(
            reply("", call("find_tools", {"query": "invoices customer"})),
            reply("", call("invoice", {"number": 7})),
            "Done.",
        )

        run = play()

        first, second, _ = map(names, script.requests)
        assert "find_tools" in first
        assert "invoice" not in first
        assert "invoice" in second
        assert (run.state, run.loaded_tools[0]) == ("succeeded", "invoice")
        assert statuses(run) == ["complete", "complete"]

    def test_loads_five_at_most(self, play, script, many):
        script.add(reply("", call("find_tools", {"query": "other"})), "Done.")

        run = play()

        assert len(run.loaded_tools) == 5

    def test_search_without_a_match_loads_no_tool(self, play, script, many):
        script.add(reply("", call("find_tools", {"query": "zzz"})), "Done.")

        run = play()

        assert run.loaded_tools == []
        assert run.calls.get().result["data"]["found"] == []

    def test_find_tools_finds_nothing_that_the_user_may_not_call(
        self, play, script, many, offer, staff
    ):
        offer(lambda: 1, name="secret_ledger", permission="shop.nobody")
        script.add(reply("", call("find_tools", {"query": "secret ledger"})), "Done.")

        assert play(user_id=staff.pk).loaded_tools == []

    def test_find_tools_keeps_what_it_found_for_the_next_message(
        self, play, script, many
    ):
        script.add(reply("", call("find_tools", {"query": "invoice"})), "Found.")
        first = play()
        script.add("Here.")

        run = play(conversation_id=first.conversation_id)

        assert "invoice" in names(script.requests[-1])
        assert run.loaded_tools == first.loaded_tools

    def test_another_conversation_begins_without_it(self, play, script, many):
        script.add(reply("", call("find_tools", {"query": "invoice"})), "Found.")
        play()
        script.add("Here.")

        run = play()

        assert "invoice" not in names(script.requests[-1])
        assert run.loaded_tools == []

    def test_find_tools_keeps_the_latest_only(self, play, script, many, user):
        script.add("One.", "Two.")
        first = play()
        found = [f"other_{number}" for number in range(25)]
        Run.objects.filter(pk=first.pk).update(loaded_tools=found)

        run = play(conversation_id=first.conversation_id)

        assert run.loaded_tools == found[-MOST_LOADED:]

    def test_find_tools_is_not_told_where_all_are(self, play, script, options):
        options(LIMITS={"TOOL_SCHEMA_CHARS": 1_000_000})
        script.add("Hello.")

        play()

        assert "find_tools" not in names(script.requests[0])


class TestScarceRoom:
    """The site's own tools are not crowded out by what is built in."""

    @pytest.fixture
    def sizes(self, offer, options):
        """Leave only what is built in and three tools of the site; return the room."""
        with registry.restored():
            for tool in list(registry.tools().values()):
                if not tool.origin.startswith("ai_assistant."):
                    registry.remove_tool(tool.name)
            for number in range(3):
                offer(lambda: 1, name=f"own_{number}")
            yield lambda room: options(LIMITS={"TOOL_SCHEMA_CHARS": room})

    def told(self, user):
        scope = RunScope(Run(page_path="/nowhere/", module="default"), user)
        return {tool.name for tool in told_tools(scope)}

    def chars(self, names):
        return sum(schema_chars(registry.tool(name)) for name in names)

    def test_own_ones_and_the_most_needed_come_first(self, user, sizes):
        first = {"own_0", "own_1", "own_2", *ALWAYS_TOLD}
        sizes(self.chars(first))

        assert self.told(user) == first

    def test_what_is_left_is_for_the_others(self, user, sizes):
        first = {"own_0", "own_1", "own_2", *ALWAYS_TOLD}
        sizes(self.chars({*first, "list_models"}))

        assert self.told(user) == {*first, "list_models"}

    def test_the_most_needed_are_there_without_any_room(self, user, sizes):
        sizes(1)

        assert self.told(user) == ALWAYS_TOLD

    def test_shared_of_the_site_is_always_told(self, user, sizes, offer):
        offer(lambda: 1, name="both", shared=True)
        sizes(1)

        assert self.told(user) == {"both", *ALWAYS_TOLD}

    def test_built_in_ones_leave_room_by_default(self, user, sizes):
        sizes(conf.SETTINGS["LIMITS"]["TOOL_SCHEMA_CHARS"])

        told = self.told(user)

        own = {"own_0", "own_1", "own_2"}
        assert own < told
        assert self.chars(told - own) <= BUILT_IN_CHARS
        assert {"create_object", "delete_objects", "list_models"} < told
        assert "undo_changes" not in told

    @pytest.mark.parametrize("path", ["/nowhere/", "/admin/auth/group/add/"])
    def test_tools_of_the_page_and_of_the_api_have_4_kb(
        self, user, sizes, options, path
    ):
        options(API_OPERATIONS=["*"])
        sizes(conf.SETTINGS["LIMITS"]["TOOL_SCHEMA_CHARS"])
        scope = RunScope(Run(page_path=path, module="default"), user)

        own = {*OF_PAGE, "find_pages", *OF_API}
        told = {tool.name for tool in told_tools(scope)} & own

        assert {"find_pages", *OF_API} < told
        assert self.chars(told) <= 4_096


class TestSize:
    @pytest.mark.parametrize(
        "path", ["/admin/", "/admin/auth/user/", "/admin/auth/group/add/"]
    )
    def test_size_of_a_plain_page_of_the_demo(self, play, script, user, path):
        script.add("Hello.")
        run = play(page_path=path)

        scope = RunScope(Run.objects.get(pk=run.pk), user)
        told = told_tools(scope)

        assert len(tools_of(scope)) >= len(told) > 0
        assert sum(map(schema_chars, told)) <= conf.get("LIMITS", "TOOL_SCHEMA_CHARS")

    def test_tools_that_work_on_the_page_are_short(self):
        tools = map(registry.tool, ("fill_form", "get_page_state", "page_action"))

        assert sum(map(schema_chars, tools)) <= 2_000
