"""
Whoever calls an operation gets what a request of theirs would have got, and no more.

Each request goes to the view over HTTP, with a session, and through `call_api`: status,
body and what is then in the tables have to be the same.
"""

import json

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.cache import cache
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from ai_assistant.tools.api.base import ApiRequest
from ai_assistant.tools.api.kept import masked
from project.discover.models import LogLine
from project.questionnaires.models import (
    Question,
    Questionnaire,
    QuestionType,
    Schedule,
    Section,
)
from project.wiki.models import Page
from tests.library.models import Author, Book, Tag
from tests.tools.api.calls import told

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.broad,
    pytest.mark.row("Y04"),
    # The keys of the rows that both make would be others.
    pytest.mark.skipif(
        connection.vendor != "sqlite", reason="sequences are not rolled back"
    ),
]

TABLES = (Questionnaire, Section, Question, Schedule, Page, LogLine, Author, Book, Tag)
DRAWN = ("uuid", "number")  # another one for each new row
WRITING = ("add", "change", "delete")


def make_user(name, *codenames, **fields):
    user = get_user_model().objects.create_user(name, **fields)
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    return user


def every(*verbs):
    names = [
        f"{verb}_{one._meta.model_name}"
        for verb in verbs
        for one in (*TABLES, QuestionType)
    ]
    return [*names, *(f"{verb}_group" for verb in verbs)]


ROLES = {
    "superuser": lambda: get_user_model().objects.create_superuser("superuser"),
    "editor": lambda: make_user(
        "editor", *every("view", "add", "change"), is_staff=True
    ),
    "deleter": lambda: make_user("deleter", *every("view", "delete"), is_staff=True),
    "viewer": lambda: make_user("viewer", *every("view"), is_staff=True),
    "of_schedules": lambda: make_user(
        "of_schedules",
        *("view_schedule", "add_schedule", "change_schedule", "delete_schedule"),
        is_staff=True,
    ),
    "nobody": lambda: make_user("nobody", is_staff=True),
    "customer": lambda: make_user("customer", *every("view", *WRITING)),
    "inactive": lambda: make_user(
        "inactive", *every("view", *WRITING), is_staff=True, is_active=False
    ),
}


@pytest.fixture
def rows(library):
    questionnaire = Questionnaire.objects.create(title="Sleep", languages=["en"])
    section = Section.objects.create(
        questionnaire=questionnaire, title="Nights", position=0
    )
    kind = QuestionType.objects.create(slug="text-2", label="Text")
    question = Question.objects.create(
        section=section, type=kind, text="How?", position=0
    )
    schedule = Schedule.objects.create(questionnaire=questionnaire, name="Daily")
    page = Page.objects.create(slug="help", title="Help", text="Ask.")
    LogLine.objects.create(time=timezone.now(), level="info", service="web")
    keys = {
        "questionnaires": questionnaire.pk,
        "sections": section.pk,
        "question-types": kind.slug,
        "questions": question.pk,
        "schedules": schedule.pk,
        "pages": page.slug,
        "books": library.book.pk,
        "authors": library.verne.pk,
        "tags": "sea",
        "groups": 1,
    }
    bodies = {
        "questionnaires": {"title": "Food", "languages": ["en"]},
        "sections": {"questionnaire": questionnaire.pk, "title": "Days", "position": 1},
        "questions": {
            "section": section.pk,
            "type": kind.pk,
            "text": "When?",
            "position": 1,
        },
        "schedules": {"questionnaire": questionnaire.pk, "name": "Weekly"},
        "pages": {"slug": "more", "title": "More", "text": "?", "see_also": [page.pk]},
        "books": {
            "title": "Mars",
            "author": library.verne.pk,
            "tags": [],
            "price": "9.50",
            "pages": 20,
        },
        "authors": {"name": "Woolf"},
        "tags": {"name": "new"},
        "groups": {"name": "new"},
    }
    return keys, bodies, library.books[2].pk


def requests_of(operation, rows):
    """Yield requests: a right one, one of a row that is not there, one that is wrong."""
    keys, bodies, lost = rows
    service, _dot, action = operation.name.partition(".")
    is_one = bool(operation.arguments)
    if not is_one:
        paths = [{}]
    elif service in keys:
        (name,) = operation.arguments
        paths = [{name: keys[service]}, {name: 4711}]
        paths += [{name: lost}] if service == "books" else []
    else:
        paths = [dict.fromkeys(operation.arguments, "value")]
    right = bodies.get(service, {"text": "one two", "name": "x"})
    if action in ("publish", "archive", "lend", "pause.post", "match"):
        right = {"to": "Ada", "texts": ["how"]}
    sent = [None] if not operation.takes_body else [right, {"name": "", "title": ""}]
    queries = [{}]
    if action == "list" and service != "authors":  # their search looks at secrets
        queries = [{}, {"search": "e"}, {"page": "99"}, {"ordering": "-title"}]
    return [
        ApiRequest(path=path, query=query, body=body)
        for path in paths
        for query in queries
        for body in sent
    ]


def state():
    """Return all rows of the tables, without what is drawn anew."""
    links = (Book.tags.through, Page.see_also.through)
    return {
        model.__name__: [without_drawn(row) for row in model.objects.values()]
        for model in (*TABLES, *links)
    }


def without_drawn(value):
    if isinstance(value, dict):
        return {k: without_drawn(v) for k, v in value.items() if k not in DRAWN}
    return [without_drawn(v) for v in value] if isinstance(value, list) else value


class _Undone(Exception):
    """Ends a transaction."""


def outcome(work):
    """Return status, body and state of what is done, and then taken back."""
    found = []
    cache.clear()
    with pytest.raises(_Undone), transaction.atomic():
        status, body = work()
        found.append((status, without_drawn(body), state()))
        raise _Undone
    return found[0]


def over_http(client, operation, path, asked):
    body = b"" if not operation.takes_body else json.dumps(asked.body)
    response = client.generic(
        operation.method,
        path,
        body,
        content_type="application/json",
        query_params=dict(asked.query),
    )
    body = response.json() if response.content else None
    return response.status_code, masked(body, operation.kept)


@pytest.mark.parametrize("role", ROLES)
def test_same_as_over_http(opt_in, rows, role):
    left_out = ("public", "echo", "redirecting", "streaming", "file", "text", "sneaky")
    kept = [
        f"!{name}.*" for name in (*left_out, "throttled", "second", "apart", "away")
    ]
    kept.append("!async.get")  # it writes
    known = opt_in("*", *kept)
    user = ROLES[role]()
    context, client = told(user), Client(headers={"accept": "application/json"})
    client.force_login(user)
    compared, different, before = set(), [], state()
    for operation in known.operations.values():
        adapter = known.adapters[operation.id]
        for asked in requests_of(operation, rows):
            path = adapter.check(operation, context, asked)

            def called():
                response = adapter.call(operation, context, asked)  # noqa: B023
                assert not response.unread
                return response.status, response.data

            real = outcome(lambda: over_http(client, operation, path, asked))  # noqa: B023
            ours = outcome(called)
            if operation.effect == "read":
                assert real[2] == ours[2] == before
            if real != ours:
                different.append((operation.id, asked, real[:2], ours[:2]))
            compared.add((operation.id, real[0]))

    assert different == []
    assert len({operation for operation, _status in compared}) >= 60
    codes = {status for _operation, status in compared}
    assert codes >= EXPECTED.get(role, {403})


EXPECTED = {"superuser": {200, 201, 204, 400, 404}, "editor": {200, 201, 403, 404}}
