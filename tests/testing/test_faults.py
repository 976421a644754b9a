"""A tool that fails by a fault of its own: log, card, and the test that wants it."""

import logging
import re

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.urls import reverse

from ai_assistant import RunContext, ToolFailed, conf, tool
from ai_assistant.models import ToolCall
from ai_assistant.testing import (
    answer_interrupt,
    call,
    reply,
    run_assistant,
    temporary_registration,
)
from ai_assistant.web.agui.threads import whole_history

pytestmark = pytest.mark.django_db

FAULT = "KeyError: 'missing'"
SECRET = "sk-ant-" + "a1B2" * 12


class Broken(Exception):
    """What a tool raises that tells a secret."""


def broken():
    return {}["missing"]


def reads() -> None:
    """Fail."""
    broken()


async def awaits() -> None:
    """Fail."""
    broken()


async def goes_on():
    """Fail after a piece."""
    yield 1
    broken()


def generates():
    """Fail after a piece."""
    yield 1
    broken()


def fine() -> None:
    """Do nothing."""


def calls(context: RunContext) -> dict:
    """Call a tool that fails."""
    return {"ok": context.call_tool("reads").ok}


def says() -> None:
    """Fail as a tool should."""
    raise ToolFailed("There is none.")


def leaks() -> None:
    """Fail with a secret."""
    raise Broken(f"wrong key {SECRET}")


@pytest.fixture
def user():
    return get_user_model().objects.create_superuser("ada", password="x")


@pytest.fixture(autouse=True)
def _tools(settings):
    settings.AI_ASSISTANT = conf.merged(
        settings.AI_ASSISTANT,
        {"LIMITS": {"TOOL_SCHEMA_CHARS": 10**6}, "POLICY": {"writes": "allow"}},
    )
    with temporary_registration():
        for one in (reads, awaits, goes_on, generates, calls, says, leaks):
            tool(effect="read")(one)
        tool(effect="read", background=True, name="later")(reads)
        tool(effect="write", name="writes")(reads)
        tool(effect="write", preview="transaction", name="tried")(reads)
        tool(effect="write", prepare=broken, name="prepares")(fine)
        tool(effect="write", preview=broken, name="looks")(fine)
        yield


def failed(user, name, **options):
    said = [reply("", call(name)), "I see."]
    return run_assistant(user, "/admin/", "x", replies=said, **options)


def lines(caplog):
    return [one for one in caplog.records if one.getMessage().startswith("tool ")]


ALL = ["reads", "awaits", "goes_on", "generates", "writes", "later"]
ASKED = ["tried", "prepares", "looks"]


class TestLog:
    @pytest.mark.parametrize("name", ALL)
    def test_log_tells_the_traceback_with_ids(self, user, name, caplog):
        with caplog.at_level(logging.ERROR, "ai_assistant"):
            played = failed(user, name)

        (line,) = lines(caplog)
        row = ToolCall.objects.get()
        assert played.calls[0].status == "failed"
        assert line.getMessage() == (
            f"tool {name!r} failed in call {row.pk} of run {row.run_id}"
        )
        assert line.name == "ai_assistant"
        assert FAULT in caplog.text
        assert 'return {}["missing"]' in caplog.text

    @pytest.mark.parametrize("name", ASKED)
    def test_log_of_a_preview_and_a_preparation(self, user, name, caplog):
        with caplog.at_level(logging.ERROR, "ai_assistant"):
            played = failed(user, name)
            if played.interrupts:
                played = answer_interrupt(played, "approve")

        assert played.calls[0].status == "failed"
        assert len(lines(caplog)) == 1
        assert FAULT in caplog.text

    def test_log_of_a_tool_that_another_calls(self, user, caplog):
        with caplog.at_level(logging.ERROR, "ai_assistant"):
            played = failed(user, "calls")

        child = ToolCall.objects.get(name="reads")
        assert [one.status for one in played.calls] == ["complete", "failed"]
        assert str(child.pk) in lines(caplog)[0].getMessage()
        assert len(lines(caplog)) == 1

    def test_log_is_silent_about_what_a_tool_means_to_say(self, user, caplog):
        with caplog.at_level(logging.ERROR, "ai_assistant"):
            failed(user, "says")

        assert lines(caplog) == []

    def test_log_tells_no_secret(self, user, settings, caplog):
        settings.DEBUG = True
        with caplog.at_level(logging.ERROR, "ai_assistant"):
            failed(user, "leaks")

        assert "Broken: wrong key" in caplog.text
        assert "Broken: wrong key" in ToolCall.objects.get().traceback
        assert SECRET not in caplog.text
        assert SECRET not in ToolCall.objects.get().traceback


@pytest.mark.django_db(transaction=True)
class TestCard:
    def page(self, client, played):
        url = reverse("ai_assistant:page")
        asked = {"conversation": str(played.run.conversation_id)}
        headers = {"HX-Request": "true"}
        return client.get(url, asked, headers=headers).content.decode()

    @pytest.mark.parametrize("name", [*ALL, "calls"])
    def test_card_shows_it_under_debug(self, user, client, settings, name):
        settings.DEBUG = True
        client.force_login(user)

        page = self.page(client, failed(user, name))

        assert page.count('class="aia-traceback"') == 1
        assert "KeyError: &#x27;missing&#x27;" in page

    def test_card_shows_nothing_to_others(self, client, settings):
        settings.DEBUG = True
        editor = get_user_model().objects.create_user("ed", is_staff=True)
        names = ("view_assistant", "use_assistant")
        editor.user_permissions.add(*Permission.objects.filter(codename__in=names))
        client.force_login(editor)

        page = self.page(client, failed(editor, "reads"))

        assert "(KeyError)" in page
        assert "aia-traceback" not in page
        assert "broken()" not in page

    def test_card_shows_nothing_without_debug(self, user, client, settings):
        client.force_login(user)
        played = failed(user, "reads")
        ToolCall.objects.update(traceback="of an earlier day")

        assert "aia-traceback" not in self.page(client, played)

    def test_card_keeps_nothing_without_debug(self, user):
        failed(user, "reads")

        assert ToolCall.objects.get().traceback == ""

    def test_programs_are_told_nothing(self, user, client, settings):
        settings.DEBUG = True
        client.force_login(user)
        played = failed(user, "reads")
        row = ToolCall.objects.get()
        told = [
            client.get(f"/assistant/api/calls/{row.pk}/").content.decode(),
            client.get("/assistant/api/calls/").content.decode(),
            str(whole_history(played.run.conversation, may_answer=True)),
        ]

        assert row.traceback
        for one in told:
            assert "(KeyError)" in one
            assert not re.search(r"broken\(\)|Traceback", one)

    def test_raw_view_has_it(self, user, client, settings):
        settings.DEBUG = True
        client.force_login(user)
        played = failed(user, "reads")

        page = client.get(reverse("ai_assistant:raw"), {"run": str(played.run.pk)})

        assert "KeyError: &#x27;missing&#x27;" in page.content.decode()


class TestRaises:
    @pytest.mark.parametrize("name", [*ALL, "calls"])
    def test_the_error_of_the_tool(self, user, name):
        with pytest.raises(KeyError, match="missing") as caught:
            failed(user, name, raises=True)

        assert [one.name for one in caught.traceback][-1] == "broken"

    def test_raises_when_an_interrupt_is_answered(self, user):
        played = failed(user, "prepares", raises=True)

        with pytest.raises(KeyError, match="missing"):
            answer_interrupt(played, "approve")

    def test_nothing_of_what_a_tool_means_to_say(self, user):
        assert failed(user, "says", raises=True).calls[0].error == "There is none."
