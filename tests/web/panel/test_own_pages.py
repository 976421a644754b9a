"""The assistant's own pages stand in the frame that the site's admin has."""

import pytest
from django.contrib import admin
from django.urls import reverse

from ai_assistant.models.run import Run, RunState
from tests.web.conftest import ask

OWN_PAGES = (
    *("full", "conversations", "rename", "keyboard"),
    *("raw", "regenerate", "edit_message"),
)

pytestmark = pytest.mark.usefixtures("quiet")


@pytest.fixture
def root(people, browser):
    """A browser of ada, who may see everything."""
    people["ada"].is_superuser = True
    people["ada"].save()
    return browser("ada")


@pytest.fixture
def asked(people):
    """A run of ada that has ended."""
    run = ask(people["ada"], "The question")
    Run.objects.filter(pk=run.pk).update(state=RunState.SUCCEEDED)
    return run


@pytest.mark.parametrize("name", OWN_PAGES)
def test_have_the_name_and_the_menu_of_the_site(root, asked, name, monkeypatch):
    monkeypatch.setattr(admin.site, "site_header", "The shop's own admin")
    query = {"run": str(asked.pk), "conversation": str(asked.conversation_id)}

    response = root.get(reverse(f"ai_assistant:{name}"), query)

    assert response.status_code == 200
    assert "The shop&#x27;s own admin" in response.text
    assert response.context["available_apps"]
