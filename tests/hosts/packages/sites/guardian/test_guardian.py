"""Whoever has permissions for some objects reads and writes these and no others."""

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from guardian.shortcuts import assign_perm, remove_perm

from ai_assistant import ModelRetry, ToolFailed
from tests.hosts.packages.context import context_on, known_on, use
from tests.hosts.packages.sites.guardian import cases
from tests.hosts.packages.sites.guardian.models import Poll

POLL = "host.poll"
pytestmark = pytest.mark.django_db


@pytest.fixture
def ann():
    cases.make()
    user = get_user_model().objects.create_user("ann", is_staff=True)
    for name in ("view", "change"):
        assign_perm(f"host.{name}_poll", user, Poll.objects.get(pk=1))
    return user


@pytest.fixture
def context(ann):
    client = Client()
    client.force_login(ann)
    return context_on("/admin/host/poll/", client, ann)


def test_only_these_are_read(context):
    found = use(context, "search_objects", model=POLL)

    assert [row["id"] for row in found["rows"]] == [1]
    assert use(context, "get_object", model=POLL, id=1)["may"] == ["change"]
    with pytest.raises(ModelRetry, match="There is no poll with the id '2'"):
        use(context, "get_object", model=POLL, id=2)


def test_only_these_are_changed(context):
    given = {"model": POLL, "values": {"text": "C"}}

    assert use(context, "change_object", id=1, **given).ok
    with pytest.raises(ModelRetry):
        use(context, "change_object", id=2, **given)
    with pytest.raises(ModelRetry):
        use(context, "change_objects", ids=[1, 2], **given)

    assert list(Poll.objects.order_by("pk").values_list("text", flat=True)) == ["C", ""]


def test_object_that_may_only_be_viewed_stays(context, ann):
    remove_perm("host.change_poll", ann, Poll.objects.get(pk=1))

    with pytest.raises(ToolFailed, match="may not change"):
        use(context, "change_object", model=POLL, id=1, values={"text": "C"})


def test_only_these_are_deleted(context, ann):
    with pytest.raises((ModelRetry, ToolFailed)):
        use(context, "delete_objects", model=POLL, ids=[1])
    assert Poll.objects.count() == 2
    for pk in (1, 2):
        assign_perm("host.delete_poll", ann, Poll.objects.get(pk=pk))

    with pytest.raises(ModelRetry):  # which the list does not show
        use(context, "delete_objects", model=POLL, ids=[2])
    assert use(context, "delete_objects", model=POLL, ids=[1]).ok
    assert list(Poll.objects.values_list("pk", flat=True)) == [2]


def test_page_of_permissions_is_of_its_object(ann):
    boss = get_user_model().objects.create_superuser("ada")
    client = Client()
    client.force_login(boss)

    address = "/admin/host/poll/1/permissions/"
    label, shown, module = known_on(address, client, boss)

    assert (label, shown["id"], module) == (POLL, 1, "default")
    assert shown == known_on("/admin/host/poll/1/change/", client, boss)[1]
