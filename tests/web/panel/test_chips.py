"""The chips of a page, the banners over a conversation, and what a closed panel costs."""

from uuid import uuid4

import pytest
from django.contrib.auth.models import Group, Permission
from django.db import connection
from django.template import Context, Template
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

import ai_assistant
from ai_assistant import conf
from ai_assistant.context.block import line_of
from ai_assistant.models.run import RunState
from ai_assistant.registry import registry
from ai_assistant.types import ContextItem
from tests.web.conftest import ask
from tests.web.markup import all_with, one_with

GROUPS = "/admin/auth/group/"

pytestmark = pytest.mark.usefixtures("quiet", "clean_registry")


@pytest.fixture
def clean_registry():
    with registry.restored():
        yield


@pytest.fixture
def client(browser, people):
    own = Permission.objects.filter(content_type__app_label="auth")
    people["ada"].user_permissions.add(*own)
    return browser("ada")


def look(client, path=GROUPS, **values) -> str:
    query = {"path": path, **values}
    answer = client.get(reverse("ai_assistant:context"), query)
    assert answer.status_code == 200
    return answer.content.decode()


def chips(html) -> list[str]:
    return [str(chip["data-item"]) for chip in all_with(html, class_="aia-chip")]


class TestChips:
    @pytest.mark.row("C01")
    def test_chips_are_the_items_of_the_page(self, client):
        group = Group.objects.create(name="Night shift")

        html = look(client, f"{GROUPS}{group.pk}/change/")

        assert chips(html) == ["object"]
        chip = one_with(html, data_item="object")
        assert (chip["data-title"], chip["data-along"]) == ("Night shift", "page")
        assert "<span>Group: Night shift</span>" in html

    def test_name_no_object_that_the_user_may_not_see(self, browser, people):
        group = Group.objects.create(name="Night shift")

        html = look(browser("bob"), f"{GROUPS}{group.pk}/change/")

        assert "Night shift" not in html

    @pytest.mark.row("C07")
    def test_manual_item_is_hidden_until_it_is_mentioned(self, client):
        ai_assistant.context(title="Notes", auto=False, name="notes")(lambda _: "n")

        chip = one_with(look(client), data_item="notes")

        assert "hidden" in chip
        assert "data-manual" in chip

    @pytest.mark.row("C08")
    def test_tell_how_much_of_the_prompt_an_item_takes(self, client):
        told = ai_assistant.context(title="Notes", name="notes", description="Notes")
        told(lambda _: "n" * 700)
        size = len(line_of(ContextItem(description="Notes", value="n" * 700)))

        html = look(client)

        assert f"{size} characters</p>" in html.partition('data-item="notes"')[2]

    def test_failed_item_says_why(self, client):
        @ai_assistant.context(title="Stock")
        def stock(context):
            raise LookupError("no stock")

        html = look(client)

        assert "aia-bad" in str(one_with(html, data_item="stock")["class"])
        assert "LookupError" in html
        assert len(all_with(html, class_="aia-drop")) == len(chips(html)) - 1

    def test_item_too_large_for_the_prompt_says_so(self, client):
        ai_assistant.context(title="Long", name="long")(lambda _: "x" * 20_000)

        html = look(client)

        assert "aia-bad" in str(one_with(html, data_item="long")["class"])
        assert "It is too large." in html

    def test_page_of_code_that_fails_is_shown_as_failed(self, client, monkeypatch):
        from django.contrib import admin

        group = Group.objects.create(name="Night shift")
        broken = admin.site.get_model_admin(Group)
        monkeypatch.setattr(broken, "get_queryset", lambda _: 1 / 0)

        html = look(client, f"{GROUPS}{group.pk}/change/")

        assert chips(html) == ["page", "object"]
        assert "aia-bad" in str(one_with(html, data_item="object")["class"])
        assert "ZeroDivisionError" in html

    @pytest.mark.parametrize(
        "path", ["", "https://elsewhere.example/", "//elsewhere.example/", "/nowhere/"]
    )
    def test_page_that_is_none_of_ours_has_none(self, client, path):
        assert chips(look(client, path)) == []

    def test_hostile_title_is_text(self, client):
        item = ContextItem(description="<img src=x>", title="<b>", value="</pre><i>")
        ai_assistant.context(name="bad")(lambda _: item)

        html = look(client)

        assert "<img src=x>" not in html
        assert "<i>" not in html

    def test_room_is_what_is_left_for_the_browser(self, client, monkeypatch):
        monkeypatch.setattr(conf, "CONTEXT_CHARS", 2000)

        room = one_with(look(client), id="aia-context")["data-room"]

        assert 500 < int(str(room)) < 2000

    def test_need_the_permission_to_look(self, browser):
        answer = browser("nobody").get(reverse("ai_assistant:context"))

        assert answer.status_code == 403

    def test_conversation_of_another_is_not_found(self, client, people):
        other = ask(people["bob"])

        answer = client.get(
            reverse("ai_assistant:context"),
            {"path": GROUPS, "conversation": str(other.conversation_id)},
        )

        assert answer.status_code == 404


