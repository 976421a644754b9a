from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
from django.db import connection

from ai_assistant.client.values import Run as ToldRun
from ai_assistant.engine import service
from ai_assistant.engine.accounting.prompts import record_prompt, shown
from ai_assistant.engine.execution.dequeue import start_waiting
from ai_assistant.engine.storage.eventlog import events_after
from ai_assistant.engine.storage.units import in_db
from ai_assistant.models import (
    Conversation,
    Feedback,
    Message,
    QueuedMessage,
    Run,
    Step,
)
from ai_assistant.prompts.tree import Prompt, PromptPart
from tests.web.conftest import ask, asked_to_approve
from tests.web.rest.program import code


class TestStart:
    def test_answers_the_run(self, program):
        response = program().start("Hello", page_path="/admin/", look_only=True)

        run = Run.objects.get()
        told = response.json()
        assert response.status_code == 201
        assert response.headers["Location"].endswith(f"/runs/{run.pk}/")
        assert (told["id"], told["state"]) == (str(run.pk), "queued")
        assert (run.channel, run.page_path, run.look_only) == ("api", "/admin/", True)
        assert run.token_id is not None

    def test_start_goes_on_in_a_conversation(self, program):
        ada = program()
        first = ada.start().json()
        ada.post(f"runs/{first['id']}/stop/")

        second = ada.start("More", conversation=first["conversation"]).json()

        assert second["conversation"] == first["conversation"]
        assert Conversation.objects.count() == 1

    def test_conversation_that_is_none(self, program):
        response = program().start(conversation=str(uuid4()))

        assert (response.status_code, code(response)) == (404, "not_found")
        assert not Conversation.objects.exists()

    def test_start_is_no_answer_to_what_waits(self, program, people):
        asked = asked_to_approve(people["ada"])

        response = program().start("Yes", conversation=str(asked.run.conversation_id))

        assert (response.status_code, code(response)) == (409, "interrupts_open")
        asked.refresh_from_db()
        assert asked.status == "open"


class TestWhileOneIsWorking:
    @pytest.fixture
    def ada(self, program):
        return program()

    @pytest.fixture
    def queue(self, ada):
        """The address of the queue of a conversation with a run that works."""
        return f"conversations/{ada.start().json()['conversation']}/queue/"

    def say(self, ada, queue, text="More", **more):
        return ada.start(text, conversation=queue.split("/")[1], **more)

    def test_a_message_waits(self, ada, queue):
        response = self.say(ada, queue, page_path="/admin/", key="k")

        told = response.json()
        assert response.status_code == 202
        assert response.headers["Location"].endswith(queue)
        assert (told["text"], told["page_path"]) == ("More", "/admin/")
        assert (told["door"], told["held"]) == ("api", "")
        assert ada.get(queue).json()["results"] == [told]

    def test_a_repeat_adds_nothing(self, ada, queue):
        first, second = (self.say(ada, queue, key="k") for _ in range(2))

        assert (first.status_code, second.status_code) == (202, 202)
        assert first.json() == second.json()
        other = self.say(ada, queue, text="Other", key="k")
        assert (other.status_code, code(other)) == (409, "key_reused")

    def test_one_that_is_started_at_that_moment_is_its_run(
        self, ada, queue, monkeypatch
    ):
        async def send(submission):
            accepted = await service.send(submission)
            await in_db(lambda: Run.objects.update(state="succeeded"))
            await in_db(start_waiting)
            return accepted

        monkeypatch.setattr("ai_assistant.web.rest.starting.send", send)

        response = self.say(ada, queue, key="k")

        assert response.status_code == 200
        assert response.json()["state"] in ("queued", "running", "succeeded")

    def test_a_repeat_of_what_was_started_is_its_run(self, ada, queue):
        self.say(ada, queue, key="k")
        Run.objects.update(state="succeeded")
        start_waiting()

        response = self.say(ada, queue, key="k")

        assert response.status_code == 200
        assert response.json()["id"] == str(Run.objects.latest("created_at").pk)

    def test_while_one_is_working_is_in_order_and_can_be_dropped(self, ada, queue):
        told = [self.say(ada, queue, text).json() for text in ("a", "b", "c")]

        dropped = ada.post(f"{queue}{told[1]['id']}/", method="delete")
        again = ada.post(f"{queue}{told[1]['id']}/", method="delete")

        assert (dropped.status_code, again.status_code) == (204, 409)
        assert code(again) == "sent"
        left = ada.get(queue).json()["results"]
        assert [one["text"] for one in left] == ["a", "c"]

    def test_while_one_is_working_of_another_person_is_not_there(
        self, ada, queue, program
    ):
        told = self.say(ada, queue).json()
        bob = program("bob")

        for response in (
            bob.get(queue),
            bob.post(f"{queue}{told['id']}/", method="delete"),
        ):
            assert (response.status_code, code(response)) == (404, "not_found")
        assert QueuedMessage.objects.count() == 1


