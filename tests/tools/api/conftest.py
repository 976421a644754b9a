from types import SimpleNamespace

import pytest
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.db import connections
from django.urls import clear_url_caches

from ai_assistant import conf
from ai_assistant.tools.api.catalogue import catalogue
from tests.library.models import Author, Book, Tag
from tests.servers.ports import free_port
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


@pytest.fixture
def other_database(tmp_path):
    """A second database, with the table of tags."""
    default = connections["default"]
    if default.vendor != "sqlite":
        pytest.skip("Makes a file of SQLite.")
    path = tmp_path / "other.sqlite3"
    connections.settings["other"] = {**default.settings_dict, "NAME": str(path)}
    connections["other"].connect()  # what is open is not refused to a test
    try:
        with connections["other"].schema_editor() as editor:
            editor.create_model(Tag)
        yield
    finally:
        connections["other"].close()
        del connections["other"]
        del connections.settings["other"]


@pytest.fixture
def closed_database():
    """A second database, at a port at which nobody listens."""
    connections.settings["other"] = {
        **connections["default"].settings_dict,
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "other",
        "HOST": "127.0.0.1",
        "PORT": str(free_port()),
        "OPTIONS": {},
    }
    other = connections["other"]

    def connect():
        with other.wrap_database_errors:
            other.connect()

    # A test is refused a database of which it does not know, before it is tried.
    other.ensure_connection = connect
    try:
        yield other
    finally:
        other.close()
        del connections["other"]
        del connections.settings["other"]


@pytest.fixture
def boss(db):
    return get_user_model().objects.create_superuser("ada", password="x")
