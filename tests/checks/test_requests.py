"""What the site puts around a request of a tool can be put there."""

from contextlib import asynccontextmanager, contextmanager

import pytest
from django.contrib.sessions.middleware import SessionMiddleware
from django.utils.decorators import async_only_middleware

from ai_assistant.checks import check_assistant
from ai_assistant.tools.adapters import site_middleware

HERE = "tests.checks.test_requests"


class Known:
    """As a middleware that is passed without a setting."""

    def __init__(self, get_response):
        self.get_response = get_response


class Extending(Known):
    """As one that a site has made of it."""


class AtViews(Known):
    def process_view(self, request, view, args, kwargs):
        """It is called for a page."""


class OwnSession(SessionMiddleware):
    """As one that a site has made of Django's."""


@async_only_middleware
def awaited(get_response):
    return get_response


@contextmanager
def audited(request, run):
    yield


@contextmanager
def of_request(request):
    yield


@asynccontextmanager
async def awaiting(request, run):
    yield


async def awaitable(request, run):
    """It cannot be entered at all."""


def undecorated(request, run):
    yield


class Entered:
    def __init__(self, request, run):
        """Both are taken."""

    def __enter__(self):
        """It is entered."""

    def __exit__(self, *error):
        """It is left."""


class NotEntered:
    def __init__(self, request, run):
        """Both are taken."""


text = "a text"


@pytest.fixture
def installed(settings):
    """Add middlewares of this module to MIDDLEWARE."""

    def install(*names):
        paths = [f"{HERE}.{name}" for name in names]
        settings.MIDDLEWARE = [*settings.MIDDLEWARE, *paths]

    return install


@pytest.fixture
def named(assistant):
    """Name middlewares in the setting."""

    def name(*paths):
        assistant(DATA={"MIDDLEWARE": [*paths]})

    return name


class TestNamedMiddlewares:
    def test_installed_one_is_right(self, named, installed):
        installed("Known")
        named(f"{HERE}.Known")

        assert check_assistant() == []

    def test_one_that_cannot_be_imported(self, named, installed, only):
        installed("Known")
        named(f"{HERE}.Knwon")

        assert only() == (
            "ai_assistant.E132",
            f"AI_ASSISTANT['DATA']['MIDDLEWARE'] names '{HERE}.Knwon', which cannot be "
            f'imported: ImportError: Module "{HERE}" does not define a "Knwon" '
            f"attribute/class | Correct or remove it. Is '{HERE}.Known' meant?",
        )

    @pytest.mark.parametrize(
        "path", ["django.middleware.csrf.CsrfViewMiddleware", f"{HERE}.OwnSession"]
    )
    def test_one_of_browsers(self, named, only, path):
        named(path)

        found, said = only()
        assert found == "ai_assistant.E133"
        assert said.startswith(
            f"AI_ASSISTANT['DATA']['MIDDLEWARE'] names {path!r}, which makes the session, "
        )

    def test_one_that_is_not_installed(self, named, only):
        named(f"{HERE}.Known")

        assert only() == (
            "ai_assistant.W134",
            f"AI_ASSISTANT['DATA']['MIDDLEWARE'] names '{HERE}.Known', which is not in "
            "MIDDLEWARE: it does not run around a write. | Add it to MIDDLEWARE, or "
            "remove it.",
        )

    def test_one_that_works_at_views(self, named, installed, only):
        installed("AtViews")
        named(f"{HERE}.AtViews")

        found, said = only()
        assert found == "ai_assistant.W139"
        assert said.startswith(
            f"AI_ASSISTANT['DATA']['MIDDLEWARE'] names '{HERE}.AtViews', whose "
            "process_view() is not called: "
        )

    def test_one_that_is_async_only(self, named, installed, only):
        installed("awaited")
        named(f"{HERE}.awaited")

        found, said = only()
        assert found == "ai_assistant.W135"
        assert said.startswith(
            f"MIDDLEWARE has '{HERE}.awaited', which is async only: "
        )


class TestInstalledMiddlewares:
    @pytest.fixture(autouse=True)
    def known(self, monkeypatch):
        monkeypatch.setattr(site_middleware, "KNOWN", (f"{HERE}.Known",))

    def test_known_one_is_right(self, installed):
        installed("Known")

        assert check_assistant() == []

    def test_one_that_extends_a_known_one(self, installed, only):
        installed("Extending")

        assert only() == (
            "ai_assistant.W136",
            f"MIDDLEWARE has '{HERE}.Extending', which extends '{HERE}.Known', but does "
            "not run around a write of the assistant as that would. | Add it to "
            "AI_ASSISTANT['DATA']['MIDDLEWARE'].",
        )

    def test_one_that_extends_it_and_is_named(self, installed, named):
        installed("Extending")
        named(f"{HERE}.Extending")

        assert check_assistant() == []

    def test_async_only_one_of_the_site_alone(self, installed):
        installed("awaited")

        assert check_assistant() == []


class TestContext:
    @pytest.mark.parametrize("name", ["audited", "Entered"])
    def test_context_manager_is_right(self, assistant, name):
        assistant(DATA={"REQUEST_CONTEXT": f"{HERE}.{name}"})

        assert check_assistant() == []

    def test_path_of_nothing(self, assistant, only):
        assistant(DATA={"REQUEST_CONTEXT": "shop.audited"})

        assert only() == (
            "ai_assistant.E137",
            "AI_ASSISTANT['DATA']['REQUEST_CONTEXT'] is 'shop.audited', which cannot be "
            "imported: ModuleNotFoundError: No module named 'shop' | Give the dotted path "
            "of a context manager that takes the request and the run: @contextmanager "
            "def audited(request, run).",
        )

    @pytest.mark.parametrize(
        ("name", "fault"),
        [
            ("text", "which cannot be called"),
            ("NotEntered", "a class without __enter__() and __exit__()"),
            ("undecorated", "a generator without @contextmanager"),
            ("awaiting", "which is async, while a write is sync"),
            ("awaitable", "which is async, while a write is sync"),
            (
                "of_request",
                "which does not take two arguments, the request and the run",
            ),
        ],
    )
    def test_what_is_no_context_manager(self, assistant, only, name, fault):
        assistant(DATA={"REQUEST_CONTEXT": f"{HERE}.{name}"})

        found, said = only()
        assert found == "ai_assistant.E138"
        assert said.startswith(
            f"AI_ASSISTANT['DATA']['REQUEST_CONTEXT'] is '{HERE}.{name}', {fault}. | "
        )
