"""A tool of another page is refused, whatever the model names."""

import pytest

from ai_assistant import ContextModule
from ai_assistant.registry import registry
from ai_assistant.testing import call, reply

pytestmark = pytest.mark.django_db(transaction=True)

LIST = "/admin/questionnaires/questionnaire/"


@pytest.fixture
def modules(offer):
    """`light` and `paint` belong to the list of questionnaires, where all is fixed."""

    def light() -> str:
        """Switch the light on."""
        return "It is light."

    def paint() -> str:
        """Paint the room."""
        return "It is blue."

    offer(light)
    offer(paint, effect="write")

    class RoomModule(ContextModule):
        matches = ("admin:questionnaires_questionnaire_changelist",)
        tools = ("light", "paint")
        read_only = True

    with registry.restored():
        registry.add_module(RoomModule())
        yield


@pytest.mark.row("M01")
def test_tool_of_a_module_is_there_on_its_pages(play, script, modules):
    script.add(reply("", call("light")), "Done.")

    run = play(page_path=LIST)

    assert run.calls.get().status == "complete"


@pytest.mark.row("T06")
@pytest.mark.row("T14")
def test_tool_of_a_module_is_not_there_elsewhere(play, script, modules):
    script.add(reply("", call("light")), "Oh.")

    run = play(page_path="/admin/")

    refused = run.calls.get()
    assert (refused.status, refused.reason) == ("denied", "not_here")
    said = script.requests[1].messages[-1]["content"]
    assert "not available on this page now" in said
    names = said.partition("Tools of this page: ")[2]
    assert "highlight" in names
    assert "light" not in names.replace("highlight", "")


def test_write_on_a_read_only_page_asks_nobody(play, script, modules):
    script.add(reply("", call("paint")), "Oh.")

    run = play(page_path=LIST)

    refused = run.calls.get()
    assert (refused.status, refused.reason) == ("denied", "not_here")
    assert not run.interrupts.exists()
    assert "Nothing can be changed" in script.requests[1].messages[-1]["content"]


def test_model_is_told_that_the_person_wants_no_changes(play, script, modules):
    script.add(reply("", call("paint")), "Oh.")

    run = play(look_only=True)

    first, second = script.requests
    told = first.messages[0]["content"]
    assert "The user has chosen “View only”. Nothing is changed." in told
    assert "Nothing can be changed on this page" not in told
    assert "chosen “View only”" in second.messages[-1]["content"]
    assert run.calls.get().status == "denied"


def test_tool_of_a_page_that_the_person_may_not_open(play, script, modules, staff):
    script.add(reply("", call("light")), "Oh.")

    run = play(page_path=LIST, user_id=staff.pk)

    refused = run.calls.get()
    assert (refused.status, refused.reason) == ("denied", "not_here")
    told = {tool["function"]["name"] for tool in script.requests[0].tools}
    assert "light" not in told
