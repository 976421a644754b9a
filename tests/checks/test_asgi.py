import pytest

from ai_assistant.checks import check_assistant
from ai_assistant.checks.deployment import is_wrapped
from tests.checks import applications

WRAP = "Wrap it: application = assistant_application(get_asgi_application())."


class TestApplication:
    def test_application_not_set(self, settings, only):
        settings.ASGI_APPLICATION = None

        assert only() == (
            "ai_assistant.E023",
            "ASGI_APPLICATION is not set: nothing executes runs, and the panel has no "
            f"socket. | {WRAP}",
        )

    def test_application_not_wrapped(self, settings, only):
        settings.ASGI_APPLICATION = "tests.checks.applications.plain"

        assert only() == (
            "ai_assistant.E025",
            "ASGI_APPLICATION 'tests.checks.applications.plain' does not include the "
            "assistant: nothing executes runs, and the panel has no socket. | " + WRAP,
        )

    def test_application_cannot_be_imported(self, settings, only):
        settings.ASGI_APPLICATION = "tests.checks.applications.none"

        assert only() == (
            "ai_assistant.E024",
            "ASGI_APPLICATION names 'tests.checks.applications.none', which cannot be "
            'imported: ImportError: Module "tests.checks.applications" does not define '
            'a "none" attribute/class | Give the dotted path of the application in '
            "asgi.py.",
        )

    @pytest.mark.parametrize(
        ("path", "number"),
        [(None, "W023"), ("tests.checks.applications.plain", "W025")],
    )
    def test_workers_do_without(self, settings, assistant, path, number):
        settings.CHANNEL_LAYERS = {"default": {"BACKEND": "tests.checks.test_asgi.Far"}}
        settings.ASGI_APPLICATION = path
        assistant(EXECUTOR="worker")

        (found,) = check_assistant()
        assert found.id == f"ai_assistant.{number}"
        assert found.msg.endswith(": the panel has no socket and polls for changes.")


class Far:
    """A layer between processes."""


class TestIsWrapped:
    @pytest.mark.parametrize(
        "name", ["wrapped", "in_static", "in_router", "in_function", "in_partial"]
    )
    def test_is_wrapped_finds_it(self, name):
        assert is_wrapped(getattr(applications, name))

    def test_is_wrapped_misses_nothing_that_is_not_there(self):
        assert not is_wrapped(applications.plain)