class TestKey:
    def test_repeat_starts_nothing(self, program):
        ada = program()
        first, second = (ada.start(key="k", page_path="/admin/") for _ in range(2))

        assert (first.status_code, second.status_code) == (201, 200)
        assert first.json()["id"] == second.json()["id"]
        assert (Run.objects.count(), Conversation.objects.count()) == (1, 1)

    @pytest.mark.parametrize(
        "other",
        [{"text": "Other"}, {"look_only": True}, {"page_path": "/admin/auth/"}],
    )
    def test_key_with_something_else(self, program, other):
        ada = program()
        ada.start(key="k")

        response = ada.post("runs/", {"text": "Hello", **other}, key="k")

        assert (response.status_code, code(response)) == (409, "key_reused")
        assert (Run.objects.count(), Conversation.objects.count()) == (1, 1)

    def test_key_with_another_conversation(self, program):
        ada = program()
        ada.start(key="k")
        other = ada.start("Other").json()

        response = ada.start(key="k", conversation=other["conversation"])

        assert code(response) == "key_reused"

    def test_key_of_two_users_is_two_keys(self, program):
        assert program("ada").start(key="k").status_code == 201
        assert program("bob").start(key="k").status_code == 201

    def test_key_at_the_same_moment(self, program):
        ada = program()

        def start(text):
            try:
                return ada.start(text, key="k")
            finally:
                connection.close()

        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(start, ["Hello", "Hello", "Hello", "Other"]))

        assert Run.objects.count() == 1
        codes = sorted(one.status_code for one in answers)
        said = Message.objects.get().text
        wanted = [200, 200, 201, 409] if said == "Hello" else [201, 409, 409, 409]
        assert codes == wanted

    @pytest.mark.parametrize("key", ["", "a" * 51, "é", "a\tb"])
    def test_invalid_key_is_refused(self, program, key):
        response = program().http.post(
            "/assistant/api/runs/",
            '{"text": "Hello"}',
            content_type="application/json",
            headers={"idempotency-key": key},
        )

        assert (response.status_code, code(response)) == (400, "bad_key")


class TestStop:
    def test_stop_ends_it(self, program):
        ada = program()
        run = ada.start().json()["id"]

        told = ada.post(f"runs/{run}/stop/").json()

        assert (told["state"], told["is_final"]) == ("cancelled", True)

    def test_twice_is_harmless(self, program):
        ada = program()
        run = ada.start().json()["id"]
        first, second = (ada.post(f"runs/{run}/stop/").json() for _ in range(2))

        assert first == second


class TestRetry:
    def test_retry_continues(self, program):
        ada = program()
        run = ada.start().json()["id"]
        ada.post(f"runs/{run}/stop/")

        first, second = (ada.post(f"runs/{run}/retry/", key="k") for _ in range(2))

        assert (first.status_code, second.status_code) == (201, 200)
        assert first.json()["id"] == second.json()["id"]
        assert first.json()["continues"] == run
        assert first.json()["door"] == "api"

    def test_retry_of_one_that_goes_on(self, program):
        ada = program()
        run = ada.start().json()["id"]

        response = ada.post(f"runs/{run}/retry/")

        assert (response.status_code, code(response)) == (409, "not_ended")

    def test_key_of_another(self, program):
        ada = program()
        runs = [ada.start().json()["id"] for _ in range(2)]
        for run in runs:
            ada.post(f"runs/{run}/stop/")
        ada.post(f"runs/{runs[0]}/retry/", key="k")

        response = ada.post(f"runs/{runs[1]}/retry/", key="k")

        assert (response.status_code, code(response)) == (409, "key_reused")


class TestTold:
    @pytest.mark.row("V08")
    def test_whose_model_has_answered_and_why(self, program, people):
        own = {"fallback": "other", "fallback_code": "provider_down"}
        run = ask(people["ada"])
        Run.objects.filter(pk=run.pk).update(**own)
        ada = program()

        told = ada.get(f"runs/{run.pk}/").json()

        assert {name: told[name] for name in own} == own
        assert (told["profile"], told["agent"]) == ("default", "")
        assert ToldRun(**told).fallback == "other"

    def test_in_place_of_what_it_was_started(self, program):
        ada = program()
        first = ada.start().json()
        ada.post(f"runs/{first['id']}/stop/")

        again = ada.post(f"runs/{first['id']}/retry/").json()

        assert (first["kind"], again["kind"]) == ("message", "continue")

    def test_what_its_own_user_thinks_of_it(self, program, people):
        run = ask(people["ada"])
        Feedback.objects.create(run=run, user=people["bob"], value="up")
        ada = program()
        path = f"runs/{run.pk}/"
        assert ada.get(path).json()["rating"] == ""

        Feedback.objects.create(run=run, user=people["ada"], value="down")

        assert ada.get(path).json()["rating"] == "down"
        assert ada.get("runs/").json()["results"][0]["rating"] == "down"
        assert ada.post(f"{path}stop/").json()["rating"] == "down"


