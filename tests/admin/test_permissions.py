"""Who may see and change what: the table in docs/permissions.md, cell by cell."""

import json
import re
from collections import Counter
from functools import partial

import pytest
from django.contrib import admin
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import reverse

from ai_assistant.admin.reports import PAGES
from ai_assistant.configuration.profiles import keep_key
from ai_assistant.configuration.transfer.kinds import kind_of, values_of
from ai_assistant.models import (
    AccessToken,
    Agent,
    AuditEntry,
    Budget,
    ChangeSet,
    Feedback,
    Instruction,
    Memory,
    PolicyRule,
    PromptCommand,
    Skill,
    Suggestion,
    ToolCall,
    UsageLedger,
)
from ai_assistant.models.configuration import Profile
from ai_assistant.models.module import Module
from ai_assistant.models.run import PromptText
from tests.docs.blocks import page, section

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _quiet(caplog):
    """Each refusal would be told with its traceback, which takes half of the time."""
    caplog.set_level("ERROR", "django.request")


APP = "ai_assistant"
PAGE = page("docs/permissions.md")
NAMES = re.compile(r"`(\w+)`")
CELLS = {"yes": {"own", "other"}, "own": {"own"}, "–": set()}
START = "start page"
CHANGED = {"list": "changelist", "page": "change"}  # what the address is called
ONE = (
    "page",
    "history",
    "change",
    "delete",
    "restore",
    "prompts",
    "test",
)  # of one row
FILE = json.dumps({"version": 1, "instructions": []})
# Pages that send something, with what they refuse only to who may send it.
SENDS = {
    "prompt": ("", {"path": "nowhere"}),
    "first_run": ("?provider=openai", {"model": ""}),
}
KEY = "sk-canary-of-the-table-4b1f"


def rows_of(heading):
    """Return the lines of the table below a heading, each as its cells."""
    lines = re.findall(r"^\|(.*)\|$", section(PAGE, heading), re.M)
    return [[cell.strip() for cell in line.split("|")] for line in lines]


def roles():
    """Return the codenames that each role has; None for all."""
    found = {}
    for name, has in rows_of("The roles")[2:]:
        alone, _and, both = has.partition(" and ")
        own = NAMES.findall(alone)
        starts = [one for one in NAMES.findall(both) if one.endswith("_")]
        tables = [one for one in NAMES.findall(both) if not one.endswith("_")]
        own += [f"{start}{table}" for start in starts for table in tables]
        found[name] = None if has == "everything" else own
    found["staff"] = []
    return found


HEAD, _line, *TABLE = rows_of("The table")
ROLES = roles()
MATRIX = [
    (table, action, dict(zip(HEAD[2:], cells, strict=True)))
    for tables, actions, *cells in TABLE
    for table in (NAMES.findall(tables) or [tables])
    for action in NAMES.findall(actions)
]


def pages():
    """Return all that our admin has: the addresses of each table, and its actions."""
    yield START, "open"
    for model, own in admin.site._registry.items():
        if model._meta.app_label != APP:
            continue
        table = model._meta.model_name
        names = [one.name for one in own.get_urls() if one.name]
        named = {name.removeprefix(f"{APP}_{table}_") for name in names}
        for one in named:
            if one == "changelist":
                yield table, "list"
            elif one == "change":
                yield from ((table, "page"), (table, "change"))
            elif (table, one) == ("report", "page"):
                yield from ((table, page.name) for page in PAGES)
            else:
                yield table, one
        actions = [one if isinstance(one, str) else one.__name__ for one in own.actions]
        yield from ((table, one) for one in actions)


