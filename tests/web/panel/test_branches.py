"""Another version of a question or an answer, by plain forms and by a script."""

from urllib.parse import urljoin
from uuid import uuid4

import pytest
from django.urls import reverse

from ai_assistant.engine.lifecycle.finish import SUCCEEDED, finish
from ai_assistant.engine.storage.branches import path_of
from ai_assistant.models import Conversation, Message, Run
from ai_assistant.models.run import RunState
from tests.web.conftest import ask

SCRIPT = {"HX-Request": "true"}

pytestmark = pytest.mark.usefixtures("quiet")


@pytest.fixture
def asked(people):
    """A run of ada that has ended."""
    run = ask(people["ada"], "The question")
    return end(run)


def end(run):
    Run.objects.filter(pk=run.pk).update(state=RunState.SUCCEEDED)
    run.refresh_from_db()
    return run


def post(client, name, fields, *, script=True):
    headers = SCRIPT if script else {}
    return client.post(reverse(f"ai_assistant:{name}"), fields, headers=headers)


def get(client, name, run, *, script=True):
    address = reverse(f"ai_assistant:{name}")
    return client.get(address, {"run": str(run.pk)}, headers=SCRIPT if script else {})


def form(run, **more) -> dict[str, str]:
    return {"run": str(run.pk), "key": str(uuid4()), "next": "/admin/", **more}


class TestRegenerate:
    def test_regenerate_starts_a_run_beside_the_old_one(self, browser, asked):
        response = post(browser("ada"), "regenerate", form(asked, how="shorter"))

        assert response.status_code == 204
        fresh = Run.objects.exclude(pk=asked.pk).get()
        assert (fresh.after_id, fresh.wish) == (asked.after_id, "shorter")
        assert fresh.state == RunState.QUEUED
        assert fresh.messages.get().text == "The question"

    def test_twice_is_once(self, browser, asked):
        fields = form(asked, how="same")

        for _ in range(2):
            assert post(browser("ada"), "regenerate", fields).status_code == 204

        assert Run.objects.count() == 2

    def test_regenerate_without_a_script_leads_back(self, browser, asked):
        response = post(browser("ada"), "regenerate", form(asked), script=False)

        assert (response.status_code, response["Location"]) == (303, "/admin/#aia")
        assert Run.objects.count() == 2

    def test_menu_offers_profiles_that_have_a_label(self, browser, asked, settings):
        profiles = {
            "default": {"MODEL": "a"},
            "big": {"MODEL": "b", "LABEL": "Large <model>"},
            "own": {"MODEL": "c"},
        }
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "PROFILES": profiles}

        menu = get(browser("ada"), "regenerate", asked).content.decode()

        assert "With Large &lt;model&gt;" in menu
        assert 'value="profile:big"' in menu
        assert "profile:own" not in menu
        fields = form(asked, how="profile:big")
        assert post(browser("ada"), "regenerate", fields).status_code == 204
        assert Run.objects.exclude(pk=asked.pk).get().profile == "big"

    @pytest.mark.row("ui 77")
    @pytest.mark.parametrize(
        ("here", "offered"),
        [
            ("/admin/auth/group/?q=a#b", "/admin/auth/group/?q=a"),
            ("/admin/auth/user/", ""),  # where it was asked
            ("/assistant/", ""),
            ("https://other.example/admin/auth/group/", ""),
            ("", ""),
        ],
    )
    def test_menu_offers_the_page_that_is_open(self, browser, asked, here, offered):
        Run.objects.update(page_path="/admin/auth/user/?o=1")
        address = reverse("ai_assistant:regenerate")
        named = {"run": str(asked.pk), "title": "Groups <1>"}
        headers = {**SCRIPT, "Referer": here and urljoin("http://testserver", here)}

        menu = browser("ada").get(address, named, headers=headers).content.decode()

        assert ('value="page"' in menu) == bool(offered)
        assert (f'name="path" value="{offered}"' in menu) == bool(offered)
        assert ("Groups &lt;1&gt;" in menu) == bool(offered)

    @pytest.mark.row("ui 77")
    def test_regenerate_for_another_page_leaves_what_the_old_one_added(
        self, browser, asked
    ):
        Run.objects.update(page_path="/admin/auth/user/", context={"dropped": ["page"]})
        fields = form(asked, how="page", path="/admin/auth/group/", title="Groups")

        assert post(browser("ada"), "regenerate", fields).status_code == 204

        fresh = Run.objects.exclude(pk=asked.pk).get()
        assert (fresh.page_path, fresh.page_title) == ("/admin/auth/group/", "Groups")
        assert fresh.context == {}
        assert fresh.messages.get().text == "The question"

    @pytest.mark.parametrize("path", ["", "//other.example/", "admin/", "/a\nb"])
    def test_regenerate_for_what_is_no_page_of_this_site(self, browser, asked, path):
        fields = form(asked, how="page", path=path)

        response = post(browser("ada"), "regenerate", fields)

        assert "out of date" in response.content.decode()
        assert Run.objects.count() == 1

    @pytest.mark.parametrize("how", ["profile:own", "profile:", "longer", "x" * 9000])
    def test_regenerate_of_a_kind_that_is_not_offered(self, browser, asked, how):
        post(browser("ada"), "regenerate", form(asked, how=how))

        kinds = set(Run.objects.values_list("profile", "wish"))
        assert kinds == {("default", "")}

    def test_menu_without_a_script_is_a_page(self, browser, asked):
        page = get(browser("ada"), "regenerate", asked, script=False).content.decode()

        assert "<html" in page
        assert "Another answer" in page
        assert "csrfmiddlewaretoken" in page


