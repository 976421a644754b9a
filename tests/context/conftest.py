import uuid

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission

from ai_assistant.context.collect import collect_items
from ai_assistant.context.page import page_info
from ai_assistant.registry import registry
from ai_assistant.types import RunContext


@pytest.fixture
def user():
    return get_user_model().objects.create_superuser("ada", password="x")


@pytest.fixture
def staff():
    """Make a user of the admin with these permissions only."""

    def make(*codes):
        made = get_user_model().objects.create_user("nora", is_staff=True)
        made.user_permissions.set(Permission.objects.filter(codename__in=codes))
        return made

    return make


@pytest.fixture(autouse=True)
def _registry():
    with registry.restored():
        for name in list(registry.contexts()):
            registry._remove("context", name)
        yield


@pytest.fixture(autouse=True)
def own_thread(monkeypatch):
    """Let providers see the rows of the test: its transaction is one thread's."""
    from ai_assistant.context import collect
    from ai_assistant.testing.stage import CallersThread

    monkeypatch.setattr(collect, "_providers", CallersThread())


def context_of(user, path):
    return RunContext(
        user=user,
        run_id=uuid.uuid4(),
        conversation_id=uuid.uuid4(),
        page=page_info(path),
    )


def seen(user, path, browser=()):
    """Return the items of a page by their ids."""
    return {
        item.id: item for item in collect_items(context_of(user, path), browser).items
    }