class Rows:
    """A row of each table that belongs to a user, and another that does not."""

    def __init__(self, told, people, user):
        self.user, self.found = user, {}
        people["bob"] = user
        for whose, name in (("own", "bob"), ("other", "ada")):
            self._keep(whose, name, told(name), people[name])
        for model in (Instruction, Skill, PromptCommand, Suggestion, Agent):
            self._configure(model)
        self._keep_rows(
            Module.objects.create(name="unlike", pages="admin:auth_group_*"),
            self._profile(),
            PolicyRule.objects.create(tools="mark_paid", decision="deny"),
            Budget.objects.create(scope="site", window="day", tokens=1),
        )

    def _profile(self):
        row = Profile(name="spare", model="openai/gpt-5-mini")
        keep_key(row, KEY)
        row.save()
        return row

    def _keep(self, whose, name, conversation, user):
        run = conversation.runs.get()
        stored = {
            "conversation": conversation,
            "run": run,
            "toolcall": ToolCall.objects.get(run=run),
            "changeset": ChangeSet.objects.get(run=run),
            "usageledger": UsageLedger.objects.get(run=run),
            "auditentry": AuditEntry.objects.filter(run_id=run.pk).first(),
            "feedback": Feedback.objects.create(run=run, user=user, value="up"),
            "memory": Memory.objects.create(
                text="Write briefly.", owner=user if whose == "own" else None
            ),
            "accesstoken": AccessToken.objects.create(
                user=user, name=name, digest=name, scopes=["read"]
            ),
        }
        for table, row in stored.items():
            self.found[table, whose] = row

    def _configure(self, model):
        values = {"name": "spare", "text": "Text.", "description": "What it is."}
        values |= {"label": "Spare", "body": "Body."}
        names = {field.name for field in model._meta.fields}
        row = model(**{name: value for name, value in values.items() if name in names})
        row.save()
        self._keep_rows(row)

    def _keep_rows(self, *rows):
        for row in rows:
            self.found[row._meta.model_name, "other"] = row

    def of(self, table, whose):
        return self.found.get((table, whose))

    def entry(self, row):
        """Return an entry of a row's history that it can be brought back to."""
        values = values_of(kind_of(type(row)), row)
        return LogEntry.objects.create(
            user_id=self.user.pk,
            content_type=ContentType.objects.get_for_model(row),
            object_id=str(row.pk),
            object_repr=str(row),
            action_flag=CHANGE,
            change_message=json.dumps([{"changed": {}}, {"values": values}]),
        )


def asked(client, rows, table, action, row):
    """Yield the responses to what the action sends, each a function."""
    if table == START:
        yield partial(client.get, reverse("admin:app_list", args=[APP]))
    else:
        yield from asked_of_table(client, rows, table, action, row)


def asked_of_table(client, rows, table, action, row):
    """Yield the same of the pages of a table."""
    name, key = f"admin:{APP}_{table}", getattr(row, "pk", None)
    if table == "report" and action != "list":
        yield partial(client.get, reverse(f"{name}_page", args=[action]))
    elif action in SENDS:
        query, data = SENDS[action]
        yield partial(client.get, reverse(f"{name}_{action}") + query)
        yield partial(client.post, reverse(f"{name}_{action}") + query, data)
    elif action in {"compare", "apply"}:
        file = SimpleUploadedFile("a.json", FILE.encode())
        data = {"file": file} if action == "compare" else {"text": FILE, "name": "a"}
        yield partial(client.post, reverse(f"{name}_changelist"), data)
    elif action == "save":
        yield partial(client.get, reverse(f"{name}_save", args=["yaml"]))
    elif action == "restore":
        there = reverse(f"{name}_restore", args=[key, rows.entry(row).pk])
        yield partial(client.post, there)
    elif action in {"add", "change", "delete", "preview"}:
        there = reverse(f"{name}_{action}", args=[key] if action in ONE else [])
        if action in {"add", "delete"}:
            yield partial(client.get, there)
        yield partial(client.post, there, {"post": "yes"})
    else:
        there = CHANGED.get(action, action)
        yield partial(
            client.get,
            reverse(f"{name}_{there}", args=[key] if action in ONE else []),
        )


def is_allowed(response):
    """Return whether a response shows or does something, and sends nobody away."""
    home = (reverse("admin:index"), reverse("admin:login"))
    to = response.headers.get("Location", "").partition("?")[0]
    return response.status_code in {200, 302} and to not in home


def acted(client, table, action, row):
    """Carry out an action of a list, and return whether it was."""
    if hasattr(row, "is_active") and action.startswith("switch"):
        type(row).objects.update(is_active=action == "switch_off")
    data = {"action": action, "_selected_action": [row.pk], "post": "yes"}
    response = client.post(
        reverse(f"admin:{APP}_{table}_changelist"), {**data, "confirmed": "1"}
    )
    now = type(row).objects.filter(pk=row.pk).first()
    if action == "delete_selected":
        return now is None
    if action.startswith("switch"):
        return now.is_active is (action == "switch_on")
    if action == "revoke_chosen":
        return now.revoked_at is not None
    if action == "export":
        is_file = response.headers["Content-Type"] == "application/json"
        return is_file and row.text in response.content.decode()
    return response.headers.get("Location", "").startswith(reverse("ai_assistant:undo"))


