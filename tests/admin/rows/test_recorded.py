"""Each kind of row: what is added, changed and deleted is in the history and the audit."""

import pytest
from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.urls import reverse

from ai_assistant.configuration.transfer.kinds import KINDS
from ai_assistant.models import (
    Agent,
    AuditEntry,
    Budget,
    Instruction,
    Memory,
    Module,
    PolicyRule,
    Profile,
    PromptCommand,
    Skill,
    Suggestion,
)

pytestmark = [pytest.mark.django_db, pytest.mark.row("X03")]

NAMED = {"name": "spare", "is_active": "on", "priority": "0"}
# Of each kind what its form gets first, and which field is changed afterwards.
ROWS = {
    Agent: ({**NAMED, "text": "Count."}, {"text": "Count twice."}),
    Budget: ({"scope": "site", "window": "day", "tokens": "5"}, {"tokens": "9"}),
    Instruction: ({**NAMED, "text": "Be brief."}, {"text": "Be kind."}),
    Memory: (
        {"text": "We close at six.", "is_active": "on", "for_everyone": "on"},
        {"text": "At five."},
    ),
    Module: ({**NAMED, "pages": "auth.group", "text": "A."}, {"text": "B."}),
    PolicyRule: ({"tools": "find_.*", "decision": "ask"}, {"reason": "new"}),
    Profile: (
        {"name": "spare", "is_active": "on", "model": "openai/x", "options": "{}"},
        {"label": "Spare"},
    ),
    PromptCommand: ({**NAMED, "text": "Sum up.", "arguments": "{}"}, {"text": "Sum."}),
    Skill: ({**NAMED, "description": "How.", "body": "1. Look."}, {"body": "2. Say."}),
    Suggestion: ({**NAMED, "label": "What is open?"}, {"label": "What is new?"}),
}


@pytest.mark.parametrize("model", ROWS, ids=lambda one: one.__name__)
def test_each_change_is_recorded(admin_client, admin_user, model):
    name = f"admin:ai_assistant_{model._meta.model_name}"
    fields, changed = ROWS[model]

    admin_client.post(reverse(f"{name}_add"), fields)
    row = model.objects.get()
    there = reverse(f"{name}_change", args=[row.pk])
    admin_client.post(there, fields | changed)
    admin_client.post(reverse(f"{name}_delete", args=[row.pk]), {"post": "yes"})

    assert not model.objects.exists()
    logged = LogEntry.objects.filter(object_id=row.pk).order_by("pk")
    assert [one.action_flag for one in logged] == [ADDITION, CHANGE, DELETION]
    audited = AuditEntry.objects.filter(action__startswith="settings.").order_by("pk")
    assert [one.action for one in audited] == [
        "settings.added",
        "settings.changed",
        "settings.deleted",
    ]
    (field, value), *_none = changed.items()
    assert str(audited[1].details["values"][field]) == value
    assert {one.user for one in audited} == {admin_user}


def test_each_kind_of_configuration_is_here():
    assert {*ROWS} == {kind.model for kind in KINDS}