class TestOpenPage:
    def test_open_page_is_drawn_with_its_chips(self, client):
        client.cookies["aia_ui"] = "o=1&m=dock&w=400"

        html = client.get(GROUPS).content.decode()

        assert chips(html.partition('id="aia-t-chip"')[0]) == ["page"]

    def test_closed_one_asks_nothing_of_providers(self, client):
        asked = []
        ai_assistant.context(name="costly")(asked.append)
        client.get(GROUPS)
        with CaptureQueriesContext(connection) as queries:
            client.get(GROUPS)

        assert asked == []
        assert not [q for q in queries if "ai_assistant" in q["sql"]]


class Shop(ai_assistant.ContextModule):
    id = "groups-of-test"
    label = "Groups & co"
    matches = ("admin:auth_group_*",)


class TestOrigin:
    @pytest.fixture
    def run(self, people):
        def make(path=GROUPS, title="", state=RunState.SUCCEEDED):
            run = ask(people["ada"], conversation=uuid4())
            run.page_path, run.page_title, run.state = path, title, state
            run.module = "groups-of-test" if "group" in path else "admin-list"
            run.save()
            return run

        return make

    def banner(self, client, run, path) -> str:
        html = look(client, path, conversation=str(run.conversation_id))
        return html.partition("<ul")[0]

    @pytest.mark.row("N03", "C13", "C14")
    def test_origin_of_a_module_leads_back_to_it(self, client, run):
        registry.add_module(Shop())

        html = self.banner(client, run(), "/admin/auth/user/")

        assert "Asked on Groups &amp; co" in html
        assert one_with(html, href=GROUPS)

    def test_origin_is_gone_on_pages_of_the_module(self, client, run):
        registry.add_module(Shop())

        assert "<a" not in self.banner(client, run(), f"{GROUPS}add/")

    def test_another_object_of_the_module_is_another_matter(self, client, run):
        registry.add_module(Shop())

        first = run(f"{GROUPS}{Group.objects.create(name='One').pk}/change/")

        assert one_with(
            self.banner(client, first, f"{GROUPS}99/change/"), href=first.page_path
        )

    def test_module_of_a_page_that_is_closed_says_nothing(self, client, run):
        registry.add_module(Shop())

        gone = run(f"{GROUPS}99/change/")

        assert "<a" not in self.banner(client, gone, "/admin/auth/user/")

    def test_origin_of_other_pages_lasts_while_the_run_does(self, client, run):
        path, title = "/admin/auth/user/?q=a", "Select user | Django site admin"
        unfinished = run(path, title, RunState.RUNNING)

        html = self.banner(client, unfinished, GROUPS)

        assert "Asked on Users" in html
        assert one_with(html, href=path)
        unfinished.state = RunState.SUCCEEDED
        unfinished.save()
        assert "<a" not in self.banner(client, unfinished, GROUPS)

    def test_origin_is_gone_on_the_page_itself(self, client, run):
        unfinished = run("/admin/auth/user/?q=a", "U", RunState.RUNNING)

        assert "<a" not in self.banner(client, unfinished, "/admin/auth/user/?q=b")

    @pytest.mark.parametrize("route", ["https://elsewhere.example/", "javascript:x"])
    def test_route_to_elsewhere_is_none(self, client, run, route):
        class Astray(Shop):
            def get_route(self, context):
                return route

        registry.add_module(Astray())

        assert "<a" not in self.banner(client, run(), "/admin/auth/user/")

    def test_module_that_fails_has_none(self, client, run):
        class Broken(Shop):
            def get_label(self, context):
                raise LookupError

        registry.add_module(Broken())

        assert "<a" not in self.banner(client, run(), "/admin/auth/user/")


class TestReadOnly:
    @pytest.mark.row("N05")
    def test_module_that_allows_no_change_is_said(self, client):
        class Frozen(Shop):
            read_only = True

        registry.add_module(Frozen())

        html = look(client)

        assert "data-readonly" in one_with(html, id="aia-context")
        assert "changes nothing on this page" in html
        assert "changes nothing" not in look(client, "/admin/auth/user/")

    def test_rule_that_fails_counts_as_read_only(self, client):
        class Broken(Shop):
            def is_read_only(self, context):
                raise LookupError

        registry.add_module(Broken())

        assert "data-readonly" in one_with(look(client), id="aia-context")


class TestTag:
    def draw(self, tag, **values) -> str:
        return Template(f"{{% load assistant %}}{tag}").render(Context(values))

    @pytest.mark.row("C02")
    def test_tag_holds_the_value_as_json(self):
        tag = '{% assistant_context "cart" value description="The cart" label="Cart" %}'

        found = one_with(self.draw(tag, value={"n": [1, "é"]}), data_aia_context="cart")

        assert found["data-aia-value"] == '{"n": [1, "é"]}'
        assert found["data-aia-label"] == "Cart"
        assert found["data-aia-auto"] == "true"

    def test_hostile_value_stays_in_its_attribute(self):
        value = "\"'><script>alert(1)</script>"

        html = self.draw('{% assistant_context "a" value auto=False %}', value=value)

        assert "<script" not in html
        assert one_with(html, data_aia_context="a")["data-aia-auto"] == "false"
