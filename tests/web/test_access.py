"""Every route against every kind of visitor. What is not listed here is no route."""

from itertools import product
from uuid import uuid4

import pytest
from django.test import RequestFactory
from django.urls import get_resolver, reverse

from ai_assistant.models import Conversation, Message, Run, RunEvent, ToolCall
from ai_assistant.web.panel.access import back, done
from tests.web.conftest import ask, asked_to_approve

GET = ["full", "page", "conversations", "frames", "ws"]
POST = ["send", "stop", "retry", "answer", "new"]
TO_LOOK = [*GET, "new"]  # what the permission to view is enough for
SCRIPT = {"HX-Request": "true"}
TABLES = (Conversation, Message, Run, RunEvent, ToolCall)

pytestmark = pytest.mark.usefixtures("quiet")


def address(name: str) -> str:
    return reverse(f"ai_assistant:{name}")


def rows() -> list[list]:
    return [list(table.objects.order_by("pk").values()) for table in TABLES]


def own_fields(user) -> dict[str, str]:
    """Return what a form of each route could send, all of it the user's own."""
    run = ask(user)
    return {
        "conversation": str(run.conversation_id),
        "run": str(run.pk),
        "interrupt": str(uuid4()),
        "key": str(uuid4()),
        "text": "Hello",
        "decision": "approve",
    }


def visit(client, name, fields=None, **headers):
    method = client.post if name in POST else client.get
    return method(address(name), fields or {}, headers=headers)


class TestRoutes:
    def test_routes_are_all_known_here(self):
        (resolver,) = get_resolver("ai_assistant.urls").url_patterns

        names = {getattr(pattern, "name", "") for pattern in resolver.url_patterns}

        assert names >= {*GET, *POST, "health"}

    def test_routes_of_deeds_take_only_posts(self, browser, subtests):
        client = browser("ada")
        for name, method in product(POST, ["get", "head", "put", "delete", "patch"]):
            with subtests.test(name=name, method=method):
                assert getattr(client, method)(address(name)).status_code == 405

    def test_routes_of_looks_take_no_posts(self, browser, subtests):
        client = browser("ada")
        for name, method in product([*GET, "health"], ["post", "put", "delete"]):
            with subtests.test(name=name, method=method):
                assert getattr(client, method)(address(name)).status_code == 405

    def test_routes_of_looks_change_nothing(self, browser, people, subtests):
        fields = own_fields(people["ada"])
        client, before = browser("ada"), rows()
        for name in GET:
            with subtests.test(name=name):
                status = client.get(address(name), fields).status_code
                assert status == (426 if name == "ws" else 200)
                assert rows() == before


@pytest.mark.row("X05")
class TestToken:
    def test_token_is_needed_for_each_deed(self, browser, people, subtests):
        client = browser("ada", enforce_csrf_checks=True)
        fields = own_fields(people["ada"])
        before = rows()
        for name in POST:
            with subtests.test(name=name):
                assert visit(client, name, fields).status_code == 403
                assert rows() == before

    def test_token_of_the_page_is_enough_on_this_site_only(self, browser):
        client = browser("ada", enforce_csrf_checks=True)
        client.get(address("full"))
        token = {"csrfmiddlewaretoken": client.cookies["csrftoken"].value}

        assert visit(client, "new", token).status_code == 303
        evil = visit(client, "new", token, Origin="https://evil.example")
        assert evil.status_code == 403


@pytest.mark.row("X05")
class TestSignedOut:
    def test_person_is_sent_to_sign_in_and_script_is_told(self, browser, subtests):
        client, before = browser(), rows()
        for name in (*GET, *POST):
            with subtests.test(name=name):
                response = visit(client, name, {"text": "Hello"})
                assert response.status_code == 302
                assert response["Location"].startswith("/admin/login/?next=/assistant/")
                told = visit(client, name, **SCRIPT)
                assert told.status_code == 401
                assert "signed out" in told.content.decode()
        assert rows() == before

    def test_deactivated_user_is_signed_out(self, browser, people):
        client = browser("ada")
        people["ada"].is_active = False
        people["ada"].save()

        assert client.get(address("full")).status_code == 302


