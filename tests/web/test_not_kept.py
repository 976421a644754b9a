"""What the assistant answers is one person's: no browser and no proxy keeps it."""

from collections.abc import Iterator
from itertools import product
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import AsyncClient
from django.urls import URLPattern, get_resolver, reverse

from ai_assistant.web.rest.routes import api_reverse, resolver

SCRIPT = {"HX-Request": "true"}

pytestmark = pytest.mark.usefixtures("quiet")


def addresses() -> Iterator[str]:
    """Yield every address of the app; the objects they name are not there."""
    for pattern in _routes(get_resolver("ai_assistant.urls").url_patterns):
        if pattern.name and pattern.name != "api-below":
            yield reverse(f"ai_assistant:{pattern.name}", kwargs=_ids(pattern))
    for pattern in _routes(resolver().url_patterns):
        yield api_reverse(pattern.name, *_ids(pattern).values())
    yield f"{reverse('ai_assistant:api')}nothing/here/"


def _ids(pattern: URLPattern) -> dict[str, UUID]:
    return {name: uuid4() for name in pattern.pattern.converters}


def _routes(patterns: list[Any]) -> Iterator[URLPattern]:
    for one in patterns:
        if isinstance(one, URLPattern):
            yield one
        else:
            yield from _routes(one.url_patterns)


def is_kept(response: Any) -> bool:
    """Tell whether anybody may keep the answer."""
    said = response.get("Cache-Control", "")
    return not {"private", "no-store"} <= {one.strip() for one in said.split(",")}


def test_every_address_is_asked():
    assert len({*addresses()}) > 50


@pytest.mark.parametrize(
    ("who", "headers"), [(None, {}), ("nobody", SCRIPT), ("ada", {}), ("ada", SCRIPT)]
)
def test_no_answer_is_kept(browser, who, headers):
    client = browser(who) if who else browser()
    client.raise_request_exception = False
    kept = [
        (method, address)
        for method, address in product(("get", "post"), addresses())
        if is_kept(getattr(client, method)(address, headers=headers))
    ]

    assert kept == []


def test_no_form_without_its_token_is_kept(browser):
    client = browser("ada", enforce_csrf_checks=True)
    refused = client.post(reverse("ai_assistant:new"))

    assert refused.status_code == 403
    assert not is_kept(refused)


def test_no_page_for_superusers_is_kept(browser):
    refused = browser("ada").get(reverse("ai_assistant:raw"))

    assert refused.status_code == 403
    assert not is_kept(refused)


@pytest.fixture
def cookies(browser):
    """Those of a person who is signed in."""
    return browser("ada").cookies


async def test_under_asgi_neither(cookies):
    client = AsyncClient()
    client.cookies = cookies

    refused = await client.get(reverse("ai_assistant:raw"))
    shown = await client.get(reverse("ai_assistant:keyboard"))

    assert (refused.status_code, shown.status_code) == (403, 200)
    assert not is_kept(refused)
    assert not is_kept(shown)


def test_page_of_the_site_is_left_alone(browser):
    assert "Cache-Control" not in browser("ada").get("/nothing/of/ours/")
