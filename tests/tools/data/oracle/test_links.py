"""No tool gives or takes a right, by whatever way the pages of the admin do it."""

from functools import partial

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.contrib.auth.management import create_permissions
from django.contrib.auth.models import Group, Permission
from django.test import Client

from ai_assistant import ModelRetry, ToolFailed
from ai_assistant.tools.data.access import model_admin
from tests.library.models import Grant, Member
from tests.thorough import part
from tests.tools.data.oracle.links import LINKS
from tests.tools.data.oracle.page import trial
from tests.tools.data.writing import use

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.urls("tests.tools.data.oracle.urls"),
]

User = get_user_model()
ROLES = {
    "superuser": None,
    "view": ("view",),
    "editor": ("view", "add", "change"),
    "manager": ("view", "add", "change", "delete"),
}


def make_user(role):
    if ROLES[role] is None:
        return User.objects.create_superuser(role)
    user = User.objects.create_user(role, is_staff=True)
    models = [*(one._meta.model_name for one in LINKS), "person", "team"]
    names = [f"{may}_{name}" for may in ROLES[role] for name in models]
    user.user_permissions.set(Permission.objects.filter(codename__in=names))
    return User.objects.get(pk=user.pk)


class Rights:
    """Another's rights, those of the bosses, and what there is to take."""

    def __init__(self, user):
        self.user = user
        self.group = Group.objects.create(name="bosses")
        self.other = User.objects.create_user("other")
        self.right, self.spare = Permission.objects.all()[:2]
        self.other.groups.add(self.group)
        self.other.user_permissions.add(self.right)
        self.group.permissions.add(self.right)
        member = Member(
            user_groups_ptr=User.groups.through.objects.get(user=self.other),
            user=self.other,
            group=self.group,
        )
        member.save_base(raw=True)
        Grant.objects.create(user=self.other, permission=self.right, object_pk="1")

    def seen(self):
        tables = (*LINKS, User.groups.through, User.user_permissions.through)
        return [sorted(map(str, one.objects.values_list())) for one in tables]

    def values(self, model):
        own = {"user": self.user.pk, "group": self.group.pk}
        if model._meta.model_name == "groupperm":
            own = {"group": self.group.pk, "permission": self.spare.pk}
        elif "permission" in {one.name for one in model._meta.fields}:
            own = {"user": self.user.pk, "permission": self.spare.pk}
        return own | ({"object_pk": "1"} if model is Grant else {})

    def trials(self):
        """Yield what is tried: its name, what to post where, and the tool's call."""
        for model in LINKS:
            name, pk = model._meta.model_name, model.objects.first().pk
            label, values = model._meta.label_lower, self.values(model)
            posted = values | ({"since": "2026-01-01"} if model is Member else {})
            yield (
                f"add {name}",
                (f"{name}/add/", posted),
                ("create_object", {"model": label, "values": values}),
            )
            for key, value in values.items():
                old = {one: getattr(model.objects.get(pk=pk), f"{one}_id", "1")
                       for one in values}  # fmt: skip
                yield (
                    f"change {key} of {name}",
                    (f"{name}/{pk}/change/", posted | old | {key: value}),
                    (
                        "change_object",
                        {"model": label, "id": pk, "values": {key: value}},
                    ),
                )
                yield (
                    f"change {key} of many {name}",
                    (f"{name}/{pk}/change/", posted | old | {key: value}),
                    (
                        "change_objects",
                        {"model": label, "ids": [pk], "values": {key: value}},
                    ),
                )
            yield (
                f"delete {name}",
                (f"{name}/{pk}/delete/", {"post": "yes"}),
                ("delete_objects", {"model": label, "ids": [pk]}),
            )
        yield from self.on_pages()

    def on_pages(self):
        """Yield what the pages of users and groups do."""
        team = {"model": "library.team", "id": self.group.pk}
        yield (
            "members of team",
            (f"team/{self.group.pk}/change/", {"name": "bosses", "members":
             [self.user.pk, self.other.pk], **totals("groupperm", "group")}),
            ("change_object", team | {"values": {"members": [self.user.pk]}}),
        )  # fmt: skip
        row = {"permission": self.spare.pk}
        yield (
            "permission of team",
            (f"team/{self.group.pk}/change/", {"name": "bosses", "members":
             [self.other.pk], **totals("Group_permissions", "group", row)}),
            ("change_object",
             team | {"values": {}, "inlines": {"library.groupperm": [row]}}),
        )  # fmt: skip
        for name, row in {
            "usergroup": {"group": self.group.pk},
            "userperm": {"permission": self.spare.pk},
            "member": {"group": self.group.pk},
        }.items():
            yield (
                f"{name} of person",
                None,
                (
                    "change_object",
                    {
                        "model": "library.person",
                        "id": self.user.pk,
                        "values": {},
                        "inlines": {f"library.{name}": [row]},
                    },
                ),
            )


def totals(prefix, _key, *rows):
    """Return what a browser posts of an inline with these new rows."""
    data = {f"{prefix}-{number}-{key}": value
            for number, row in enumerate(rows) for key, value in row.items()}  # fmt: skip
    return data | {
        f"{prefix}-TOTAL_FORMS": len(rows),
        f"{prefix}-INITIAL_FORMS": 0,
        f"{prefix}-MIN_NUM_FORMS": 0,
        f"{prefix}-MAX_NUM_FORMS": 1000,
    }


def post(client, path, data):
    client.post(f"/oracle/library/{path}", data)


def call(user, name, arguments):
    try:
        use(name, user, **arguments)
    except (ModelRetry, ToolFailed):
        return


def test_no_tool_gives_or_takes_a_right(capsys, monkeypatch):
    monkeypatch.setattr(model_admin, "_similar_models", lambda *_args: "")
    create_permissions(apps.get_app_config("library"), verbosity=0)
    done_by_page, done_by_tools, tried = [], [], 0
    for role in part(ROLES, every=4, start=3):
        user = make_user(role)
        client = Client()
        client.force_login(user)
        rights = Rights(user)
        before = rights.seen()
        for name, page, (tool, arguments) in rights.trials():
            tried += 1
            if page and trial(partial(post, client, *page), rights.seen) != before:
                done_by_page.append(f"{role}: {name}")
            if trial(partial(call, user, tool, arguments), rights.seen) != before:
                done_by_tools.append(f"{role}: {name}")
        Group.objects.all().delete()
        rights.other.delete()
    with capsys.disabled():
        print(  # noqa: T201 - the figures are the point
            f"\nrights by links: {tried} tried, {len(done_by_page)} by the pages, "
            f"{len(done_by_tools)} by the tools",
            end="",
        )
    assert done_by_tools == []
    assert len(done_by_page) > 15


def test_no_tool_tells_of_a_right(monkeypatch):
    monkeypatch.setattr(model_admin, "_similar_models", lambda *_args: "")
    user = make_user("superuser")
    Rights(user)
    for model in LINKS:
        for tool in ("describe_model", "search_objects", "aggregate_objects"):
            with pytest.raises(ModelRetry):
                use(tool, user, model=model._meta.label_lower)