class TestOfAgents:
    def test_run_of_an_agent_is_read_and_stopped_by_its_id(self, program, people):
        run, below = ask(people["ada"]), ask(people["ada"])
        Run.objects.filter(pk=below.pk).update(root=run)
        ada = program()

        listed = [one["id"] for one in ada.get("runs/").json()["results"]]
        asked_for = ada.get("runs/", root=run.pk).json()["results"]

        assert listed == [str(run.pk)]
        assert [one["id"] for one in asked_for] == [str(below.pk)]
        assert ada.get(f"runs/{below.pk}/").json()["root"] == str(run.pk)
        assert ada.get(f"runs/{below.pk}/events/").status_code == 200
        assert ada.post(f"runs/{below.pk}/stop/").json()["stop_requested"]


class TestEvents:
    def test_events_after_a_number(self, program, people):
        asked = asked_to_approve(people["ada"])
        ada = program()
        path = f"runs/{asked.run_id}/events/"

        told = ada.get(path).json()
        rest = ada.get(path, after=2, limit=2).json()

        every = [(one.seq, one.type) for one in events_after(asked.run_id)]
        assert [(one["number"], one["type"]) for one in told["events"]] == every
        assert [one["number"] for one in rest["events"]] == [3, 4]
        assert told["last_event"] == rest["last_event"] == len(every)
        assert (told["state"], told["is_final"]) == ("waiting_approval", False)


class TestList:
    def test_filters(self, program, people):
        ada = program()
        first = ask(people["ada"])
        second = ask(people["ada"])
        ada.post(f"runs/{first.pk}/stop/")

        def found(**filters):
            return [one["id"] for one in ada.get("runs/", **filters).json()["results"]]

        assert found() == [str(second.pk), str(first.pk)]
        assert found(final="true") == found(state="cancelled") == [str(first.pk)]
        assert found(final="false") == [str(second.pk)]
        assert found(conversation=first.conversation_id) == [str(first.pk)]
        assert found(created_after="2999-01-01T00:00:00Z") == []

    def test_pages_have_each_once(self, program, people):
        runs = [str(ask(people["ada"]).pk) for _ in range(5)]
        Run.objects.update(created_at=Run.objects.first().created_at)  # all alike
        ada = program()

        page, found = ada.get("runs/", page_size=2).json(), []
        while True:
            found += [one["id"] for one in page["results"]]
            if not page["next"]:
                break
            page = ada.http.get(page["next"]).json()

        assert sorted(found) == sorted(runs)
        assert ada.http.get(page["previous"]).status_code == 200


class TestPrompts:
    @pytest.fixture
    def root(self, people):
        people["ada"].is_superuser = True
        people["ada"].save()

    def test_prompt_of_the_next_message(self, program, root):
        told = program().get("prompt/", page_path="/admin/auth/group/").json()

        parts = {part["id"]: part for part in told["parts"]}
        assert parts["module"]["source"] == "module:admin-list"
        assert "Page of the user: /admin/auth/group/" in parts["run"]["text"]
        assert "search_objects" in [one["function"]["name"] for one in told["tools"]]
        assert told["tokens"] > sum(part["tokens"] for part in told["parts"]) > 0
        assert not Run.objects.exists()

    def test_prompts_of_a_run(self, program, root):
        run = Run.objects.get(pk=program().start("Hello").json()["id"])
        part = PromptPart(id="setting", text="Be kind.", source="setting")
        message = Message.objects.create(
            conversation_id=run.conversation_id, run=run, position=9, role="assistant"
        )
        step = Step(run=run, index=0, message=message, model="m", finish_reason="stop")
        step.prompt = record_prompt(run, shown(Prompt(parts=(part,)), []))
        step.save()

        (told,) = program().get(f"runs/{run.pk}/prompts/").json()["prompts"]

        assert told["step"] == 0
        assert told["prompt"]["parts"] == [
            {
                "id": "setting",
                "source": "setting",
                "text": "Be kind.",
                "is_cacheable": False,
                "tokens": 2,
            }
        ]

    def test_prompts_are_for_superusers(self, program):
        run = program().start("Hello").json()["id"]

        for path in ("prompt/", f"runs/{run}/prompts/"):
            response = program().get(path)
            assert (response.status_code, code(response)) == (403, "permission")

    def test_prompts_of_another_person(self, program, root):
        run = program("bob").start("Hello").json()["id"]

        assert program().get(f"runs/{run}/prompts/").status_code == 404