@pytest.mark.row("M12")
class TestPermission:
    def test_permission_without_any_all_is_refused_in_words(
        self, browser, people, subtests
    ):
        fields = own_fields(people["nobody"])
        client, before = browser("nobody"), rows()
        for name, headers in product([*GET, *POST], ({}, SCRIPT)):
            with subtests.test(name=name, headers=headers):
                response = visit(client, name, fields, **headers)
                assert response.status_code == 403
                assert "You have no permission" in response.content.decode()
        assert rows() == before

    def test_permission_to_view_is_to_look_and_not_to_act(
        self, browser, people, subtests
    ):
        fields = own_fields(people["viewer"])
        client, before = browser("viewer"), rows()
        for name in (*GET, *POST):
            with subtests.test(name=name):
                status = visit(client, name, fields).status_code
                assert (status != 403) == (name in TO_LOOK)
        assert rows() == before

    def test_permission_to_use_needs_that_to_view(self, browser, people):
        own = people["ada"].user_permissions
        own.remove(own.get(codename="view_assistant"))

        assert visit(browser("ada"), "send").status_code == 403

    def test_permission_is_for_staff_only_unless_the_site_says_otherwise(
        self, browser, people, settings
    ):
        people["ada"].is_staff = False
        people["ada"].save()

        assert visit(browser("ada"), "full").status_code == 403
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "STAFF_ONLY": False}
        assert visit(browser("ada"), "full").status_code == 200


@pytest.mark.row("D01")
class TestOthers:
    """What belongs to another user does not exist."""

    def test_conversation_and_run_cannot_be_moved(self, browser, people, subtests):
        fields = own_fields(people["bob"])
        client, before = browser("ada"), rows()
        for name, headers in product(["send", "stop", "retry"], ({}, SCRIPT)):
            with subtests.test(name=name, headers=headers):
                assert visit(client, name, fields, **headers).status_code == 404
        assert rows() == before

    def test_interrupt_cannot_be_answered(self, browser, people):
        interrupt = asked_to_approve(people["bob"])
        before = rows()
        fields = {
            "interrupt": interrupt.pk,
            "nonce": interrupt.nonce,
            "decision": "approve",
        }

        assert browser("ada").post(address("answer"), fields).status_code == 404
        assert rows() == before

    def test_own_interrupt_needs_its_nonce(self, browser, people):
        interrupt = asked_to_approve(people["ada"])
        before = rows()
        for nonce in ("", "x", "\x00", "é", interrupt.nonce[:-1]):
            fields = {"interrupt": interrupt.pk, "nonce": nonce, "decision": "approve"}
            assert browser("ada").post(address("answer"), fields).status_code == 404
        assert rows() == before

    def test_conversation_is_neither_shown_nor_listed(self, browser, people):
        run = ask(people["bob"], "My secret")
        client = browser("ada")
        wanted = {"conversation": run.conversation_id, "run": run.pk}
        for name in ("full", "page", "frames"):
            response = client.get(address(name), wanted)
            assert response.status_code == 404
            assert "secret" not in response.content.decode()
        assert "secret" not in client.get(address("conversations")).content.decode()

    def test_conversation_in_the_cookie_is_passed_over(self, browser, people):
        """Two people share a browser: the second begins a conversation of her own."""
        run = ask(people["bob"], "My secret")
        client = browser("ada")
        for is_open in "01":
            client.cookies["aia_ui"] = f"o={is_open}&c={run.conversation_id}"
            assert "secret" not in client.get("/admin/").content.decode()
        panel = client.get(address("page"), {"conversation": run.conversation_id})

        assert panel.status_code == 200
        assert "secret" not in panel.content.decode()
        assert str(run.conversation_id) not in panel.content.decode()

    def test_run_in_own_conversation_is_passed_over(self, browser, people):
        other, own = ask(people["bob"], "My secret"), ask(people["ada"])
        said = {"conversation": own.conversation_id, "run": other.pk, "after": 1}

        response = browser("ada").get(address("frames"), said)

        assert "secret" not in response.content.decode()
        assert response.json()["frames"][0]["r"] == str(own.pk)


