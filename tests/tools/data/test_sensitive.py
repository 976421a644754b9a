"""What is sensitive is neither told, nor found, nor ordered, nor counted by."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Group, Permission, User
from django.contrib.sessions.models import Session
from django.urls import reverse
from django.utils import timezone

from ai_assistant.models import Conversation
from tests.figures import FIGURE
from tests.library.models import Author, Book
from tests.tools.data.reading import call, text_of, try_call

USER = {"model": "auth.user"}
# By what is asked, the fields of a user that no tool knows.
SECRET = (
    *("password", "is_superuser", "is_staff", "groups", "user_permissions"),
    *("logentry", "logentry__change_message", "session", "auth_token"),
)
BEYOND = ("groups__name", "groups__permissions", "groups__permissions__codename")
LOOKUPS = (
    *("", "__exact", "__startswith", "__contains", "__regex", "__iregex", "__gt"),
    *("__in", "__isnull", "__id", "__pk", "__range"),
)
# Ways to a user, and from there on.
HOPS = {
    "library.author": ("account",),
    "library.book": ("author__account",),
    "library.review": ("writer", "book__author__account"),
}
CLOSED = (
    *("auth.permission", "sessions.session", "admin.logentry", "contenttypes.x"),
    *("ai_assistant.run", "ai_assistant.conversation", "ai_assistant.toolcall"),
    *("auth.user_groups", "auth.user_user_permissions", "auth.group_permissions"),
    *("library.vault", "library.diary", "library.card", "library.shelf"),
)
# In a field of JSON that is shown, by the rule for names.
JSON_KEYS = ("data__password", "data__in__totpSeed", "data__in__recovery-codes")
OWN = {
    "library.book": (
        *JSON_KEYS,
        "session_token",
        "margin",
        "copies__pin",
        "vault__contents",
    ),
    "library.author": (
        "api_key",
        "passcode",
        "totp_seed",
        "session",
        "session__session_data",
        "session_id",
    ),
    "library.publisher": ("auth_token",),
    "auth.group": ("permissions", "permissions__codename", "user__password"),
}

Call = tuple[str, dict[str, Any]]


def attempts(ids: dict[str, Any]) -> Iterator[Call]:
    """Yield calls that ask for what is hidden; all of them have to be refused."""
    for name in (*SECRET, *BEYOND):
        yield from asked_by(USER, name, ids["auth.user"])
    for model, ways in HOPS.items():
        for way, name in product(ways, (*SECRET, *BEYOND)):
            yield from asked_by({"model": model}, f"{way}__{name}", ids[model])
    for model, names in OWN.items():
        for name in names:
            yield from asked_by({"model": model}, name, ids[model])
    for model in CLOSED:
        yield "describe_model", {"model": model}
        yield "search_objects", {"model": model}
        yield "aggregate_objects", {"model": model}
        for tool, own in product(("get_object", "object_history"), (1, "canary-key")):
            yield tool, {"model": model, "id": own}


def asked_by(model: dict[str, str], name: str, own: Any) -> Iterator[Call]:
    for lookup in LOOKUPS:
        value = {"__in": ["x"], "__range": ["a", "z"], "__isnull": True}.get(
            lookup, "x"
        )
        yield "search_objects", {**model, "filters": {f"{name}{lookup}": value}}
    yield "aggregate_objects", {**model, "filters": {f"{name}__contains": "a"}}
    for sign in ("", "-"):
        yield "search_objects", {**model, "ordering": [f"{sign}{name}"]}
    yield "search_objects", {**model, "fields": [name]}
    yield "get_object", {**model, "id": own, "fields": [name]}
    yield "aggregate_objects", {**model, "group_by": [name]}
    for kind in ("min", "max", "sum"):
        yield "aggregate_objects", {**model, "measures": [f"{kind}:{name}"]}
    yield "find_related", {**model, "field": name}


class CanaryInline(admin.TabularInline):
    """Who has which permissions: the links of a sensitive field."""

    model = User.user_permissions.through
    extra = 0


class MemberInline(admin.TabularInline):
    model = User.groups.through
    extra = 0


@pytest.fixture
def secrets(boss, shop, monkeypatch):
    """Canaries in each place that is hidden, and an admin that shows all of them."""
    boss.groups.add(Group.objects.create(name="canary-group"))
    permission = Permission.objects.first()
    permission.name = "canary-permission"
    permission.save()
    boss.user_permissions.add(permission)
    session = Session.objects.create(
        session_key="canary-key", session_data="canary-data", expire_date=timezone.now()
    )
    Author.objects.update(account=boss, session=session)
    Conversation.objects.create(owner=boss, title="canary-conversation")
    codes = {"totpSeed": "canary-seed", "recovery-codes": ["canary-code"]}
    Book.objects.update(data={"password": "canary-password", "in": codes})
    LogEntry.objects.log_actions(boss.pk, [boss], CHANGE, "canary-log")
    monkeypatch.setattr(
        type(admin.site.get_model_admin(User)), "inlines", (CanaryInline, MemberInline)
    )
    monkeypatch.setattr(
        type(admin.site.get_model_admin(User)),
        "search_fields",
        ("password", "groups__name", "user_permissions__name"),
    )
    return {
        "auth.user": boss.pk,
        "auth.group": boss.groups.get().pk,
        "library.book": shop.sea.pk,
        "library.author": shop.verne.pk,
        "library.publisher": shop.sea.publisher_id,
        "library.review": Book.objects.get(pk=shop.sea.pk)
        .review_set.create(writer=boss)
        .pk,
    }


def canaries(user: User, text: str) -> list[str]:
    known = ["canary", "hunter2", user.password, user.password.split("$")[-1]]
    # What was asked for comes back in a refusal.
    said = text.replace("'canary-key'", "")
    return [one for one in known if one in said]


@pytest.mark.broad
def test_every_attempt_is_refused(boss, secrets, record_property):
    tried = 0
    answered, leaks = [], []
    for tool, arguments in attempts(secrets):
        result = try_call(tool, boss, **arguments)
        tried += 1
        if result.ok:
            answered.append((tool, arguments))
        if canaries(boss, text_of(result)):
            leaks.append((tool, arguments, text_of(result)))

    record_property(
        FIGURE,
        f"sensitive fields and tables: {tried} attempts, {len(answered)} answered, "
        f"{len(leaks)} leaks",
    )
    assert (answered, leaks) == ([], [])
    assert tried >= 200


class TestWhatIsTold:
    @pytest.mark.parametrize(
        "label", ["auth.user", "auth.group", "library.book", "library.author"]
    )
    def test_whole_objects_hold_no_secret(self, boss, secrets, label):
        told = [
            try_call("get_object", boss, model=label, id=secrets[label]),
            try_call("describe_model", boss, model=label),
            try_call("search_objects", boss, model=label),
        ]

        assert all(result.ok for result in told)
        assert [hit for one in told for hit in canaries(boss, text_of(one))] == (
            # A group is called by its name: that is no secret of the user's.
            ["canary"] * 2 if label == "auth.group" else []
        )

    def test_admin_itself_shows_them(self, client, boss, secrets):
        """So that the test above is not empty: the page has what the tool hides."""
        client.force_login(boss)
        page = client.get(reverse("admin:auth_user_change", args=[boss.pk]))

        assert "canary-group" in page.text
        assert "canary-permission" in page.text

    def test_search_is_no_oracle(self, boss, secrets):
        result = try_call("search_objects", boss, **USER, search="md5")

        assert (result.ok, "has no search" in result.error) == (False, True)

    def test_inlines_of_links(self, boss, secrets):
        data = call("get_object", boss, **USER, id=boss.pk)

        assert "inlines" not in data
        described = call("describe_model", boss, **USER)
        assert "inlines" not in described

    def test_opened_by_name(self, boss, secrets, settings):
        settings.AI_ASSISTANT = {"DATA": {"NOT_SENSITIVE": ["auth.user.is_staff"]}}

        assert call("get_object", boss, **USER, id=boss.pk)["fields"]["is_staff"]
        assert call("search_objects", boss, **USER, filters={"is_staff": True})["rows"]