class TestEdit:
    def test_form_holds_the_text(self, browser, asked):
        Message.objects.update(parts=[{"type": "text", "text": "\n a <b>\n"}])

        page = get(browser("ada"), "edit_message", asked).content.decode()

        assert ">\n\n a &lt;b&gt;\n</textarea>" in page
        assert "stay as an earlier version" in page
        assert "Changes that were made are kept" not in page

    def test_edit_starts_a_run_beside_the_old_one(self, browser, asked):
        response = post(browser("ada"), "edit_message", form(asked, text="Rather this"))

        assert response.status_code == 204
        fresh = Run.objects.exclude(pk=asked.pk).get()
        assert fresh.messages.get().text == "Rather this"
        assert path_of(asked.conversation) == [fresh.pk]

    def test_refused_text_is_told(self, browser, asked):
        response = post(browser("ada"), "edit_message", form(asked, text=" "))

        assert response.status_code == 200
        assert "Write a message first." in response.content.decode()
        assert Run.objects.count() == 1

    def test_edit_keeps_that_nothing_may_be_changed(self, browser, asked):
        client = browser("ada")
        client.cookies["aia_look"] = "1"

        post(client, "edit_message", form(asked, text="Rather this"))

        assert Run.objects.exclude(pk=asked.pk).get().look_only