class TestGarbage:
    FIELDS = (
        ("send", "conversation"),
        ("stop", "run"),
        ("retry", "run"),
        ("answer", "interrupt"),
    )
    IDS = ("", "1", "None", "../../etc", "\x00", "é" * 40, "0" * 32 + "g", "x" * 10_000)

    def test_ids_are_refused_in_words(self, browser, subtests):
        client, before = browser("ada"), rows()
        for said, (name, field) in product(self.IDS, self.FIELDS):
            fields = {"text": "Hello", "key": "k", field: said}
            with subtests.test(name=name, said=said[:50]):
                page = visit(client, name, fields)
                notice = visit(client, name, fields, **SCRIPT)
                assert (page.status_code, notice.status_code) == (400, 200)
                for response in (page, notice):
                    assert "This page is out of date" in response.content.decode()
        assert rows() == before

    def test_ids_show_nothing(self, browser, subtests):
        client = browser("ada")
        for said in self.IDS:
            with subtests.test(said=said[:50]):
                wanted = {"conversation": said}
                assert visit(client, "full", wanted).status_code == 200
                assert visit(client, "page", wanted).status_code == 200
                assert visit(client, "frames", wanted).status_code == 400

    def test_ids_nobody_has_are_not_found(self, browser):
        client = browser("ada")
        for name, field in (("stop", "run"), ("retry", "run"), ("answer", "interrupt")):
            assert visit(client, name, {field: uuid4()}).status_code == 404

    def test_positions_draw_the_run_anew(self, browser, people, subtests):
        run, client = ask(people["ada"]), browser("ada")
        said = {"conversation": run.conversation_id, "run": run.pk}
        for after in ("", "-1", "x", "9" * 400, "1e9", "\uff11"):
            with subtests.test(after=after[:50]):
                answer = visit(client, "frames", {**said, "after": after})
                assert [frame["s"] for frame in answer.json()["frames"]] == [1]


class TestWayBack:
    GOOD = ("/admin/", "/admin/auth/user/?q=a&p=2", "http://testserver/admin/")
    BAD = (
        "https://evil.example/",
        "//evil.example/",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "http:evil.example",
        "http:///evil.example",
        "javascript:alert(1)",
        "data:text/html,x",
        "http://testserver@evil.example/",
        "http://testserver.evil.example/",
        " https://evil.example/",
        "\thttps://evil.example",
        "\x08//evil.example",
        "https://testserver:x/",
    )

    def post(self, said: str, **headers):
        request = RequestFactory().post("/assistant/send/", {"next": said})
        request.META.update(headers)
        return request

    @pytest.mark.parametrize("said", GOOD)
    def test_way_back_leads_to_the_page_that_was_left(self, said):
        assert back(self.post(said)) == said

    @pytest.mark.parametrize("said", BAD)
    def test_way_back_leads_to_no_other_site(self, said):
        assert back(self.post(said)) == "/assistant/"
        assert back(self.post("", HTTP_REFERER=said)) == "/assistant/"

    def test_referer_serves_where_no_field_does(self):
        assert back(self.post("", HTTP_REFERER="http://testserver/admin/")) == (
            "http://testserver/admin/"
        )

    def test_plain_page_on_a_secure_site_does_not_count(self):
        request = RequestFactory().post(
            "/", {"next": "http://testserver/"}, secure=True
        )

        assert back(request) == "/assistant/"

    @pytest.mark.parametrize(
        ("said", "location"),
        [
            ("/admin/?q=1#top", "/admin/?q=1#aia"),
            ("/admin/?q=é", "/admin/?q=%C3%A9#aia"),
            ("/admin/\r\nSet-Cookie: a=b", "/admin/%0D%0ASet-Cookie:%20a=b#aia"),
        ],
    )
    def test_way_back_is_a_good_address(self, said, location):
        assert done(self.post(said))["Location"] == location

    @pytest.mark.parametrize(
        ("left", "location"),
        [
            ("/assistant/?conversation=1", "/assistant/#aia"),
            ("http://testserver/assistant/?conversation=1#m", "/assistant/#aia"),
            ("/admin/?conversation=1", "/admin/?conversation=1#aia"),
        ],
    )
    def test_way_back_of_a_new_conversation_names_no_other(
        self, browser, left, location
    ):
        response = visit(browser("ada"), "new", {"next": left})

        assert response["Location"] == location


@pytest.mark.row("M13")
class TestOff:
    @pytest.fixture(autouse=True)
    def off(self, settings):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "ENABLED": False}

    def test_there_is_no_address(self, browser, subtests):
        client = browser("ada", enforce_csrf_checks=True)
        for name, method in product([*GET, *POST, "health"], ["get", "post"]):
            with subtests.test(name=name, method=method):
                assert getattr(client, method)(address(name)).status_code == 404

    def test_there_is_no_panel(self, browser):
        assert b'id="aia"' not in browser("ada").get("/admin/").content

    def test_off_is_the_default(self):
        from ai_assistant import conf

        assert conf.DEFAULTS["ENABLED"] is False
