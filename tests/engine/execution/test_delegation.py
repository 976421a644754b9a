"""An agent asks another one: the child run, the wait for it, and what ends both."""

import json
import time

import pytest
from django.contrib.auth.models import Group
from django.core.management import call_command

import ai_assistant
from ai_assistant.engine.accounting.titles import _is_first_answer
from ai_assistant.engine.calls.availability import tools_of
from ai_assistant.engine.calls.provenance import has_data
from ai_assistant.engine.delegation import MADE_OF_DATA
from ai_assistant.engine.execution.sweep import claim_runs, sweep_once
from ai_assistant.engine.intake.conversations import delete, purge_deleted, restore
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.engine.interrupts.base import Answer
from ai_assistant.engine.lifecycle.finish import STOPPED
from ai_assistant.engine.lifecycle.scope import RunScope
from ai_assistant.engine.lifecycle.stop import request_stop, stop, stop_session
from ai_assistant.engine.queries import conversation_list
from ai_assistant.engine.storage.lease import this_process
from ai_assistant.exceptions import ModelError, Refused
from ai_assistant.models import clock
from ai_assistant.models.change import ChangeSet
from ai_assistant.models.conversation import Conversation, Message
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import Run
from ai_assistant.registry import registry
from ai_assistant.render.html.live.projection import Projection
from ai_assistant.safety.identity.session import SessionStamp
from ai_assistant.testing import answer_interrupt, call, reply, run_assistant
from ai_assistant.types import Usage
from tests.engine import conftest
from tests.engine.conftest import bury, carry_on, facts, resume, statuses
from tests.render.html import tab

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("H23")]


@pytest.fixture(autouse=True)
def agents():
    """The analyst, and a writer; `agents("third")` registers another one."""

    def register(name, **options):
        ai_assistant.agent(name, **options)(lambda context: f"You are the {name}.")

    with registry.restored():
        registry._registry = {
            key: part for key, part in registry._registry.items() if key[0] != "agent"
        }
        register("analyst", description="Counts.")
        register("writer")
        yield register


def ask(agent="analyst", task="Count the orders."):
    return call("ask_agent", {"agent": agent, "task": task})


def said(run):
    """Return the texts of a run, its messages without one left out."""
    return conftest.said(run).strip("|")


def child_of(run, position=0):
    """Return the run that a call of this one has asked for."""
    asked = run.calls.filter(name="ask_agent").order_by("step__index", "position")
    return Run.objects.get(conversation__parent_call=asked[position])


def to_the_end():
    """Execute what is queued until nothing is."""
    while holds := claim_runs(this_process(), 10):
        for hold in holds:
            carry_on(hold)


