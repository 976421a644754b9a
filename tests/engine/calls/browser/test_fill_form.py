"""What the page is told to fill in, as its own form would take it."""

import pytest
from django.contrib.auth.models import Group, Permission, User

from ai_assistant.testing import call, reply
from project.questionnaires.models import Questionnaire, Section

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("B08")]
ADD = "/admin/questionnaires/questionnaire/add/"


@pytest.fixture
def filling(play, script):
    def fill(path, values, inlines=None, form="", **fields):
        wanted = {"values": values, "inlines": inlines, "form": form}
        script.add(reply("", call("fill_form", wanted)), "There.")
        return play(page_path=path, **fields)

    return fill


@pytest.fixture
def section():
    questionnaire = Questionnaire.objects.create(title="One", status="draft")
    return Section.objects.create(questionnaire=questionnaire, title="Old")


def change_path(obj):
    return f"/admin/questionnaires/{obj._meta.model_name}/{obj.pk}/change/"


def asked(run):
    """Return what the page is asked to do."""
    assert run.state == "waiting_browser", run.calls.get().result
    return run.interrupts.get().request["arguments"]


def inputs(run):
    return {one["name"]: one["values"] for one in asked(run)["fields"]}


def refused(run):
    assert run.state == "succeeded"
    return run.calls.get().result


class TestForm:
    def test_inputs_are_those_of_the_widgets(self, filling):
        values = {"title": "New", "status": "draft", "languages": ["en", "de"]}

        run = filling(ADD, values)

        assert inputs(run) == {
            "title": ["New"],
            "status": ["draft"],
            "languages": ['["en", "de"]'],
        }
        assert not Questionnaire.objects.exists()

    def test_what_is_not_given_may_be_empty(self, filling):
        assert inputs(filling(ADD, {"description": "Only this."})) == {
            "description": ["Only this."]
        }

    def test_choice_has_the_name_of_its_object(self, filling, section):
        other = Questionnaire.objects.create(title="Two")

        (field,) = asked(filling(change_path(section), {"questionnaire": other.pk}))[
            "fields"
        ]

        assert field["texts"] == {str(other.pk): str(other)}

    def test_rows_are_added_and_ticked_for_deletion(self, filling, section):
        questionnaire = section.questionnaire
        Section.objects.create(questionnaire=questionnaire, title="Keep", position=1)
        rows = {"sections": [{"id": section.pk, "DELETE": True}, {"title": "Third"}]}

        run = filling(change_path(questionnaire), {}, rows)

        assert inputs(run) == {
            "sections-0-DELETE": ["on"],
            "sections-2-title": ["Third"],
        }
        assert asked(run)["rows"]["sections"][1] == 3


class TestRefused:
    def test_value_that_the_form_refuses(self, filling):
        result = refused(filling(ADD, {"title": "x" * 201, "status": "none"}))

        assert result["error_type"] == "retry"
        assert "title: " in result["error"]
        assert "status: " in result["error"]

    @pytest.mark.parametrize("path", ["/admin/", "/admin/auth/group/"])
    def test_page_without_a_form(self, filling, path):
        assert "no form" in refused(filling(path, {"title": "x"}))["error"]

    @pytest.mark.parametrize("name", ["is_superuser", "password", "groups", "nothing"])
    def test_field_that_no_tool_may_write(self, filling, name):
        user = User.objects.create(username="eve")

        result = refused(filling(f"/admin/auth/user/{user.pk}/change/", {name: 1}))

        assert result["error_type"] == "retry"

    def test_person_without_the_permission(self, filling, section):
        reader = User.objects.create_user("reader", is_staff=True)
        codes = ["view_section", "use_assistant", "view_assistant"]
        reader.user_permissions.set(Permission.objects.filter(codename__in=codes))

        result = refused(
            filling(change_path(section), {"title": "x"}, user_id=reader.pk)
        )

        assert not result["ok"]

    def test_object_that_is_not_there(self, filling):
        path = "/admin/auth/group/99/change/"

        assert refused(filling(path, {"name": "x"}))["error_type"] == "retry"
        assert not Group.objects.exists()

    def test_page_that_the_assistant_only_looks_at(self, filling, section):
        run = filling(change_path(section), {"title": "x"}, look_only=True)

        assert not refused(run)["ok"]


class TestSitePage:
    def test_values_are_texts_for_its_inputs(self, filling, options):
        options(DATA={"TOOLS": False})
        values = {"billing-no": 7, "agree": True, "tags": ["a", 2], "note": None}

        run = filling("/?a=1", values, form="billing")

        assert asked(run) == {
            "page": "/?a=1",
            "form": "billing",
            "values": {
                "billing-no": ["7"],
                "agree": ["true"],
                "tags": ["a", "2"],
                "note": [],
            },
        }

    @pytest.mark.parametrize(
        "name", ["password", "is_staff", "billing-is_staff", "card_pin", "secret"]
    )
    def test_name_of_a_sensitive_field(self, filling, options, name):
        options(DATA={"SENSITIVE": ["shop.card.secret"]})

        result = refused(filling("/", {"note": "x", name: "1"}))

        assert result["error_type"] == "retry"
        assert name in result["error"]

    @pytest.mark.parametrize(
        "given", [{}, {"note": {"a": 1}}, {"note": [["a"]]}], ids=["no", "dict", "list"]
    )
    def test_value_that_no_input_has(self, filling, given):
        assert refused(filling("/", given))["error_type"] == "retry"

    def test_rows_have_the_names_of_their_inputs(self, filling):
        result = refused(filling("/", {"note": "x"}, {"form": [{"title": "x"}]}))

        assert "form-0-title" in result["error"]

    @pytest.mark.parametrize("path", ["/nowhere/", "/assistant/", "/admin/login/"])
    def test_page_that_is_no_page_of_the_site(self, filling, path):
        assert "no form" in refused(filling(path, {"note": "x"}))["error"]

    def test_page_that_the_assistant_only_looks_at(self, filling):
        assert not refused(filling("/", {"note": "x"}, look_only=True))["ok"]
