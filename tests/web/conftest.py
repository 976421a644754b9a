"""Users of every kind, and conversations of theirs in every state."""

from uuid import uuid4

import pytest
from django.conf import settings
from django.contrib.auth import (
    BACKEND_SESSION_KEY,
    HASH_SESSION_KEY,
    SESSION_KEY,
    get_user_model,
)
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Permission
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client

from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.intake.values import Submission
from ai_assistant.models import Interrupt, Run
from tests.tables import clear_tables

PERMISSIONS = {
    "ada": ("view_assistant", "use_assistant"),
    "bob": ("view_assistant", "use_assistant"),
    "viewer": ("view_assistant",),
    "nobody": (),
}


@pytest.fixture
def committed_db(django_db_setup, django_db_blocker):
    """
    The database without a transaction around the test: other threads see its rows.

    Faster than `transactional_db`, which makes all permissions anew.
    """
    with django_db_blocker.unblock():
        clear_tables()  # a test that was cut off may have left something
        yield
        clear_tables()


@pytest.fixture
def people(committed_db):
    """Staff of four kinds, by name: ada and bob may all, viewer looks, nobody not."""
    model = get_user_model()
    users = model.objects.bulk_create(
        model(username=name, password=make_password(name), is_staff=True)
        for name in PERMISSIONS
    )
    granted = model.user_permissions.through
    every = dict(Permission.objects.values_list("codename", "pk"))
    granted.objects.bulk_create(
        granted(user=user, permission_id=every[codename])
        for user in users
        for codename in PERMISSIONS[user.username]
    )
    return {user.username: user for user in users}


@pytest.fixture
def quiet(settings):
    """No run is executed: what is queued stays queued."""
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "EXECUTOR": "worker"}


def sign_in(client: Client, user) -> None:
    """Sign `user` in as `force_login` does, without its signal and the renewal of the key."""
    session = SessionStore(SessionStore()._get_new_session_key())
    session.update(
        {
            SESSION_KEY: str(user.pk),
            BACKEND_SESSION_KEY: settings.AUTHENTICATION_BACKENDS[0],
            HASH_SESSION_KEY: user.get_session_auth_hash(),
        }
    )
    session.save(must_create=True)
    client.cookies[settings.SESSION_COOKIE_NAME] = session.session_key


@pytest.fixture
def browser(people):
    """Return a signed-in browser of a user, `browser("ada")`, or one without."""

    def make(name: str = "", **options) -> Client:
        client = Client(**options)
        if name:
            sign_in(client, people[name])
        return client

    return make


def ask(user, text="Hello", *, conversation=None, owner="", key="", stamp=None) -> Run:
    """Store a message as the door does; the run is queued, or held by `owner`."""
    accepted = accept(
        Submission(
            user_id=user.pk,
            conversation_id=conversation or uuid4(),
            key=key or str(uuid4()),
            text=text,
        ),
        owner=owner,
    )
    return Run.objects.get(pk=accepted.run_id)


def asked_to_approve(user) -> Interrupt:
    """Return an approval that waits for `user`."""
    from tests.render.html.story import Story

    story = Story(user)
    story.ask("Do it")
    story._reply(("needs_approval",))
    story.park()
    return Interrupt.objects.get(run=story.run)


def asked_a_question(user) -> Interrupt:
    """Return a question for `user` that takes several answers."""
    from ai_assistant.engine.interrupts.question import QUESTION
    from ai_assistant.exceptions import Ask
    from tests.render.html.story import Story

    story = Story(user)
    story.ask("Do it")
    story._reply(("echo",))
    options = ({"id": "r", "label": "Red"}, {"id": "b", "label": "Blue"})
    asked = Ask("Which colours?", kind="multi_select", options=options)
    story._commit(lambda: QUESTION.ask(story.open_calls()[0], asked))
    story.park()
    return Interrupt.objects.get(run=story.run)
