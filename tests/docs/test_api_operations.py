"""The examples of docs/api-operations.md, on a site that is made of them."""

from types import ModuleType

import pytest
from django.contrib.auth import get_user_model
from django.urls import clear_url_caches, include, path
from rest_framework.routers import SimpleRouter

from ai_assistant import conf
from ai_assistant.checks import check_assistant
from ai_assistant.registry import registry
from ai_assistant.tools.api.catalogue import catalogue, narrowed
from project import urls as demo
from tests.docs.blocks import blocks, page

CODE = {one.file: one.code for one in blocks(page("docs/api-operations.md"))}


def made(name):
    """Return what the code of a file of the page defines."""
    own = ModuleType(name.removesuffix(".py").replace("/", "."))
    exec(compile(CODE[name], name, "exec"), own.__dict__)  # noqa: S102 - of our page
    return own


@pytest.fixture
def views(settings):
    """The views of the page, with their addresses, opted in."""
    own = made("orders/views.py")
    router = SimpleRouter()
    router.register("groups", own.GroupViewSet, "groups")
    urls = ModuleType("urls_of_the_page")
    urls.urlpatterns = [path("own/", include(router.urls)), *demo.urlpatterns]
    settings.ROOT_URLCONF = urls
    options = {"API_OPERATIONS": ["groups.*"]}
    settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, options)
    clear_url_caches()
    yield own
    clear_url_caches()


@pytest.mark.row("Y04")
def test_effects_of_the_views(views):
    effects = {
        one.name: (one.effect, one.can_be_tried)
        for one in catalogue().operations.values()
    }

    assert effects["groups.match"] == ("read", True)
    assert effects["groups.invite"] == ("write", False)
    assert effects["groups.destroy"] == ("destructive", True)


@pytest.mark.usefixtures("views")
def test_module_of_the_page():
    with registry.restored():
        module = made("orders/assistant.py").GroupsModule()
        left = narrowed(catalogue(), module).operations

        assert check_assistant() == []
    assert "groups.match" in left
    assert "groups.destroy" not in left


@pytest.mark.django_db
@pytest.mark.usefixtures("views")
def test_test_of_the_page(db):
    own = made("orders/tests.py")

    own.test_rename_a_group(get_user_model().objects.create_superuser("ada"))


def test_settings_of_the_page(settings):
    given = made("settings.py").AI_ASSISTANT
    settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, given)

    # The demo has no such operations.
    assert {one.id for one in check_assistant()} == {"ai_assistant.W190"}
