"""The object of a page: what the admin would show this user, and nothing secret."""

import math

import pytest
from django.contrib import admin
from django.contrib.admin import ModelAdmin
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.contrib.sessions.models import Session
from django.core.exceptions import PermissionDenied

from ai_assistant.context.opened import _value, admin_summary, may_open, opened_object
from ai_assistant.context.page import find_page
from ai_assistant.safety.policy.sensitive import is_sensitive_field, is_sensitive_model
from ai_assistant.text.unicode import short_value
from project.questionnaires.models import Questionnaire
from tests.context.conftest import seen

pytestmark = [pytest.mark.django_db, pytest.mark.row("C15")]

LIST = "/admin/questionnaires/questionnaire/"


@pytest.fixture
def questionnaire(user):
    return Questionnaire.objects.create(title="Weekly", owner=user)


def change(opened):
    return find_page(f"{LIST}{opened.pk}/change/")


def refuse(_self, _request, *_args, **_kwargs):
    raise PermissionDenied


def replace_form(monkeypatch, view):
    def changeform_view(self, request, *args, **kwargs):
        return view(self, request, *args, **kwargs)

    own = type(admin.site.get_model_admin(Questionnaire))
    # The addresses hold change_view already, which calls this one.
    monkeypatch.setattr(own, "changeform_view", changeform_view, raising=False)


class TestOpenedObject:
    def test_opened_object_is_loaded_as_the_admin_does(self, user, questionnaire):
        assert opened_object(change(questionnaire), user) == questionnaire

    def test_opened_object_not_without_permission(self, staff, questionnaire):
        assert opened_object(change(questionnaire), staff()) is None

    def test_view_permission_is_enough(self, staff, questionnaire):
        viewer = staff("view_questionnaire")

        assert opened_object(change(questionnaire), viewer) == questionnaire

    def test_opened_object_not_beyond_the_queryset(
        self, user, questionnaire, monkeypatch
    ):
        model_admin = admin.site.get_model_admin(Questionnaire)
        monkeypatch.setattr(
            model_admin, "get_queryset", lambda request: Questionnaire.objects.none()
        )

        assert opened_object(change(questionnaire), user) is None

    def test_opened_object_not_if_the_admin_does_not_find_it(
        self, user, questionnaire, monkeypatch
    ):
        own = change(questionnaire)
        admin_class = type(own.model_admin)
        monkeypatch.setattr(
            admin_class, "get_object", lambda *_args: None, raising=False
        )
        assert opened_object(own, user) is None

    def test_opened_object_not_if_its_page_does_not_open(
        self, user, questionnaire, monkeypatch
    ):
        replace_form(monkeypatch, refuse)

        assert opened_object(change(questionnaire), user) is None

    def test_a_form_of_the_site_that_opens_is_no_limit(
        self, user, questionnaire, monkeypatch
    ):
        replace_form(monkeypatch, ModelAdmin.changeform_view)
        own = change(questionnaire)
        opened = opened_object(own, user)

        assert opened == questionnaire
        assert admin_summary(own, user, opened)["title"] == "Weekly"
        beside = find_page(f"{LIST}{questionnaire.pk}/history/")
        assert admin_summary(beside, user, opened)["title"] == "Weekly"

    @pytest.mark.parametrize("page", ["history", "delete"])
    def test_its_fields_are_not_told_on_a_page_beside_a_closed_form(
        self, user, questionnaire, monkeypatch, page
    ):
        replace_form(monkeypatch, refuse)
        beside = find_page(f"{LIST}{questionnaire.pk}/{page}/")
        opened = opened_object(beside, user)

        assert opened == questionnaire
        assert admin_summary(beside, user, opened) == {}

    def test_opened_object_not_against_the_admins_own_word(
        self, user, questionnaire, monkeypatch
    ):
        model_admin = admin.site.get_model_admin(Questionnaire)
        monkeypatch.setattr(
            model_admin,
            "has_view_or_change_permission",
            lambda request, obj=None: not obj,
        )

        assert opened_object(change(questionnaire), user) is None

    @pytest.mark.parametrize("key", ["77", "x", "1e9", "9" * 40, "_2F", "%00"])
    def test_key_that_is_none(self, user, key):
        page = find_page(f"{LIST}{key}/change/")

        assert page is None or opened_object(page, user) is None


