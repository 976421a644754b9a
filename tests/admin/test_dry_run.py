"""A dry run really asks the model, carries nothing out and is paid for."""

from dataclasses import replace
from html import unescape

import pytest
from django.contrib.auth.models import Group
from django.urls import reverse

import ai_assistant
from ai_assistant.models import (
    AuditEntry,
    Budget,
    Conversation,
    Run,
    ToolCall,
    UsageLedger,
)
from ai_assistant.registry import registry
from tests.admin.test_prompts import GROUPS, USES, person
from tests.model_server.scripts import call, status, text

pytestmark = [pytest.mark.django_db, pytest.mark.servers, pytest.mark.row("B02")]

PAGE = reverse("admin:ai_assistant_run_prompt")


@pytest.fixture
def server(settings, model_server):
    profile = {"MODEL": "openai/scripted", "API_BASE": model_server.base}
    own = {**settings.AI_ASSISTANT, "PROFILES": {"default": profile}}
    settings.AI_ASSISTANT = own
    model_server.clear()
    return model_server


@pytest.fixture
def grace():
    return person("grace", *USES, "view_prompts")


@pytest.fixture
def send(client, server, grace):
    """Send as Grace what Eva, who may do all with groups, would tell the model."""
    rights = [f"{may}_group" for may in ("view", "add", "change")]
    person("eva", *USES, *rights)

    def send(*said, user=grace, **fields):
        server.script("dry-run", [[*said]])
        client.force_login(user)
        values = {"user": "eva", "path": GROUPS, "text": "Go [[script:dry-run]]"}
        return client.post(PAGE, {**values, **fields})

    return send


class TestReply:
    def test_proposed_calls_are_shown_and_nothing_is_done(self, send, server):
        arguments = {"model": "auth.group", "values": {"name": "Editors"}}

        page = send(text("I would add it."), call("create_object", arguments))

        reply = page.context["reply"]
        assert (reply["error"], reply["text"]) == ("", "I would add it.")
        (proposed,) = reply["calls"]
        assert (proposed["name"], proposed["decided"]) == (
            "create_object",
            "ask (first)",
        )
        assert "Editors" in proposed["arguments"]
        assert "Editors" in page.content.decode()
        for model in (Run, Conversation, ToolCall):
            assert not model.objects.exists()
        assert not Group.objects.exists()

    def test_what_is_sent_is_what_is_shown(self, send, server):
        look = send(text("Hi.")).context["look"]

        (sent,) = server.requests()
        system, user = sent["messages"]
        parts = [unescape(one["text"]) for one in look["prompt"]["parts"]]
        assert [part for part in parts if part not in system["content"]] == []
        assert user["content"] == "Go [[script:dry-run]]"
        told = [tool["function"]["name"] for tool in sent["tools"]]
        assert told == [tool["name"] for tool in look["tools"]]

    def test_hook_of_the_site_sees_the_request_first(self, send, server):
        def mask(context, call):
            *others, said = call.messages
            masked = {**said, "content": said["content"] + " (masked)"}
            return replace(call, messages=[*others, masked])

        with registry.restored():
            ai_assistant.hook("before_model_request")(mask)
            send(text("Hi."))

        assert server.requests()[0]["messages"][-1]["content"].endswith("(masked)")


class TestMoney:
    def test_use_is_that_of_who_sends_it(self, send, grace):
        send(text("Hi."))

        row = UsageLedger.objects.get()
        assert (row.user, row.run, row.state) == (grace, None, "settled")
        assert row.tokens > 0
        entry = AuditEntry.objects.get(action="prompt.sent")
        assert entry.details["page"] == GROUPS

    def test_budget_that_is_used_up_is_said_and_nothing_is_sent(self, send, server):
        Budget.objects.create(scope="site", window="month", tokens=10)

        page = send(text("Hi."))

        assert "budget" in page.context["reply"]["error"]
        assert server.requests() == []

    def test_refused_key_is_said_and_costs_nothing(self, send):
        page = send(status(401))

        assert "refused the key" in page.context["reply"]["error"]
        assert UsageLedger.objects.get().state == "released"


class TestRefusals:
    def test_without_a_message_nothing_is_sent(self, send, server):
        page = send(text="")

        assert page.context["form"].errors["text"]
        assert server.requests() == []

    @pytest.mark.parametrize("held", [USES, ("view_prompts",)])
    def test_needs_both_permissions(self, send, server, held):
        olaf = person("olaf", *held)

        assert send(text("Hi."), user=olaf).status_code == 403
        assert server.requests() == []
