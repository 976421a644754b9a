"""The audit names the person who acts as somebody else."""

from uuid import uuid4

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.test import Client

from ai_assistant import conf
from ai_assistant.models.audit import AuditEntry
from ai_assistant.safety.audit import verify
from ai_assistant.safety.identity.session import session_stamp
from ai_assistant.testing import answer_interrupt, call, reply
from ai_assistant.testing.recorded import Recording
from ai_assistant.testing.scripted import ScriptedProvider
from ai_assistant.testing.stage import play
from tests.hosts.packages.sites.hijack import cases
from tests.hosts.packages.sites.hijack.models import Poll

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/admin/host/poll/1/change/"


@pytest.fixture
def people():
    cases.make()
    users = get_user_model().objects
    ann = users.create_user("ann", is_staff=True)
    names = ("view_poll", "change_poll", "view_assistant", "use_assistant")
    ann.user_permissions.set(Permission.objects.filter(codename__in=names))
    return users.create_superuser("ada", password="hunter2hunter2"), ann


def changes_a_poll(user, request):
    arguments = {"model": "host.poll", "id": 1, "values": {"title": "B"}}
    replies = [reply("", call("change_object", arguments)), "Done."]
    recording = Recording(provider=ScriptedProvider(replies), script=len(replies))
    played = play(
        user,
        recording,
        path=PAGE,
        text="Change it.",
        conversation_id=uuid4(),
        stamp=session_stamp(request),
    )
    assert played.state == "waiting_approval", played.error
    return answer_interrupt(played, "approve")


def test_audit_names_who_has_hijacked_the_session(people, settings):
    boss, ann = people
    audit = {"AUDIT": {"STARTS": True}}
    settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, audit)
    client = Client()
    client.force_login(boss)
    client.post("/hijack/acquire/", {"user_pk": ann.pk, "next": "/admin/"})
    request = client.get(PAGE).wsgi_request
    assert request.user == ann

    played = changes_a_poll(ann, request)

    assert played.state == "succeeded", played.error
    assert Poll.objects.get(pk=1).title == "B"
    assert LogEntry.objects.get().user == ann
    assert verify().findings == ()
    for action in ("run.started", "call.complete"):
        entry = AuditEntry.objects.get(action=action)
        assert entry.details["behind"] == [f"ada ({boss.pk})"]


def test_nobody_is_behind_a_session_that_was_given_back(people, settings):
    boss, ann = people
    client = Client()
    client.force_login(boss)
    client.post("/hijack/acquire/", {"user_pk": ann.pk, "next": "/admin/"})
    client.post("/hijack/release/", {"next": "/admin/"})
    request = client.get(PAGE).wsgi_request
    assert request.user == boss

    assert changes_a_poll(boss, request).state == "succeeded"

    assert "behind" not in AuditEntry.objects.get(action="call.complete").details