class TestBranch:
    @pytest.fixture
    def two(self, browser, asked):
        """The two versions of a question."""
        post(browser("ada"), "edit_message", form(asked, text="Rather this"))
        return asked, end(Run.objects.exclude(pk=asked.pk).get())

    def test_chosen_version_is_shown(self, browser, two):
        old, fresh = two
        client = browser("ada")
        conversation = str(old.conversation_id)

        def page():
            address = reverse("ai_assistant:full")
            return client.get(address, {"conversation": conversation}).content.decode()

        assert "Rather this" in page()
        assert "Version 2 of 2" in page()
        assert post(client, "branch", form(old)).status_code == 204
        assert "The question" in page()
        assert "Rather this" not in page()
        assert f'data-run="{old.pk}"' in page()
        assert post(client, "branch", form(fresh), script=False).status_code == 303
        assert "Rather this" in page()

    def test_next_message_goes_on_there(self, browser, people, two):
        old, _fresh = two
        post(browser("ada"), "branch", form(old))

        run = ask(people["ada"], "And then?", conversation=old.conversation_id)

        assert run.after_id == old.pk
        assert path_of(Conversation.objects.get()) == [old.pk, run.pk]

    def test_frames_tell_a_page_that_shows_another(self, browser, two):
        old, fresh = two
        client = browser("ada")
        post(client, "branch", form(old))
        at = {
            "conversation": str(old.conversation_id),
            "run": str(fresh.pk),
            "after": 9,
        }

        (frame,) = client.get(reverse("ai_assistant:frames"), at).json()["frames"]

        assert frame["r"] == str(old.pk)
        log = frame["html"].partition('"#aia-log" data-aia-hx-swap="innerMorph">')[2]
        assert "The question" in log

    def test_viewer_sees_which_but_no_buttons(self, browser, people, two):
        Conversation.objects.update(owner=people["viewer"])
        address = reverse("ai_assistant:full")
        named = {"conversation": str(two[0].conversation_id)}

        page = browser("viewer").get(address, named).content.decode()

        assert "Version 2 of 2" in page
        assert "Next version" not in page
        assert "Edit the message" not in page
        assert "Regenerate" not in page


class TestRefused:
    POSTS = ("regenerate", "edit_message", "branch")

    @pytest.mark.parametrize("name", POSTS)
    def test_refused_while_an_answer_is_under_way(self, browser, people, asked, name):
        ask(people["ada"], "Another", conversation=asked.conversation_id)

        response = post(browser("ada"), name, form(asked, text="Rather this"))

        assert response.status_code == 200
        text = response.content.decode()
        assert "still working" in text or "is under way" in text
        assert Run.objects.count() == 2
        assert Conversation.objects.get().shown_run_id is None

    @pytest.mark.parametrize("name", POSTS)
    def test_refused_for_other_people(self, browser, asked, name):
        fields = form(asked, text="Rather this")

        assert post(browser("bob"), name, fields).status_code == 404
        assert post(browser("viewer"), name, fields).status_code == 403
        assert post(browser("nobody"), name, fields).status_code == 403
        assert post(browser(), name, fields).status_code == 401
        assert Run.objects.count() == 1

    @pytest.mark.parametrize("name", POSTS)
    def test_refused_without_a_token(self, browser, asked, name):
        client = browser("ada", enforce_csrf_checks=True)

        assert post(client, name, form(asked, text="x")).status_code == 403
        assert Run.objects.count() == 1

    @pytest.mark.parametrize("name", ["regenerate", "edit_message"])
    def test_form_of_another_person(self, browser, asked, name):
        assert get(browser("bob"), name, asked).status_code == 404

    @pytest.mark.parametrize("name", ["regenerate", "edit_message"])
    def test_form_while_it_is_written(self, browser, people, name):
        run = ask(people["ada"], "Another")

        page = get(browser("ada"), name, run).content.decode()

        assert "still being written" in page

    @pytest.mark.parametrize("name", POSTS)
    @pytest.mark.parametrize("run", ["", "x", "0" * 99, "\0"])
    def test_malformed_run_id_is_a_400(self, browser, asked, name, run):
        response = post(browser("ada"), name, {"run": run, "key": "k"}, script=False)

        assert response.status_code == 400


class TestPage:
    def test_page_of_an_ended_run_has_the_ways_on(self, browser, asked):
        finish(asked.pk, SUCCEEDED)
        address = reverse("ai_assistant:full")
        named = {"conversation": str(asked.conversation_id)}

        page = browser("ada").get(address, named).content.decode()

        assert reverse("ai_assistant:edit_message") + f"?run={asked.pk}" in page
        assert reverse("ai_assistant:regenerate") + f"?run={asked.pk}" in page
        assert "Version 1 of 1" not in page
        assert page.count('id="aia-edit-last"') == 1
