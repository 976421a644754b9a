"""What the server says that it can do, on a site with agents and on one without."""

import pytest
from django.contrib.auth import get_user_model
from django.test import AsyncClient
from django.urls import reverse

from ai_assistant.configuration import rows
from ai_assistant.registry import registry

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("H23")]


@pytest.fixture
def cookies(client):
    """Those of a superuser who is signed in."""
    client.force_login(get_user_model().objects.create_superuser("ada"))
    return client.cookies


async def told(cookies):
    browser = AsyncClient()
    browser.cookies = cookies
    answered = await browser.get(reverse("ai_assistant:agui_capabilities"))
    assert answered.status_code == 200
    return answered.json()["multiAgent"]


async def test_a_site_with_agents_delegates(cookies):
    found = await told(cookies)

    assert (found["supported"], found["delegation"]) == (True, True)


async def test_a_site_without_agents_asks_its_rows_off_the_event_loop(
    cookies, monkeypatch
):
    with registry.restored():
        registry._registry = {
            key: part for key, part in registry._registry.items() if key[0] != "agent"
        }
        monkeypatch.setattr(rows, "_rows", rows.Rows(-1, {}))

        found = await told(cookies)

    assert found["supported"] is False
