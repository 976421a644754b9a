"""A user, the demo data, and the context in which a tool is called."""

from contextlib import contextmanager
from dataclasses import replace
from uuid import uuid4

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.management import call_command

from ai_assistant import RunContext
from ai_assistant.context.page import find_page
from ai_assistant.types import CallActions


@pytest.fixture
def demo_data(db):
    call_command("demo_data", verbosity=0)


@pytest.fixture
def user(db):
    """A user who may view questionnaires, and nothing in them."""
    user = get_user_model().objects.create_user("nora")
    user.user_permissions.set(Permission.objects.filter(codename="view_questionnaire"))
    return user


@pytest.fixture
def superuser(db):
    return get_user_model().objects.create_superuser("ada")


class Background(RunContext):
    """A context that keeps the marks and the progress of a background tool."""

    __slots__ = ("marks", "reports")

    def __init__(self, **fields):
        self.marks = []
        self.reports = []
        super().__init__(
            actions=CallActions(
                progress=lambda fraction, text: self.reports.append((fraction, text)),
                transaction=self._open,
            ),
            **fields,
        )

    @contextmanager
    def _open(self, mark):
        yield
        self.marks.append(mark)


@pytest.fixture
def context(superuser):
    return RunContext(user=superuser, run_id=uuid4(), conversation_id=uuid4())


@pytest.fixture
def at(context):
    """Return the context of somebody who is at `path`."""

    def make(path, user=None):
        return replace(
            context,
            user=user or context.user,
            page=find_page(path).info,
        )

    return make


@pytest.fixture
def background(superuser):
    return Background(
        user=superuser,
        run_id=uuid4(),
        conversation_id=uuid4(),
        idempotency_key="call-1",
    )
