"""What the server draws of the places, the keys and the launcher."""

import pytest
from django.contrib.auth import get_user_model

from ai_assistant import conf
from ai_assistant.web.panel.keyboard import keyboard_map
from ai_assistant.web.panel.layout import COOKIE, Layout
from tests.web.markup import all_with, one_with


@pytest.fixture
def page(client, settings):
    """Return a page, as cookie and settings have it."""
    user = get_user_model().objects.create_superuser("root", password="root")
    client.force_login(user)

    def drawn(cookie="", **own):
        settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, own)
        client.cookies[COOKIE] = cookie
        return client.get("/admin/").content.decode()

    return drawn


@pytest.fixture
def root(page):
    """Return the panel's root on a page, as cookie and settings have it."""
    return lambda cookie="", **own: one_with(page(cookie, **own), id="aia")


@pytest.mark.django_db
class TestRoot:
    def test_floating_window_waits_for_the_script_that_places_it(self, page):
        html = page("o=1&m=float&p=20.10.5")

        script, panel = html.index("ai_assistant/place.js"), html.index('id="aia"')
        (place,) = [one for one in all_with(html) if "place" in (one.get("src") or "")]
        assert script < panel
        assert not {"defer", "async"} & {*place}

    @pytest.mark.parametrize("cookie", ["", "o=1&m=dock", "o=0&m=float"])
    def test_no_other_page_loads_that_script(self, page, cookie):
        assert "ai_assistant/place.js" not in page(cookie)

    def test_root_says_the_keys_unless_they_are_off(self, root):
        assert root()["data-keys"] == "true,true,false,65 false,true,true,65"
        assert "data-keys" not in root("k=0")
        assert (
            root(PANEL={"SHORTCUTS": ["Alt+K"]})["data-keys"] == "false,false,true,75"
        )
        assert "data-keys" not in root(PANEL={"SHORTCUTS": []})

    @pytest.mark.parametrize(
        ("cookie", "launcher", "corner"),
        [
            ("", "end", "end"),
            ("", "none", "none"),
            ("l=s", "end", "start"),
            ("l=e", "none", "end"),
            ("l=n", "start", "none"),
            ("l=n&k=0", "start", "end"),  # nobody is left without a way in
        ],
    )
    def test_root_says_the_corner_of_the_launcher(self, root, cookie, launcher, corner):
        assert root(cookie, PANEL={"LAUNCHER": launcher})["data-corner"] == corner

    def test_root_says_what_else_the_cookie_holds(self, root):
        drawn = root("e=1&n=7")

        assert (drawn["data-enter"], drawn["data-unread"]) == ("ctrl", "7")
        assert not {"data-enter", "data-unread"} & {*root("e=0&n=0")}


@pytest.mark.django_db
class TestSkipLink:
    def test_skip_link_stands_after_the_admins_own(self, root, client):
        root()
        html = client.get("/admin/").content.decode()

        own, ours = html.index("skip-to-content-link"), html.index('id="aia-skip"')
        assert own < ours < html.index('id="header"')
        assert len(all_with(html, id="aia-skip")) == 1


class TestKeyboardMap:
    def test_keyboard_map_names_the_keys_of_site_and_person(self, settings):
        settings.AI_ASSISTANT = {
            **settings.AI_ASSISTANT,
            "PANEL": {"SHORTCUTS": ["Alt+K"]},
        }
        keys = {does: said for said, does in keyboard_map(Layout(ctrl_enter=True))}

        assert keys["Open the assistant, write to it, close it"] == ["Alt+K"]
        assert keys["Send the message"] == ["Ctrl+Enter"]

    def test_keyboard_map_leaves_out_keys_that_are_off(self):
        rows = keyboard_map(Layout(shortcuts=False))

        assert rows[0][0] == ["F6"]

    def test_keyboard_map_is_a_page_or_a_fragment(self, people, browser):
        client = browser("viewer")

        page = client.get("/assistant/keyboard/").content.decode()
        part = client.get("/assistant/keyboard/", headers={"HX-Request": "true"})

        assert "<html" in page
        assert "<html" not in part.content.decode()
        assert '<kbd dir="ltr">F6</kbd>' in page
        assert '<kbd dir="ltr">F6</kbd>' in part.content.decode()