class TestAnswer:
    def test_of_another_agent_is_the_result_of_the_call(self, play, script):
        script.add(reply("", ask()), "There are 3.", "It says 3.")

        run = play()
        assert (run.state, statuses(run)) == ("waiting_run", ["waiting"])
        assert run.owner == ""
        child = child_of(run)
        assert (child.state, child.agent) == ("queued", "analyst")
        to_the_end()

        run.refresh_from_db()
        child.refresh_from_db()
        assert (run.state, child.state) == ("succeeded", "succeeded")
        assert said(run) == "It says 3."
        made = run.calls.get()
        assert (made.result["data"], made.result_text) == ("There are 3.",) * 2
        assert made.summary == "Asked Analyst"
        assert Interrupt.objects.get(call=made).status == "done"

    def test_is_of_an_agent_that_sees_its_task_alone(self, play, script):
        script.add(reply("", ask()), "Three.", "Done.")

        play("A secret plan.")
        to_the_end()

        asked = script.requests[1].messages
        assert "You are the analyst." in asked[0]["content"]
        assert [one["content"] for one in asked[1:]] == ["Count the orders."]

    def test_comes_from_several_side_by_side(self, play, script, function_model):
        script.add(reply("", ask(), ask("writer", "Write.")), "One.", "Two.", "Both.")

        run = play()
        children = [child_of(run, 0), child_of(run, 1)]
        to_the_end()

        run.refresh_from_db()
        assert said(run) == "Both."
        assert [one.agent for one in children] == ["analyst", "writer"]
        assert statuses(run) == ["complete", "complete"]

    def test_is_waited_for_until_the_last_one_has_ended(self, play, script):
        script.add(reply("", ask(), ask("writer", "Write.")), "One.")

        run = play()
        resume(child_of(run, 0))

        run.refresh_from_db()
        assert run.state == "waiting_run"
        assert statuses(run) == ["complete", "waiting"]

    def test_is_told_in_the_log_of_the_root(self, play, script):
        script.add(reply("", ask()), "Three.", "Done.")

        run = play()
        to_the_end()

        told = [
            event.payload["value"]["state"]
            for event in run.events.order_by("seq")
            if event.payload.get("name") == "aia.subagent"
        ]
        assert told == ["started", "finished"]
        assert facts(run)[-1] == "RUN_FINISHED"

    def test_steps_are_told_when_they_are_begun_and_done(self, play, script, offer):
        offer(lambda: "a row", name="look")
        script.add(reply("", ask()), reply("", call("look")), "Three.", "Done.")

        run = play()
        to_the_end()

        told = [
            event.payload["value"]["state"]
            for event in run.events.order_by("seq")
            if event.payload.get("name") == "aia.subagent"
        ]
        assert told == ["started", "stepped", "stepped", "finished"]

    def test_names_the_agents_that_can_be_asked(self, play, script):
        script.add("Hello.")

        play()

        prompt = script.requests[0].messages[0]["content"]
        assert "- analyst: Counts." in prompt
        assert "- writer: Writer" in prompt

    def test_has_no_tool_where_there_are_no_agents(self, play, script):
        registry._registry = {
            key: part for key, part in registry._registry.items() if key[0] != "agent"
        }
        script.add("Hello.")

        play()

        names = {tool["function"]["name"] for tool in script.requests[0].tools}
        assert "ask_agent" not in names
        assert "Other agents" not in script.requests[0].messages[0]["content"]

    def test_is_read_in_full_from_the_conversation_of_the_child(self, play, script):
        script.add(reply("", ask()), "Three.", "Done.")

        run = play()
        to_the_end()

        asked = Message.objects.get(run=child_of(run), role="user")
        assert (asked.origin, asked.label, asked.text) == (
            "agent",
            "site",
            "Count the orders.",
        )


