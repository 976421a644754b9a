"""The client of programs, against a real server."""

import subprocess
import sys
from contextlib import suppress
from uuid import uuid4

import httpx
import pytest

from ai_assistant.client import Assistant, AssistantProblem, NotInTime, Run
from tests.model_server.scripts import call, text
from tests.web.rest.live import client, live_server

pytestmark = pytest.mark.timeout(300)

# Of a run that has just begun.
NULL = ("continues", "after", "opens_at", "context_rounds", "root", "finished_at")
ASKS = [[call("ask_user", {"question": "Which colour?"})], [text("As you wish.")]]

SECTION = {"model": "questionnaires.section", "id": 3}
RENAMES = [
    [call("change_object", {**SECTION, "values": {"title": "Well put"}})],
    [text("Renamed.")],
]
TASK = {"agent": "proofreader", "task": "Rename it. [[script:api-renames]]"}
DELEGATES = [[call("ask_agent", TASK)], [text("It is renamed.")]]


@pytest.fixture
def server(demo_server, model_server):
    model_server.script("api-question", ASKS)
    model_server.script("api-renames", RENAMES)
    model_server.script("api-delegates", DELEGATES)
    return live_server(demo_server, model_server)


@pytest.mark.broad
def test_whole_story(server, model_server, oracle):
    """One server for all of it: each start costs seconds."""
    with client(server, "admin") as assistant:
        speaks(assistant)
        repeats(assistant)
        stops_and_goes_on(assistant, model_server)
        approves_and_denies(assistant)
        answers(assistant)
        answers_what_an_agent_asks(assistant)
        looks_back(assistant)
        is_refused(assistant, server)
    survives_a_client_that_leaves(server, oracle)
    assert "Traceback" not in server.output()


def speaks(assistant):
    run = assistant.start("[[script:hello]] Hi", page_path="/admin/")

    told = list(assistant.follow(run.id))
    after = assistant.wait(run.id)

    assert [one.number for one in told] == list(range(1, len(told) + 1))
    assert (told[0].type, told[-1].type) == ("RUN_STARTED", "RUN_FINISHED")
    said = "".join(
        one.data["delta"] for one in told if one.type == "TEXT_MESSAGE_CONTENT"
    )
    assert said == "Hello there, how can this help you?" == assistant.text_of(run.id)
    assert (after.state, after.is_final) == ("succeeded", True)


def repeats(assistant):
    key = str(uuid4())
    first, second = (assistant.start("[[script:hello]]", key=key) for _ in range(2))

    assert first.id == second.id
    with pytest.raises(AssistantProblem) as problem:
        assistant.start("Other", key=key)
    assert (problem.value.status, problem.value.code) == (409, "key_reused")
    assistant.wait(first.id)


def stops_and_goes_on(assistant, model_server):
    run = assistant.start("[[script:hang-after-text]]")
    with pytest.raises(NotInTime):
        assistant.wait(run.id, timeout_s=0)
    for event in assistant.follow(run.id):
        if event.type == "TEXT_MESSAGE_CONTENT":
            break

    assistant.stop(run.id)
    stopped = assistant.wait(run.id)
    again = assistant.retry(run.id)
    assistant.stop(again.id)

    assert stopped.state == "cancelled"
    assert (again.continues, again.conversation) == (run.id, run.conversation)
    assert assistant.wait(again.id).is_final
    assert len(list(assistant.runs(conversation=run.conversation))) == 2


def approves_and_denies(assistant):
    for decide, status, words in (
        (assistant.approve, "complete", "Approved: an effect"),
        (lambda one: assistant.deny(one, "No."), "denied", ""),
    ):
        run = assistant.wait(assistant.start("[[script:api-asks]]").id)
        assert run.waits_for_person
        (asked,) = assistant.interrupts(run=run.id, open=True)
        decide(assistant.interrupt(asked.id))
        assert assistant.wait(run.id).state == "succeeded"
        (made,) = assistant.calls(run=run.id)
        made = assistant.call(made.id)
        assert (made.status, made.result["data"] or "") == (status, words)
        with pytest.raises(AssistantProblem, match="already_answered"):
            assistant.approve(asked)


def answers(assistant):
    run = assistant.wait(assistant.start("[[script:api-question]]").id)
    (asked,) = assistant.interrupts(run=run.id, open=True)

    assert asked.question.text == "Which colour?"
    assert assistant.answer(asked, "Green").answer == "Green"
    assert assistant.wait(run.id).state == "succeeded"


def answers_what_an_agent_asks(assistant):
    run = assistant.wait(assistant.start("[[script:api-delegates]]").id)
    (asked,) = assistant.interrupts(run=run.id, open=True, kind="approval")
    (below,) = assistant.runs(root=run.id)

    assert (run.state, run.waits_for_person) == ("waiting_run", True)
    assert (asked.run, below.agent) == (below.id, "proofreader")
    assert below.id not in {one.id for one in assistant.runs()}
    told = list(assistant.follow(run.id))  # it ends where the person is needed
    assert told[-1].data["name"] == "aia.subagent"
    assistant.approve(assistant.interrupt(asked.id))
    assert assistant.wait(run.id).state == "succeeded"
    assert assistant.text_of(run.id) == "It is renamed."
    (change,) = assistant.changes(run=run.id)
    assert assistant.change(change.id).rows


