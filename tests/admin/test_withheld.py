"""Of no page of the owner is the model told anything, and no tool acts on one."""

import uuid

import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.urls import reverse

from ai_assistant.tools.page.page_state import page_rules
from tests.context.conftest import context_of

pytestmark = pytest.mark.django_db

APP = "ai_assistant"
SAMPLES = {
    "IntConverter": 1,
    "PathConverter": "1",
    "SlugConverter": "usage",
    "StringConverter": "yaml",
    "UUIDConverter": uuid.UUID(int=1),
}


def addresses():
    """Yield each address of our admin by its name, with the start page."""
    yield "start", reverse("admin:app_list", args=[APP])
    for model, own in admin.site._registry.items():
        if model._meta.app_label != APP:
            continue
        for one in own.get_urls():
            values = {
                name: SAMPLES[type(converter).__name__]
                for name, converter in one.pattern.converters.items()
            }
            if one.name:
                yield one.name, reverse(f"admin:{one.name}", kwargs=values)


@pytest.fixture
def told():
    """Return what of a page may be told to whoever may see all of it."""
    ada = get_user_model().objects.create_superuser("ada")
    return lambda path: page_rules(context_of(ada, path), path)


def test_page_of_the_site_is_told(told):
    """Otherwise the next test would show nothing."""
    for path in (reverse("admin:index"), reverse("admin:auth_group_changelist")):
        assert told(path) is not None


@pytest.mark.parametrize(("name", "path"), [*addresses()])
def test_nothing_of_it_is_told(told, name, path):
    assert told(path) is None