class TestRefusal:
    def refused(self, run):
        made = run.calls.get(name="ask_agent")
        assert made.status == "failed"
        assert not Run.objects.filter(root=run).exists()
        return made.error

    def test_of_an_agent_that_is_not_there(self, play, script):
        script.add(reply("", ask("nobody")), "Sorry.")

        run = play()

        assert "'nobody' cannot be asked here" in self.refused(run)
        assert "analyst, writer" in self.refused(run)
        assert said(run) == "Sorry."

    def test_of_an_agent_that_the_user_may_not_use(self, play, script, agents):
        group = Group.objects.create(name="finance")
        agents("secret", group=group.name)
        script.add(reply("", ask("secret")), "Sorry.")

        run = play()

        assert "cannot be asked here. Agents that can: analyst, writer" in (
            self.refused(run)
        )

    def test_of_an_empty_task(self, play, script):
        script.add(reply("", ask(task="  ")), "Sorry.")

        assert "Write a message first" in self.refused(play())

    def test_of_itself(self, play, script):
        script.add(reply("", ask("analyst")), "Sorry.")

        assert "cannot be asked here" in self.refused(play(agent="analyst"))

    def test_of_a_circle(self, play, script):
        script.add(
            reply("", ask("writer")),
            reply("", ask("analyst")),
            "I cannot.",
            "It could not.",
        )

        run = play(agent="analyst")
        to_the_end()

        run.refresh_from_db()
        assert said(run) == "It could not."
        assert child_of(run).calls.get().status == "denied"

    def test_at_the_third_level(self, play, script, agents):
        agents("third")
        script.add(
            reply("", ask("analyst")),
            reply("", ask("writer")),
            reply("", ask("third")),
            "I may not.",
            "Second.",
            "First.",
        )

        run = play()
        to_the_end()

        run.refresh_from_db()
        assert said(run) == "First."
        grandchild = child_of(child_of(run))
        assert grandchild.root_id == run.pk
        assert grandchild.calls.get().status == "denied"

    def test_within_another_tool(self, play, script, offer):
        def outer(context) -> str:
            """Call it."""
            return context.call_tool("ask_agent", agent="analyst", task="Count.").data

        offer(outer)
        script.add(reply("", call("outer")), "Sorry.")

        run = play()

        assert "cannot be called by another tool" in run.calls.get(name="outer").error
        assert not Run.objects.filter(root=run).exists()

    def test_of_what_cannot_begin(self, play, script, monkeypatch):
        def refuse(*_args, **_more):
            raise Refused("too_large", "The state is too large.")

        monkeypatch.setattr("ai_assistant.engine.delegation.begin", refuse)
        script.add(reply("", ask()), "Sorry.")

        run = play()

        assert self.refused(run) == "The state is too large."
        assert said(run) == "Sorry."
        assert not Interrupt.objects.exists()
        assert Conversation.objects.count() == 1

    def test_of_a_page_to_an_agent_that_was_asked(self, play, script, options, user):
        options(FOLLOWUPS=True)
        script.add(reply("", ask()), "Three.", "Done.")
        run = play()

        first, below = (
            {tool.name for tool in tools_of(RunScope(one, user))}
            for one in (run, child_of(run))
        )

        assert first - below >= {"navigate_to", "highlight", "suggest_followups"}
        assert "search_objects" in below

    def test_of_a_title(self, play, script):
        script.add(reply("", ask()), "Three.", "Done.")
        run = play()
        to_the_end()

        assert not _is_first_answer(child_of(run))
        run.refresh_from_db()
        assert _is_first_answer(run)


class TestEnd:
    def test_of_a_child_that_fails_goes_to_its_parent(self, play, script):
        script.add(reply("", ask()), ModelError("bad_key"), "It failed.")

        run = play()
        to_the_end()

        run.refresh_from_db()
        assert said(run) == "It failed."
        made = run.calls.get()
        assert made.status == "failed"
        assert "The agent “analyst” has not finished." in made.error

    def test_of_a_child_at_its_limit_goes_to_its_parent(
        self, play, script, agents, offer
    ):
        def look() -> str:
            """Look."""
            return "seen"

        offer(look)
        agents("short", steps=1)
        script.add(
            reply("Half.", ask("short")), reply("So far.", call("look")), "Well."
        )

        run = play()
        to_the_end()

        run.refresh_from_db()
        made = run.calls.get()
        assert made.status == "failed"
        assert made.result["error_type"] == "agent_limited"
        assert made.result["data"] == "So far."
        assert said(run) == "Half.|Well."

    def test_of_the_parent_ends_its_children(self, play, script):
        script.add(reply("", ask()))
        run = play()

        stop(run.pk, STOPPED)

        run.refresh_from_db()
        child = child_of(run)
        assert (run.state, child.state) == ("cancelled", "cancelled")
        assert child.error_code == "parent_ended"
        assert statuses(run) == ["cancelled"]

    def test_of_the_parent_ends_a_child_under_way_at_the_next_look(self, play, script):
        script.add(reply("", ask()))
        run = play()
        child = child_of(run)
        (hold,) = claim_runs(this_process(), 10)

        stop(run.pk, STOPPED)

        child.refresh_from_db()
        assert child.is_stopping
        assert carry_on(hold).state == "cancelled"

    def test_of_the_parent_reaches_the_grandchild(self, play, script):
        script.add(reply("", ask("analyst")), reply("", ask("writer")))
        run = play()
        child = resume(child_of(run))
        assert child.state == "waiting_run"

        stop(run.pk, STOPPED)

        states = Run.objects.values_list("state", flat=True)
        assert set(states) == {"cancelled"}

    def test_of_a_child_is_taken_over_by_the_sweep(self, play, script):
        script.add(reply("", ask()), "Three.", "Done.")
        run = play()
        child = child_of(run)
        claim_runs(this_process(), 10)
        bury(child)

        to_the_end()

        run.refresh_from_db()
        assert said(run) == "Done."

    def test_of_a_child_that_was_stopped_alone_goes_to_its_parent(self, play, script):
        script.add(reply("", ask()), "Stopped, I see.")
        run = play()

        stop(child_of(run).pk, STOPPED)
        to_the_end()

        run.refresh_from_db()
        assert said(run) == "Stopped, I see."
        assert "It was stopped." in run.calls.get().error

    def test_comes_before_the_parent_waits(self, play, script, offer):
        def meanwhile() -> str:
            """Let the child end while the parent works."""
            while not (holds := claim_runs(this_process(), 10)):
                time.sleep(0.01)
            carry_on(*holds)
            return "ended"

        offer(meanwhile)
        script.add(reply("", ask(), call("meanwhile")), "Three.", "Done.")

        run = play()

        assert (run.state, said(run)) == ("succeeded", "Done.")
        assert statuses(run) == ["complete", "complete"]


