"""A site with an API of django-ninja: who uses it, with what, and what is then there."""

from contextlib import suppress
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.cache import cache
from django.db import transaction

from ai_assistant.tools.api.base import ApiRequest, Operation
from tests.hosts.packages.rows import State, state

WRITING = ("add", "change", "delete")


def make_user(name: str, *codenames: str, **fields: Any) -> Any:
    user = get_user_model().objects.create_user(name, **fields)
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    return user


def every(*verbs: str) -> list[str]:
    return [f"{verb}_{name}" for verb in verbs for name in ("book", "author", "tag")]


ROLES = {
    "superuser": lambda: get_user_model().objects.create_superuser("superuser"),
    "editor": lambda: make_user(
        "editor", *every("view", "add", "change"), is_staff=True
    ),
    "deleter": lambda: make_user("deleter", *every("view", "delete"), is_staff=True),
    "viewer": lambda: make_user("viewer", *every("view"), is_staff=True),
    "of_tags": lambda: make_user(
        "of_tags", *(f"{verb}_tag" for verb in ("view", *WRITING)), is_staff=True
    ),
    "nobody": lambda: make_user("nobody", is_staff=True),
    "customer": lambda: make_user("customer", *every("view", *WRITING)),
    "inactive": lambda: make_user(
        "inactive", *every("view", *WRITING), is_staff=True, is_active=False
    ),
}
BODIES: dict[str, Any] = {
    "create_book": {"title": "Mars", "author": 1, "author_id": 1, "price": "9.50"},
    "change_book": {"title": "Mars", "price": "2.25"},
    "lend": {"to": "Ada"},
    "create_author": {"name": "Woolf"},
    "create_tag": {"name": "new"},
    "change_tag": {"name": "ocean"},
    "count": ["a", "b"],
    "post": {"name": "new"},  # of the view of adrf
}


def requests_of(operation: Operation) -> list[ApiRequest]:
    """Return requests: right ones, one of a row that is not there, a wrong one."""
    action = operation.name.split(".")[1]
    paths: list[dict[str, Any]] = [{}]
    if operation.arguments:
        paths = [dict.fromkeys(operation.arguments, key) for key in (1, 2, 4711)]
    bodies = [None]
    if operation.takes_body:
        bodies = [BODIES[action], {"name": 1, "title": []}]
    queries: list[dict[str, Any]] = [{}]
    if operation.name == "books.list_items":
        queries += [{"status": "lent"}, {"search": "o"}, {"order_by": "-title"}]
        queries += [{"limit": 1, "offset": 1}, {"limit": 0}]
    return [
        ApiRequest(path=path, query=query, body=body)
        for path in paths
        for query in queries
        for body in bodies
    ]


class _Undone(Exception):
    """Ends a transaction."""


def outcome(work: Any) -> tuple[int, Any, State]:
    """Return status, body and all rows after what is done, and then taken back."""
    found = []
    cache.clear()
    with suppress(_Undone), transaction.atomic():
        status, body = work()
        found.append((status, body, state()))
        raise _Undone
    return found[0]
