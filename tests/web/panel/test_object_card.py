"""The card of an object that an answer names: what its reader may see in the admin."""

import pytest
from django.contrib.admin.sites import site
from django.contrib.auth.models import Group, Permission, User
from django.urls import reverse

from project.questionnaires.models import Questionnaire
from tests.web.markup import all_with

USERS = "/admin/auth/user/"
NOTHING = "You may not see this object, or it no longer exists."


def card(client, path: str) -> str:
    answer = client.get(reverse("ai_assistant:object"), {"path": path})
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.fixture
def reader(browser, people):
    """Ada, who may view users and nothing else."""
    people["ada"].user_permissions.add(Permission.objects.get(codename="view_user"))
    return browser("ada")


@pytest.fixture
def path(people):
    User.objects.filter(pk=people["bob"].pk).update(
        first_name="Robert <b>", email="bob@example.com"
    )
    return f"{USERS}{people['bob'].pk}/change/"


class TestObjectCard:
    def test_card_has_the_fields_that_have_values(self, reader, path):
        html = card(reader, path)

        assert '<strong dir="auto">bob</strong>' in html
        assert '<dt>First name</dt><dd dir="auto">Robert &lt;b&gt;</dd>' in html
        assert "bob@example.com" in html
        assert "<dt>Last name</dt>" not in html

    def test_card_says_a_list_as_a_person_would(self, browser, people):
        survey = Questionnaire.objects.create(title="Sleep", languages=["en", "pt-BR"])
        people["ada"].user_permissions.add(
            Permission.objects.get(codename="view_questionnaire")
        )

        html = card(
            browser("ada"), f"/admin/questionnaires/questionnaire/{survey.pk}/change/"
        )

        assert '<dt>Languages</dt><dd dir="auto">en, pt-BR</dd>' in html

    def test_card_has_no_secret(self, reader, path):
        User.objects.filter(username="bob").update(password="plain-sight")

        assert "plain-sight" not in card(reader, path)

    def test_card_of_nobody_who_may_not_view_it(self, browser, path):
        html = card(browser("bob"), path)

        assert NOTHING in html
        assert "bob@example.com" not in html

    def test_card_of_no_model_that_another_permission_opens(self, reader):
        group = Group.objects.create(name="Night shift")

        html = card(reader, f"/admin/auth/group/{group.pk}/change/")

        assert NOTHING in html
        assert "Night shift" not in html

    def test_card_of_no_row_that_the_admin_leaves_out(self, reader, path, monkeypatch):
        own = type(site._registry[User])
        monkeypatch.setattr(
            own,
            "get_queryset",
            lambda self, request: User.objects.filter(first_name=""),
        )

        assert NOTHING in card(reader, path)

    def test_card_leaves_out_what_the_admin_hides_of_it(
        self, reader, path, monkeypatch
    ):
        own = type(site._registry[User])
        shown = ((None, {"fields": ("username", "first_name")}),)
        monkeypatch.setattr(own, "get_fieldsets", lambda *_args, **_more: shown)

        html = card(reader, path)

        assert "Robert" in html
        assert "bob@example.com" not in html

    def test_card_is_none_where_the_admin_fails(
        self, reader, path, monkeypatch, caplog
    ):
        def fail(*_arguments):
            raise RuntimeError("broken")

        own = type(site._registry[User])
        monkeypatch.setattr(own, "has_view_or_change_permission", fail)

        assert NOTHING in card(reader, path)
        assert "cannot be shown" in caplog.text

    @pytest.mark.parametrize(
        "other",
        [
            "",
            USERS,
            f"{USERS}999999/change/",
            f"{USERS}nobody/change/",
            "//other.example/admin/auth/user/1/change/",
            "https://other.example/admin/auth/user/1/change/",
            "http://[",
            "/nowhere/change/",
        ],
    )
    def test_no_other_address_has_a_card(self, reader, other):
        html = card(reader, other)

        assert NOTHING in html
        assert not all_with(html, class_="aia-lines")

    def test_nobody_without_the_assistant_gets_a_card(self, client, people, path):
        answer = client.get(reverse("ai_assistant:object"), {"path": path})

        assert answer.status_code in (302, 401, 403)