class TestApproval:
    @pytest.fixture
    def run(self, play, script, offer):
        """A run whose child waits for the approval of a write."""

        def rename(context, name: str) -> str:
            """Rename."""
            Group.objects.create(name=name)
            return "renamed"

        offer(rename, effect="write", policy="ask")
        script.add(
            reply("", ask()),
            reply("", call("rename", {"name": "new"})),
            "Renamed.",
            "Done.",
        )
        run = play()
        resume(child_of(run))
        return run

    def test_is_that_of_the_child(self, run):
        child = child_of(run)

        run.refresh_from_db()
        assert (run.state, child.state) == ("waiting_run", "waiting_approval")
        asked = Interrupt.objects.get(kind="approval")
        assert asked.run == child

    def test_is_the_state_of_a_panel_that_saw_the_card_before_the_child_waited(
        self, play, script, offer, user
    ):
        def rename(context, name: str) -> str:
            """Rename."""
            return "renamed"

        def look() -> str:
            """Let the panel follow, while the child still works."""
            seen.append(panel.catch_up()[-1])
            return "looked"

        seen = []
        offer(rename, effect="write", policy="ask")
        offer(look)
        wish = call("rename", {"name": "new"})
        script.add(reply("", ask()), reply("", wish, call("look")))
        run = play()
        panel = Projection(run.conversation_id, user.pk, tab.panel())
        panel.attach(None, 0)

        resume(child_of(run))

        assert ["state", "tool"] in seen
        assert panel.catch_up()[-1] == ["state", "waiting-approval"]

    def test_lets_both_continue(self, run, user):
        asked = Interrupt.objects.get(kind="approval")

        decided = answer(
            Answer(
                user_id=user.pk,
                interrupt_id=asked.pk,
                nonce=asked.nonce,
                decision="approve",
            )
        )
        to_the_end()

        run.refresh_from_db()
        assert decided.conversation_id == run.conversation_id
        assert said(run) == "Done."
        assert Group.objects.filter(name="new").exists()

    def test_changes_are_those_of_the_run_of_the_person(self, run, user):
        asked = Interrupt.objects.get(kind="approval")
        answer(
            Answer(
                user_id=user.pk,
                interrupt_id=asked.pk,
                nonce=asked.nonce,
                decision="approve",
            )
        )
        to_the_end()

        made = ChangeSet.objects.get()
        assert made.run == run
        assert made.call.run == child_of(run)

    def test_stays_while_its_person_is_signed_out(self, run, user):
        Run.objects.update(session_digest="a" * 64)

        stop_session("a" * 64, STOPPED)

        states = Run.objects.order_by("created_at").values_list("state", flat=True)
        assert list(states) == ["waiting_run", "waiting_approval"]

    def test_is_given_in_another_session_which_both_go_on_in(self, run, user):
        asked = Interrupt.objects.get(kind="approval")
        Run.objects.update(session_digest="a" * 64, session_expires_at=clock.now())
        stamp = SessionStamp(session_digest="b" * 64, lasts_s=60.0)

        answer(
            Answer(
                user_id=user.pk,
                interrupt_id=asked.pk,
                nonce=asked.nonce,
                decision="approve",
                stamp=stamp,
            )
        )

        digests = set(Run.objects.values_list("session_digest", flat=True))
        assert digests == {"b" * 64}
        to_the_end()
        run.refresh_from_db()
        assert said(run) == "Done."

    def test_is_closed_when_the_parent_is_stopped(self, run):
        stop(run.pk, STOPPED)

        assert Interrupt.objects.get(kind="approval").status == "cancelled"
        assert not Group.objects.exists()