def sent_to(sends):
    """Return the responses; in none of them is the key of a profile."""
    responses = [send() for send in sends]
    assert not any(KEY in one.getvalue().decode() for one in responses)
    return responses


def may(client, rows, table, action, whose):
    """Return whether the user may do something with a row; nothing of it stays."""
    row = rows.of(table, whose)
    with transaction.atomic():
        if row is not None and action in LIST_ACTIONS:
            done = {acted(client, table, action, row)}
        else:
            sent = sent_to(asked(client, rows, table, action, row))
            done = {is_allowed(response) for response in sent[:1]}
            if action == "list" and row is not None and True in done:
                done = {row in sent[0].context["cl"].queryset}
            elif action == "delete":  # without a list to go to, it leads home
                done.add(not type(row).objects.filter(pk=row.pk).exists())
            else:
                done |= {is_allowed(response) for response in sent}
        transaction.set_rollback(True)
    assert len(done) == 1, f"{table} {action}: the page and what it sends differ"
    return done.pop()


LIST_ACTIONS = {"delete_selected", "switch_on", "switch_off"} | {
    action
    for table, own in admin.site._registry.items()
    if table._meta.app_label == APP
    for action in own.actions
}


def test_table_has_every_page_and_action_once():
    counted = Counter((table, action) for table, action, _cells in MATRIX)
    extra = {"delete_selected", "compare", "apply"}  # of no address of their own

    assert max(counted.values()) == 1
    assert {one for one in counted if one[1] not in extra} == {*pages()}
    assert [*ROLES] == HEAD[2:]
    assert len(ROLES) == 8


@pytest.mark.parametrize("role", ROLES)
def test_role_may_do_what_the_table_says(role, told, people, client):
    user = get_user_model().objects.create_user("eva", is_staff=True)
    permissions = Permission.objects.filter(content_type__app_label=APP)
    codenames = ROLES[role]
    if codenames is None:
        user.is_superuser = True
        user.save()
    else:
        chosen = permissions.filter(codename__in=codenames)
        assert {one.codename for one in chosen} == {*codenames}
        user.user_permissions.set(chosen)
    client.force_login(user)
    rows = Rows(told, people, user)

    wrong = []
    for table, action, cells in MATRIX:
        for whose in ("own", "other"):
            has_rows = rows.of(table, "other") is not None
            if has_rows and rows.of(table, whose) is None:
                continue  # nobody's own
            said = whose in CELLS[cells[role]]
            if may(client, rows, table, action, whose) is not said:
                wrong.append((table, action, whose, cells[role]))
    assert wrong == []


def test_who_is_not_signed_in_or_no_staff_may_do_nothing(told, people):
    user = get_user_model().objects.create_user("eva")
    user.user_permissions.set(Permission.objects.all())
    rows = Rows(told, people, user)
    signed_in = Client()
    signed_in.force_login(user)

    allowed = [
        (table, action)
        for table, action, _cells in MATRIX
        for client in (Client(), signed_in)
        if may(client, rows, table, action, "other")
    ]
    assert allowed == []


def test_page_that_deletes_a_user_tells_nothing_of_theirs(told, people, client):
    run = told("ada").runs.get()
    Memory.objects.create(owner=people["ada"], text="I was ill in May.")
    PromptText.objects.create(
        conversation=run.conversation, digest="d1", text="You are told a secret."
    )
    eva = get_user_model().objects.create_user("eva", is_staff=True)
    codenames = ("view_user", "delete_user", "delete_conversation", "delete_memory")
    eva.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    client.force_login(eva)

    there = reverse("admin:auth_user_delete", args=[people["ada"].pk])
    page = client.get(there).content.decode()

    assert "Conversation of " in page
    assert "Memory of " in page
    for words in ("Of ada", "I was ill", "You are told"):
        assert words not in page


def test_profiles_are_not_found_by_their_stored_key(admin_client):
    there = reverse("admin:ai_assistant_profile_changelist")

    for lookup in ("api_key_encrypted__startswith", "api_key_encrypted"):
        assert admin_client.get(there, {lookup: "a"}).status_code == 400
