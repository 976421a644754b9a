"""A command asks for a user: what it prints, and who executes the run."""

# ruff: noqa: F401, F811 - fixtures of the engine's tests

import asyncio
import re
import shlex
import threading
import uuid

import pytest
from django.core.management import CommandError, call_command

from ai_assistant.engine.execution import presence
from ai_assistant.engine.lifecycle.stop import stop
from ai_assistant.engine.storage.lease import this_process
from ai_assistant.management.commands import assistant_ask
from ai_assistant.models.run import Run
from ai_assistant.testing import call, reply
from tests.docs.blocks import page
from tests.engine.conftest import (
    _calls_are_quick,
    function_model,
    offer,
    options,
    resume,
    script,
    staff,
    user,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("P05")]


@pytest.fixture
def ask(user, capsys):
    """Ask for Ada; return the lines that were printed."""

    def run(text="Is anything low?", **options):
        options.setdefault("user", "ada")
        call_command("assistant_ask", text, **options)
        printed = capsys.readouterr()
        return printed.out.splitlines(), printed.err

    return run


@pytest.fixture
def served():
    """Let another process execute runs, as far as the rows show."""
    presence.say_present(this_process())


class TestAsk:
    def test_it_prints_conversation_and_run(self, ask, served):
        lines, err = ask()

        run = Run.objects.get()
        assert lines == [f"conversation {run.conversation_id}", f"run {run.pk}"]
        assert (err, run.state, run.channel) == ("", "queued", "code")

    def test_options_are_those_of_start(self, ask, served):
        given = {"page": "/admin/auth/group/", "label": "site", "profile": "default"}
        ask(key="nightly", **given)
        ask(key="nightly", **given)

        run = Run.objects.get()
        assert run.page_path == "/admin/auth/group/"
        assert run.messages.get().label == "site"

    def test_conversation_is_continued(self, ask, script, served):
        script.add("One.")
        ask()
        first = resume(Run.objects.get())

        ask("And now?", conversation=str(first.conversation_id))

        assert first.conversation.runs.count() == 2

    def test_where_nothing_executes_runs_it_says_so(self, ask):
        lines, err = ask()

        assert len(lines) == 2
        assert err.startswith("No process of this site executes runs now: it waits")
        assert Run.objects.get().state == "queued"

    @pytest.mark.parametrize(
        ("fields", "sentence"),
        [
            ({"user": "nobody"}, "User 'nobody' does not exist. Check the name."),
            ({"text": " "}, "Write a message first."),
            ({"conversation": "x"}, "This conversation does not exist."),
            ({"label": "x"}, "The label 'x' is unknown. Use 'data', 'site' or 'user'."),
        ],
    )
    def test_what_is_refused_is_one_sentence(self, ask, fields, sentence):
        with pytest.raises(CommandError) as error:
            ask(**fields)

        assert str(error.value) == sentence
        assert not Run.objects.exists()


class TestPage:
    def test_line_for_cron_is_a_command(self, user, served):
        (line,) = re.findall(r"^0 3 .*manage.py (.*)$", page("docs/starting.md"), re.M)
        name, *arguments = shlex.split(line)

        call_command(name, *arguments)

        run = Run.objects.get()
        assert run.page_path == "/admin/shop/order/"
        assert run.messages.get().text.startswith("Which orders are unpaid")


class TestWait:
    def test_it_executes_the_run_where_nobody_else_does(self, ask, script):
        script.add("Two are low.")

        lines, err = ask(wait=True)

        assert (lines[2:], err) == (["Two are low."], "")
        assert Run.objects.get().state == "succeeded"

    def test_all_that_is_said_is_printed_in_order(self, ask, script, offer):
        offer(lambda: "a row", name="look")
        script.add(reply("I look.", call("look")), "Two are low.")

        assert ask(wait=True)[0][2:] == ["I look.", "Two are low."]

    def test_background_tool_is_done_on_the_way(self, ask, script, offer):
        offer(lambda: "a row", name="look", background=True)
        script.add(reply("", call("look")), "Two are low.")

        assert ask(wait=True)[0][2:] == ["Two are low."]

    def test_it_leaves_other_runs_alone(self, ask, script):
        script.add("Two are low.")
        ask("Another")
        other = Run.objects.get()

        ask(wait=True)

        other.refresh_from_db()
        assert other.state == "queued"

    def test_in_a_conversation_with_others_they_come_first(self, ask, script):
        script.add("One.", "Two.")
        ask("First")
        first = Run.objects.get()

        lines, _err = ask("Second", conversation=str(first.conversation_id), wait=True)

        assert lines[2:] == ["Two."]

    def test_it_follows_a_run_that_another_process_executes(
        self,
        ask,
        script,
        served,
        monkeypatch,
    ):
        script.add("Two are low.")

        def elsewhere(_s):
            thread = threading.Thread(target=lambda: resume(Run.objects.get()))
            thread.start()
            thread.join()

        monkeypatch.setattr(assistant_ask.time, "sleep", elsewhere)

        assert ask(wait=True)[0][2:] == ["Two are low."]

    def test_failed_run_is_an_error_with_its_sentence(self, ask, script):
        script.add(RuntimeError("broken"))

        with pytest.raises(CommandError) as error:
            ask(wait=True)

        assert str(error.value) == Run.objects.get().error_text

    def test_run_that_waits_for_its_person_says_so(self, ask, script, offer):
        offer(lambda: None, name="act", effect="write")
        script.add(reply("", call("act")))

        with pytest.raises(CommandError, match="waits for 'ada': it goes on when"):
            ask(wait=True)

        assert Run.objects.get().state == "waiting_approval"

    def test_run_that_is_gone_is_an_error(self, user):
        with pytest.raises(CommandError, match="is gone"):
            assistant_ask._run_of(user.pk, uuid.uuid4(), uuid.uuid4())

    def test_run_is_stopped_by_its_person_meanwhile(
        self,
        ask,
        options,
        function_model,
    ):
        async def never(_request):
            await asyncio.to_thread(lambda: stop(Run.objects.get().pk))
            await asyncio.sleep(60)
            yield "never"

        options(LEASE_S=1.0)
        function_model(never)

        with pytest.raises(CommandError):
            ask(wait=True)

        assert Run.objects.get().state == "cancelled"
