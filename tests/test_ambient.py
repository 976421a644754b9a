"""Work in another thread speaks the language of the request, below its prefix."""

import contextvars

import pytest
from django.urls import get_script_prefix, reverse, set_script_prefix
from django.utils.translation import activate, get_language, gettext, override

from ai_assistant.engine.storage.units import in_db, in_tool_thread, in_write_thread
from ai_assistant.request_context import as_here, below, of_no_request


def seen():
    return get_language(), reverse("admin:index"), gettext("Yes")


@pytest.fixture
def _below_app():
    before = get_script_prefix()
    set_script_prefix("/app/")
    yield
    set_script_prefix(before)


@pytest.mark.parametrize("there", [in_db, in_tool_thread, in_write_thread])
@pytest.mark.usefixtures("_below_app")
async def test_threads_are_told(there):
    set_script_prefix("/app/")
    with override("de"):
        assert await there(seen) == ("de", "/app/admin/", "Ja")
    assert (await there(seen))[0] == "en"


def test_thread_is_left_as_it_was():
    with override("de"):
        set_script_prefix("/app/")
        work = as_here(seen)
        set_script_prefix("/")

    assert work() == ("de", "/app/admin/", "Ja")
    assert seen() == ("en", "/admin/", "Yes")


async def test_thread_of_a_pool_is_right_for_each_work():
    """It stays in the context of its last work, also one that code of a site has left."""

    def leaves_it():
        activate("fr")
        set_script_prefix("/left/")

    for _ in range(8):  # each thread of the pool gets its turn
        with override("de"):
            assert await in_write_thread(seen) == ("de", "/admin/", "Ja")
        await in_write_thread(leaves_it)
        assert await in_write_thread(seen) == ("en", "/admin/", "Yes")
        with override(None):
            assert await in_write_thread(get_language) is None
        with override("ar"), below("/app/"):
            assert (await in_write_thread(seen))[:2] == ("ar", "/app/admin/")
    assert seen() == ("en", "/admin/", "Yes")


def test_work_of_no_request_has_the_prefix_of_the_site(settings):
    assert of_no_request().run(reverse, "admin:index") == "/admin/"

    settings.FORCE_SCRIPT_NAME = "/site"

    assert of_no_request().run(reverse, "admin:index") == "/site/admin/"
    assert isinstance(of_no_request(), contextvars.Context)
