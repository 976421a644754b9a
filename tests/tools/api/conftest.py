import uuid
from types import SimpleNamespace

import pytest
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.urls import clear_url_caches

from ai_assistant import RunContext, conf
from ai_assistant.models import Conversation, Message, Run, Step, ToolCall
from ai_assistant.registry import registry
from ai_assistant.tools.api.catalogue import catalogue
from ai_assistant.tools.arguments import split_page, validate_arguments
from ai_assistant.tools.result import from_exception, from_value, paginate
from tests.library.models import Author, Book, Tag
from tests.tools.api import site


@pytest.fixture(autouse=True)
def site_with_api(settings):
    """The site of `site.py`, of which nothing is opted in."""
    settings.ROOT_URLCONF = "tests.tools.api.site"
    clear_url_caches()
    cache.clear()  # of throttles
    site.seen.clear()
    yield
    clear_url_caches()


@pytest.fixture
def opt_in(settings):
    """Opt operations in: `opt_in("books.*")`."""

    def choose(*patterns, **options):
        own = {"API_OPERATIONS": list(patterns), **options}
        settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, own)
        return catalogue()

    return choose


@pytest.fixture
def library(db):
    """Books of two authors."""
    verne = Author.objects.create(name="Verne", email="v@x.org", api_key="canary-key")
    tags = [Tag.objects.create(name=name) for name in ("sea", "old")]
    books = [
        Book.objects.create(title=title, author=verne, status=status, pages=pages)
        for title, status, pages in (
            ("Leagues", Book.Status.NEW, 400),
            ("Moon", Book.Status.LENT, 300),
            ("Lost", Book.Status.LOST, 200),
        )
    ]
    books[0].tags.set(tags)
    return SimpleNamespace(verne=verne, tags=tags, books=books, book=books[0])


def told(user, *operations):
    """Return a context of a conversation in which these were looked up."""
    conversation = Conversation.objects.create(owner=user, title="")
    run = Run.objects.create(
        conversation=conversation, user=user, idempotency_key=uuid.uuid4()
    )
    message = Message.objects.create(
        conversation=conversation, run=run, position=0, role="assistant"
    )
    step = Step.objects.create(run=run, index=0, message=message)
    ToolCall.objects.bulk_create(
        ToolCall(
            run=run,
            step=step,
            position=position,
            name="search_api",
            arguments={"operation": operation},
            status="complete",
        )
        for position, operation in enumerate(operations)
    )
    return RunContext(user=user, run_id=run.pk, conversation_id=conversation.pk)


def use(name, context, **arguments):
    """Return the result of a call of the tool, an approval taken for granted."""
    tool = registry.tool(name)
    try:
        given, page = split_page(tool, validate_arguments(tool, arguments))
        value = paginate(tool, tool.handler(context, **given), page)
        return from_value(name, value)
    except Exception as error:  # noqa: BLE001 - as the engine does
        return from_exception(name, error)


def call(user, operation, **arguments):
    """Return the result of `call_api`, its operation looked up before."""
    return use("call_api", told(user, operation), operation=operation, **arguments)


@pytest.fixture
def boss(db):
    return get_user_model().objects.create_superuser("ada", password="x")
