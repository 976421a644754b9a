"""Where the admin asks for a second factor, an undo is asked of the session that wants it."""

import json

import pytest
from ag_ui.core import RunAgentInput
from asgiref.sync import async_to_sync
from django.conf import settings as site_settings
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client, RequestFactory

from ai_assistant import RunContext, ToolFailed
from ai_assistant.context.page import page_info
from ai_assistant.engine.calls.attempt import Attempt
from ai_assistant.engine.calls.preview import proposed
from ai_assistant.engine.undo_tool import preview_undo
from ai_assistant.exceptions import Refused
from ai_assistant.models import Run
from ai_assistant.registry import registry
from ai_assistant.safety.identity.session import kept_key, session_stamp
from ai_assistant.safety.identity.tokens import issue
from ai_assistant.web.agui.acts import asked_act
from ai_assistant.web.principal import Caller
from tests.second_factor import Verifying, verified_site  # noqa: F401 - a fixture
from tests.web.panel.test_undo import digest_of
from tests.web.rest.test_undo import change, marks, names  # noqa: F401 - fixtures

PATH = "/assistant/undo/"
WRITTEN, RESTORED = ["new green", "new heavy"], ["green", "heavy"]
SAID = "Its admin asks for a second factor"


@pytest.fixture
def asked(settings, browser, change, verified_site):  # noqa: F811
    """Return a browser, verified or not; what it undoes was written by a verified one."""
    middleware = f"{Verifying.__module__}.{Verifying.__name__}"
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, middleware]
    own = {"MIDDLEWARE": [middleware]}
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "DATA": own}

    def make(*, is_verified: bool) -> Client:
        client = browser("ada")
        session = session_of(client)
        session["otp_device_id"] = "device" if is_verified else ""
        session.save()
        return client

    written = kept_key(session_of(make(is_verified=True)))
    Run.objects.filter(pk=change.run_id).update(session_sealed=written)
    return make


def session_of(client):
    return SessionStore(client.cookies[site_settings.SESSION_COOKIE_NAME].value)


def by_panel(client, change):  # noqa: F811
    shown = client.get(PATH, {"change": change.pk})
    form = {"change": change.pk, "digest": digest_of(shown), "rest": "1"}
    client.post(PATH, form)
    return shown.content.decode()


def by_panel_at_once(client, change):  # noqa: F811
    form = {"change": change.pk, "do": "now"}
    return client.post(PATH, form).content.decode()


def by_api(client, change):  # noqa: F811
    path = f"/assistant/api/changes/{change.pk}/undo/"
    digest = client.get(path).json()["digest"]
    posted = {"content_type": "application/json"}
    return client.post(path, json.dumps({"digest": digest}), **posted).content.decode()


def by_agui(client, change):  # noqa: F811
    request = RequestFactory().get("/")
    request.session, request.user = session_of(client), change.user
    caller = Caller(user=change.user, stamp=session_stamp(request))

    def told(**named):
        props = {"aia": {"undo": {"change": str(change.pk), **named}}}
        body = RunAgentInput(
            thread_id="t",
            run_id="r",
            messages=[],
            tools=[],
            context=[],
            state=None,
            forwarded_props=props,
        )
        act = asked_act(caller, body, change.run.conversation)
        (event,) = async_to_sync(act.events)()
        return event.value

    try:
        told(digest=told()["digest"])
    except Refused as refused:
        return str(refused)
    return ""


DOORS = [by_panel, by_panel_at_once, by_api, by_agui]


class TestUndo:
    @pytest.mark.parametrize("door", DOORS)
    def test_of_a_verified_person(self, asked, change, door):  # noqa: F811
        told = door(asked(is_verified=True), change)

        assert names() == RESTORED
        assert SAID not in told

    @pytest.mark.parametrize("door", DOORS)
    def test_of_one_who_was_not(self, asked, change, door):  # noqa: F811
        told = door(asked(is_verified=False), change)

        assert names() == WRITTEN
        assert SAID in told

    def test_by_a_token(self, asked, change):  # noqa: F811
        _token, secret = issue(change.user, "script", ("read", "run", "approve"))
        program = Client(headers={"authorization": f"Bearer {secret}"})

        assert SAID in by_api(program, change)
        assert names() == WRITTEN

    def test_by_the_assistant_as_the_session_of_its_run(self, asked, change):  # noqa: F811
        context = RunContext(
            user=change.user,
            run_id=change.run_id,
            conversation_id=change.run.conversation_id,
            page=page_info("/admin/"),
        )
        assert len(preview_undo(context, change=change.pk).objects) == 2
        other = kept_key(session_of(asked(is_verified=False)))
        Run.objects.filter(pk=change.run_id).update(session_sealed=other)

        with pytest.raises(ToolFailed, match=SAID):
            preview_undo(context, change=change.pk)


def test_card_says_that_a_verified_person_can_undo_it(asked, change, marks):  # noqa: F811
    run, call = Run.objects.get(pk=change.run_id), change.call
    values = {"name": "another"}
    call.arguments = {"model": "warehouse.mark", "id": marks[0].pk, "values": values}
    tool = registry.tool("change_object")

    card = async_to_sync(proposed)(Attempt(run=run, call=call, tool=tool))

    assert (card.undoable, card.undo_limits) == (True, ())