class TestConversation:
    def test_of_a_child_is_in_no_list(self, play, script, user):
        script.add(reply("", ask()), "Three.", "Done.")

        run = play()
        to_the_end()

        assert Conversation.objects.count() == 2
        assert list(conversation_list(user.pk)) == [run.conversation]

    def test_of_a_child_is_not_in_the_admin_but_in_the_export(
        self, play, script, user, client, capsys
    ):
        script.add(reply("", ask()), "Three.", "Done.")
        run = play()
        to_the_end()
        hidden = child_of(run).conversation_id
        client.force_login(user)

        shown = client.get("/admin/ai_assistant/conversation/").content.decode()
        call_command("assistant_export", user="ada")

        assert str(run.conversation_id) in shown
        assert str(hidden) not in shown
        told = json.loads(capsys.readouterr().out)["conversations"]
        assert [one["id"] for one in told] == [str(run.conversation_id), str(hidden)]
        assert told[1]["parent_call_id"] == str(run.calls.get().pk)

    def test_of_a_child_takes_no_message(self, play, script, user):
        script.add(reply("", ask()), "Three.", "Done.")
        run = play()
        to_the_end()

        with pytest.raises(Refused) as refused:
            play("Hi", conversation_id=child_of(run).conversation_id)

        assert refused.value.code == "not_found"

    def test_of_a_child_goes_with_its_parent(self, play, script, user):
        script.add(reply("", ask()), "Three.", "Done.")
        run = play()
        to_the_end()
        child = child_of(run)

        delete(user.pk, run.conversation_id)
        child.conversation.refresh_from_db()
        assert child.conversation.deleted_at is not None
        restore(user.pk, run.conversation_id)
        child.conversation.refresh_from_db()
        assert child.conversation.deleted_at is None
        delete(user.pk, run.conversation_id, for_good=True)

        assert not Conversation.objects.exists()
        assert not Run.objects.exists()

    def test_stays_while_a_child_is_unfinished(self, play, script, user, monkeypatch):
        script.add(reply("", ask()))
        run = play()
        stopped = delete(user.pk, run.conversation_id)
        assert set(stopped) == {run.pk, child_of(run).pk}
        monkeypatch.setattr("ai_assistant.engine.intake.conversations.UNDO_S", -60.0)

        purge_deleted(now=True)
        assert Conversation.objects.count() == 2
        for run_id in stopped:
            stop(run_id, STOPPED)
        purge_deleted(now=True)

        assert not Conversation.objects.exists()


class TestSweep:
    def test_ends_the_child_of_a_parent_that_died_as_it_ended(self, play, script):
        script.add(reply("", ask()))
        run = play()
        child = child_of(run)
        # As if the process had died after the commit, before it could stop the child.
        request_stop(child.pk, STOPPED)

        sweep_once()

        child.refresh_from_db()
        assert child.state == "cancelled"


