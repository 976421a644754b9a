"""The site of the tests, with one thing changed at a time."""

import pytest
from django.conf import settings

from ai_assistant import conf
from ai_assistant.checks import check_assistant
from ai_assistant.registry import registry
from ai_assistant.types import ToolDefinition


@pytest.fixture
def assistant(settings):
    """Change AI_ASSISTANT: `assistant(EXECUTOR="worker")`."""

    def change(**values):
        settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, values)

    return change


@pytest.fixture
def profile(assistant):
    """Make these the fields of the default profile."""

    def change(**fields):
        assistant(PROFILES={"default": fields})

    return change


@pytest.fixture
def only():
    """Return the one message that the checks have, its text and hint in one."""

    def one():
        (message,) = check_assistant()
        return message.id, f"{message.msg} | {message.hint}"

    return one


@pytest.fixture
def without():
    """Return INSTALLED_APPS without one app."""

    def rest(name):
        return [app for app in settings.INSTALLED_APPS if app != name]

    return rest


@pytest.fixture
def with_tool(request):
    """Register a function as `tool` for the test, with these fields."""

    def register(handler, **fields):
        fields.setdefault("effect", "read")
        fields.setdefault("description", "Say what it is for.")
        tool = ToolDefinition.of(
            name=fields.pop("name", "tool"),
            handler=handler,
            label="",
            origin="shop.assistant",
            **fields,
        )
        context = registry.temporarily(tool)
        context.__enter__()
        request.addfinalizer(lambda: context.__exit__(None, None, None))
        return f"Tool {tool.name!r} (shop.assistant, line {_line(handler)})"

    return register


@pytest.fixture
def site_templates(settings, tmp_path):
    """Write a template of the site: `site_templates("shop/card.html", "...")`."""

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        (engine,) = settings.TEMPLATES
        settings.TEMPLATES = [{**engine, "DIRS": [tmp_path, *engine.get("DIRS", ())]}]

    return write


def _line(handler):
    return handler.__code__.co_firstlineno
