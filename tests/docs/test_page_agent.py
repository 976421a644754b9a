"""The recipe of docs/page-agent.md that runs on the server; a browser runs the others."""

from types import ModuleType

import pytest
from django.contrib.auth import get_user_model
from django.urls import clear_url_caches, path

from ai_assistant import conf
from ai_assistant.checks import check_assistant
from ai_assistant.testing import call, reply, run_assistant
from project import urls as demo
from tests.docs.blocks import blocks, page

CODE = {one.file: one.code for one in blocks(page("docs/page-agent.md"))}


def made(name):
    """Return what the code of a file of the page defines."""
    own = ModuleType(name.removesuffix(".py").replace("/", "."))
    exec(compile(CODE[name], name, "exec"), own.__dict__)  # noqa: S102 - of our page
    return own


@pytest.mark.django_db
@pytest.mark.row("Y04")
def test_operation_of_the_page_is_found_and_called_unasked(settings):
    urls = ModuleType("urls_of_the_recipe")
    quote = made("shop/api.py").quote
    urls.urlpatterns = [path("quote/", quote, name="quote"), *demo.urlpatterns]
    settings.ROOT_URLCONF = urls
    given = made("settings.py").AI_ASSISTANT
    settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, given)
    clear_url_caches()
    asked = {"operation": "quote.post", "body": {"seats": 3}}

    played = run_assistant(
        get_user_model().objects.create_superuser("ada"),
        "/admin/",
        "What do three seats cost?",
        replies=[
            reply("", call("search_api", {"operation": "quote.post"})),
            reply("", call("call_api", asked)),
            "36.",
        ],
    )
    clear_url_caches()

    assert not played.interrupts
    assert played.calls[-1].data == {"price": 36}
    assert not {one.id for one in check_assistant()} & {"ai_assistant.W190"}
