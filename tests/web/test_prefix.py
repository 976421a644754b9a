"""A site below a path, served for real: its data tools, and the links of its cards."""

from contextlib import ExitStack

import pytest

from tests.model_server.scripts import call, text
from tests.servers.client import Person

PREFIX = "/app"
SCRIPT = [
    [call("search_objects", {"model": "questionnaires.questionnaire"})],
    [call("needs_approval", {"text": "It is done."})],
    [text("That is all.")],
]
PLACES = {
    "root_path": {"root_path": PREFIX},
    "setting": {"env": {"TESTS_SCRIPT_NAME": PREFIX}},
}


@pytest.mark.broad
@pytest.mark.timeout(240)
@pytest.mark.parametrize("executor", ["web", "worker"])
@pytest.mark.parametrize("place", PLACES)
def test_data_tools_and_cards_below_a_path(demo_server, model_server, place, executor):
    name = f"below-{place}-{executor}"
    model_server.script(name, SCRIPT)
    server = demo_server(executor=executor, forged=True, **PLACES[place])
    with ExitStack() as stack:
        if executor == "worker":
            stack.enter_context(server.worker())
        server.start()
        person = stack.enter_context(Person(url=server.url, prefix=PREFIX))
        person.sign_in()
        tab = stack.enter_context(person.listen())

        # A proxy may take the path off, and leave it to the setting.
        stripped = person.http.get(f"{server.url}/assistant/").text
        run = person.ask(f"[[script:{name}]]")
        tab.wait_for("aia-approval", timeout_s=60)
        drawn = tab.html() + person.page()
        (card,) = person.cards()
        person.answer(card, decision="approve")
        tab.wait_for("That is all.", timeout_s=60)

    asked = [one for one in model_server.requests() if name in str(one["messages"])]
    offered = {tool["function"]["name"] for tool in asked[0]["tools"]}
    results = [one["content"] for one in asked[-1]["messages"] if one["role"] == "tool"]
    assert run
    assert f'name="path" value="{PREFIX}/assistant/"' in stripped
    assert {"search_objects", "get_object", "change_object"} <= offered
    assert '"total": 24' in results[0]
    assert f"{PREFIX}/assistant/answer/" in drawn
    assert '\\"/assistant/' not in drawn
    assert '"/assistant/' not in drawn