def looks_back(assistant):
    run = assistant.wait(assistant.start("[[script:api-writes]]").id)
    (change,) = assistant.changes(run=run.id)
    renamed = assistant.rename(run.conversation, "Of the row")

    (row,) = assistant.change(change.id).rows
    assert row["kind"] == "create"
    assert "a row" in {one["after"] for one in row["fields"]}
    assert renamed.title == "Of the row"
    assert assistant.usage(run=run.id)["calls"] == 2
    assert "echo" in {one["name"] for one in assistant.registered()["tools"]}
    every = [one.id for one in assistant.conversations(page_size=2)]
    assert len(every) == len(set(every)) > 4
    roles = [one.role for one in assistant.messages(run.conversation)]
    assert roles == ["user", "assistant", "assistant"]
    assistant.delete(run.conversation)
    with pytest.raises(AssistantProblem, match="404 not_found"):
        assistant.conversation(run.conversation)


def is_refused(assistant, server):
    with pytest.raises(AssistantProblem) as problem:
        assistant.start("")
    assert problem.value.errors[0]["field"] == "text"
    with (
        Assistant(f"{server.url}/assistant/api", "aia_wrong") as nobody,
        pytest.raises(AssistantProblem, match="401 signed_out"),
    ):
        nobody.run(uuid4())
    with (
        Assistant(f"{server.url}/nothing/", "aia_wrong") as lost,
        pytest.raises(AssistantProblem, match="404 unknown"),
    ):
        lost.run(uuid4())


def survives_a_client_that_leaves(server, oracle):
    """What was sent whole is carried out, whenever the client hangs up."""
    assistant = client(server, "admin")
    texts = [f"[[script:hello]] number {n} of those that leave" for n in range(20)]
    for number, said in enumerate(texts):
        leave(assistant, said, after_s=0.001 * number)
    assistant.close()

    database = oracle(server)
    database.wait(lambda: arrived(database) == len(texts))
    assert arrived(database) == len(texts)


def leave(assistant, said: str, *, after_s: float) -> None:
    with suppress(httpx.TimeoutException):  # else the answer was quicker
        timeout = httpx.Timeout(5, read=max(after_s, 0.0001))
        assistant._to.http.post(
            f"{assistant._to.url}runs/",
            json={"text": said},
            headers=assistant._to.headers,
            timeout=timeout,
        )


def arrived(database) -> int:
    rows = database.rows(
        "SELECT count(*) AS n FROM ai_assistant_run r JOIN ai_assistant_message m "
        "ON m.run_id = r.id WHERE m.role = 'user' AND CAST(m.parts AS text) LIKE %s "
        "AND r.state = 'succeeded'",
        "%of those that leave%",
    )
    return rows[0]["n"]


@pytest.mark.servers
def test_needs_no_settings():
    code = (
        "import sys, ai_assistant.client; from django.conf import settings; "
        "sys.exit(settings.configured or 'rest_framework' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={"PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr


class TestPages:
    """A token goes to its own host only, whatever an address of a page says."""

    def test_pages_address_of_another_host(self):
        asked = []

        def answer(request):
            asked.append(request.url)
            page = {"results": [], "next": None, "previous": None}
            if len(asked) == 1:
                page["next"] = "http://evil.example:81/assistant/api/runs/?cursor=a"
            return httpx.Response(200, json=page)

        http = httpx.Client(transport=httpx.MockTransport(answer))
        assistant = Assistant("https://site.example/assistant/api/", "aia_x", http=http)

        assert list(assistant.runs()) == []
        assert {(one.scheme, one.host, one.port) for one in asked} == {
            ("https", "site.example", None)
        }
        assert asked[1].params["cursor"] == "a"


class TestFollow:
    RUN = str(uuid4())

    def page(self, last, *numbers):
        """Return what the events are at one moment, up to `last`."""
        events = [
            {"number": one, "type": "CUSTOM", "data": {"name": "aia.subagent"}}
            for one in numbers
        ]
        state = {"run": self.RUN, "state": "waiting_run", "is_final": False}
        return f"runs/{self.RUN}/events/", {
            **state,
            "last_event": last,
            "events": events,
        }

    def row(self, last):
        """Return the run as it is at another: it waits for its person."""
        fields = dict.fromkeys(Run.model_fields, "")
        fields |= {name: None for name in fields if name in NULL}
        fields |= {"id": self.RUN, "conversation": self.RUN, "created_at": 0}
        fields |= dict.fromkeys(("is_final", "stop_requested", "look_only"), False)
        fields |= {"waits_for_person": True, "last_event": last}
        return f"runs/{self.RUN}/", fields

    def test_event_that_comes_between_two_requests_is_told(self):
        """An agent below begins to wait after the events of its root were read."""
        answers = [
            *(self.page(1), self.row(2)),
            *(self.page(2, 2), self.page(2), self.row(2)),
        ]

        def answer(request):
            path, body = answers.pop(0)
            assert request.url.path == f"/assistant/api/{path}"
            return httpx.Response(200, json=body)

        http = httpx.Client(transport=httpx.MockTransport(answer))
        assistant = Assistant("https://site.example/assistant/api/", "aia_x", http=http)

        found = [one.number for one in assistant.follow(self.RUN, after=1)]

        assert (found, answers) == ([2], [])