class TestSummary:
    def test_fields_of_the_form(self, user, questionnaire):
        told = admin_summary(change(questionnaire), user, questionnaire)

        assert told["title"] == "Weekly"
        assert told["owner"] == {"id": user.pk, "text": "ada"}
        assert told["uuid"] == str(questionnaire.uuid)

    def test_user_page_has_no_secret(self, user):
        items = seen(user, f"/admin/auth/user/{user.pk}/change/")

        told = items["object"].value["fields"]
        assert told["username"] == "ada"
        assert not {"password", "is_superuser", "is_staff", "groups"} & set(told)
        assert user.password not in str(items)

    def test_site_can_add_and_open(self, user, questionnaire, settings):
        settings.AI_ASSISTANT = {
            **settings.AI_ASSISTANT,
            "DATA": {
                "SENSITIVE": ["questionnaires.Questionnaire.title"],
                "NOT_SENSITIVE": ["auth.user.is_staff"],
            },
        }

        assert "title" not in admin_summary(change(questionnaire), user, questionnaire)
        page = find_page(f"/admin/auth/user/{user.pk}/change/")
        assert admin_summary(page, user, user)["is_staff"] is True

    def test_nothing_of_a_sensitive_model(self, user, questionnaire, settings):
        settings.AI_ASSISTANT = {
            **settings.AI_ASSISTANT,
            "DATA": {"SENSITIVE": ["questionnaires.questionnaire"]},
        }

        assert admin_summary(change(questionnaire), user, questionnaire) == {}
        found = seen(user, f"{LIST}{questionnaire.pk}/change/")["object"]
        assert found.value["id"] == questionnaire.pk
        assert "Weekly" not in str(found)

    def test_key_to_a_sensitive_model_has_no_text(self, user, questionnaire, settings):
        settings.AI_ASSISTANT = {
            **settings.AI_ASSISTANT,
            "DATA": {"SENSITIVE": ["auth.user"]},
        }

        told = admin_summary(change(questionnaire), user, questionnaire)

        assert told["owner"] == {"id": user.pk}

    def test_key_to_a_model_that_is_left_alone_has_no_text(
        self, user, questionnaire, settings
    ):
        settings.AI_ASSISTANT = {
            **settings.AI_ASSISTANT,
            "DATA": {"MODELS_EXCLUDED": ["auth.User"]},
        }

        told = admin_summary(change(questionnaire), user, questionnaire)

        assert told["owner"] == {"id": user.pk}

    def test_key_to_nothing(self, user):
        page_of = Questionnaire.objects.create(title="Alone")
        field = Questionnaire._meta.get_field("owner")

        assert _value(change(page_of), field, page_of) is None

    @pytest.mark.parametrize(
        ("value", "told"),
        [
            (math.nan, "nan"),
            (1.5, 1.5),
            (True, True),
            (None, None),
            ({"a": 1}, {"a": 1}),
            ("x" * 3000, "x" * 2000 + "…"),
            (b"x", "b'x'"),
        ],
    )
    def test_values_are_plain_and_short(self, value, told):
        assert short_value(value, 2000) == told

    def test_large_json_is_cut(self):
        assert len(short_value({"a": "x" * 5000}, 2000)) == 2001


class TestMayOpen:
    @pytest.mark.parametrize(
        ("codes", "path", "may"),
        [
            ((), LIST, False),
            (("view_questionnaire",), LIST, True),
            (("view_questionnaire",), f"{LIST}add/", False),
            (("add_questionnaire",), f"{LIST}add/", True),
            ((), f"{LIST}1/change/", False),
        ],
    )
    def test_page_of_a_model(self, staff, codes, path, may):
        assert may_open(find_page(path), staff(*codes), None) is may


class TestSensitive:
    @pytest.mark.parametrize("model", [Session, LogEntry, Permission])
    def test_models(self, model):
        assert is_sensitive_model(model)

    def test_own_tables(self):
        from ai_assistant.models import Message

        assert is_sensitive_model(Message)

    def test_ordinary_models(self):
        assert not is_sensitive_model(Group)
        assert not is_sensitive_model(Questionnaire)

    @pytest.mark.parametrize(
        "name", ["password", "is_superuser", "is_staff", "groups", "user_permissions"]
    )
    def test_fields_of_the_user(self, name):
        assert is_sensitive_field(get_user_model()._meta.get_field(name))

    def test_fields_of_a_user_model_of_the_site(self):
        from django.contrib.auth.models import AbstractUser

        class Member(AbstractUser):
            groups = None
            user_permissions = None

            class Meta:
                app_label = "testapp"

        from django.apps import apps

        try:
            assert is_sensitive_field(Member._meta.get_field("is_superuser"))
            assert not is_sensitive_field(Member._meta.get_field("username"))
        finally:
            del apps.all_models["testapp"]["member"]
            apps.clear_cache()