class TestLabels:
    """Words that were made of data are data to whoever reads them next."""

    @pytest.fixture(autouse=True)
    def _look(self, offer):
        offer(lambda: "a row", name="look")

    def asked(self, run):
        return Message.objects.get(run=child_of(run), role="user")

    def test_task_of_a_run_that_has_read_data(self, play, script):
        script.add(reply("", call("look")), reply("", ask()), "Three.", "Done.")

        run = play()
        to_the_end()

        assert self.asked(run).label == "data"
        assert self.asked(run).text.startswith(MADE_OF_DATA)
        assert has_data(child_of(run))

    def test_task_of_a_run_that_has_not(self, play, script):
        script.add(reply("", ask()), "Three.", "Done.")

        run = play()
        to_the_end()

        assert self.asked(run).label == "site"
        assert not has_data(child_of(run))

    def test_answer_of_an_agent_that_has_read_data(self, play, script):
        script.add(reply("", ask()), reply("", call("look")), "Three.", "Done.")

        run = play()
        to_the_end()

        assert has_data(run)

    def test_answer_of_an_agent_that_has_not(self, play, script):
        script.add(reply("", ask()), "Three.", "Done.")

        run = play()
        to_the_end()

        assert not has_data(run)

    def test_answer_of_an_agent_two_levels_below(self, play, script):
        script.add(
            *(reply("", ask("analyst")), reply("", ask("writer"))),
            *(reply("", call("look")), "Three.", "Three.", "Done."),
        )

        run = play()
        to_the_end()

        assert has_data(run)

    def test_words_of_the_person_are_theirs_in_the_run_of_the_agent(
        self, play, script, offer
    ):
        def rename(name: str) -> str:
            """Rename."""
            Group.objects.create(name=name)
            return "renamed"

        offer(rename, effect="write", policy="allow")
        script.add(
            reply("", call("look")),
            reply("", ask()),
            reply("", call("rename", {"name": "sales"})),
            reply("", call("rename", {"name": "stolen"})),
        )

        run = play("Rename it to sales.")
        child = resume(child_of(run))

        assert statuses(child) == ["complete", "waiting"]
        assert list(Group.objects.values_list("name", flat=True)) == ["sales"]


class TestBudget:
    def test_of_a_run_counts_what_its_agents_use(self, play, script, options):
        options(BUDGETS=[{"scope": "run", "window": "run", "tokens": 100_000}])
        script.add(
            reply("", ask(), usage=Usage(input_tokens=70_000)),
            reply("Three.", usage=Usage(input_tokens=40_000)),
            "Never said.",
        )

        run = play()
        to_the_end()

        run.refresh_from_db()
        assert (run.state, run.error_code) == ("limited", "budget")
        assert len(script.requests) == 2

    def test_of_a_run_ends_its_agent_first(self, play, script, options):
        options(BUDGETS=[{"scope": "run", "window": "run", "tokens": 60_000}])
        script.add(reply("", ask(), usage=Usage(input_tokens=59_990)))

        run = play()
        to_the_end()

        run.refresh_from_db()
        assert child_of(run).state == "limited"
        assert "budget" in child_of(run).error_code
        assert run.calls.get().result["error_type"] == "agent_limited"


class TestStage:
    def test_of_a_site_executes_the_agents_too(self, user):
        played = run_assistant(
            user, "/admin/", "Count", replies=[reply("", ask()), "Three.", "It is 3."]
        )

        assert (played.state, played.text) == ("succeeded", "It is 3.")
        assert played.calls[0].read_by_model == "Three."

    def test_of_a_site_answers_what_an_agent_asks(self, user, offer):
        def rename(name: str) -> str:
            """Rename."""
            Group.objects.create(name=name)
            return "renamed"

        offer(rename, effect="write", policy="ask")
        wish = reply("", call("rename", {"name": "new"}))
        played = run_assistant(
            user, "/admin/", "Do", replies=[reply("", ask()), wish, "Renamed.", "Done."]
        )
        assert played.state == "waiting_run"

        played = answer_interrupt(played, "approve")

        assert (played.state, played.text) == ("succeeded", "Done.")
        assert Group.objects.get().name == "new"
