"""Code registers, rows configure: what holds for a person on a page."""

import threading

import pytest
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.utils.translation import override

from ai_assistant import models
from ai_assistant.configuration.parts import taught_parts
from ai_assistant.configuration.rows import version
from ai_assistant.configuration.setup import resolve
from ai_assistant.modules.base import ContextModule
from ai_assistant.registry import registry
from ai_assistant.types import Instruction, Placement, Skill

USERS, USER = "/admin/auth/user/", "/admin/auth/user/1/change/"


def register(name="polite", text="Be polite.", **options):
    place = {
        key: options.pop(key)
        for key in list(options)
        if key in Placement.__dataclass_fields__
    }
    registry.add(
        "instruction",
        Instruction(name=name, text=text, placement=Placement(**place), **options),
    )


def names(context):
    return [one.name for one in resolve(context).instructions]


@pytest.mark.row("I01")
class TestPlacement:
    @pytest.mark.parametrize(
        ("place", "is_there"),
        [
            ({}, True),
            ({"model": "auth.user"}, True),
            ({"model": "Auth"}, True),
            ({"model": "auth.group"}, False),
            ({"view": "changelist"}, True),
            ({"view": "admin:auth_*"}, True),
            ({"view": "change"}, False),
            ({"module": "admin-list"}, True),
            ({"module": "admin-form"}, False),
            ({"permission": "auth.view_user"}, True),
            ({"permission": "auth.no_such"}, True),  # of a superuser
            ({"group": "Sales"}, False),
            ({"language": "en"}, True),
            ({"language": "de"}, False),
        ],
    )
    def test_instruction_applies(self, context_of, place, is_there):
        register(**place)

        assert names(context_of(USERS)) == (["polite"] if is_there else [])

    def test_permission_is_the_users(self, context_of, django_user_model):
        register(permission="auth.view_user")
        eva = django_user_model.objects.create_user("eva", is_staff=True)

        assert names(context_of(USERS, eva)) == []

    def test_group_is_of_its_members(self, context_of, ada):
        register(group="Sales")
        ada.groups.add(Group.objects.create(name="Sales"))

        assert names(context_of(USERS)) == ["polite"]

    def test_language_is_the_active_one_or_a_variant_of_it(self, context_of):
        register(language="de")
        with override("de-at"):
            assert names(context_of(USERS)) == ["polite"]

    @pytest.mark.row("I02")
    def test_condition_that_fails_is_a_no(self, context_of):
        register(available=lambda context: context.page.model_name == "user")
        register("broken", available=lambda context: context.nothing)

        assert names(context_of(USERS)) == ["polite"]
        assert names(context_of("/admin/auth/group/")) == []


class TestRows:
    def test_row_takes_the_place_of_what_code_registers(self, context_of):
        register()
        models.Instruction.objects.create(name="polite", text="Be brief.")

        assert [one.text for one in resolve(context_of()).instructions] == ["Be brief."]

    def test_row_switches_off(self, context_of):
        register()
        models.Instruction.objects.create(name="polite", text="x", is_active=False)

        assert names(context_of()) == []

    def test_row_of_a_group(self, context_of, ada):
        sales = Group.objects.create(name="Sales")
        models.Instruction.objects.create(name="sales", text="x", group=sales)

        assert names(context_of()) == []
        ada.groups.add(sales)
        del ada.__dict__["_assistant_groups"]
        assert names(context_of()) == ["sales"]

    @pytest.mark.parametrize("name", ["Weekly", "a--b", "a_b", "-a", "a" * 65, "a b"])
    def test_wrong_name_is_refused(self, db, name):
        with pytest.raises(ValidationError, match="name"):
            models.Instruction.objects.create(name=name, text="x")

    @pytest.mark.django_db(transaction=True)
    def test_message_costs_one_query_and_a_change_is_seen(
        self, context_of, django_assert_num_queries, django_user_model
    ):
        rows = {
            models.Instruction: {"text": "x"},
            models.Skill: {"description": "d", "body": "b"},
            models.PromptCommand: {"description": "d", "text": "t"},
        }
        for model, values in rows.items():
            named = [model(name=f"r{n}", **values) for n in range(199)]
            model.objects.bulk_create(named)
            model.objects.create(name="last", **values)
        context = context_of()
        setup = resolve(context)
        assert len(setup.instructions) + len(setup.skills) == 400
        assert len(setup.commands) >= 200
        version.forget()  # as after the time for which it is kept
        with django_assert_num_queries(1):
            setup = resolve(context)
            assert (len(setup.instructions), len(setup.skills)) == (200, 200)
            assert len(setup.commands) >= 200

        models.Instruction.objects.get(name="r3").delete()
        assert len(resolve(context).instructions) == 199

    @pytest.mark.django_db(transaction=True)
    def test_change_of_another_process_is_seen(self, context_of):
        models.Instruction.objects.create(name="one", text="x")
        assert names(context_of()) == ["one"]
        models.Instruction.objects.filter(name="one").update(text="y")  # no signal
        models.ConfigurationVersion.objects.update(number=7)  # as that process did
        version.forget()

        assert [one.text for one in resolve(context_of()).instructions] == ["y"]

    @pytest.mark.django_db(transaction=True)
    def test_change_that_is_rolled_back_leaves_nothing(self, context_of):
        from django.db import transaction

        with pytest.raises(RuntimeError), transaction.atomic():
            models.Instruction.objects.create(name="gone", text="x")
            assert names(context_of()) == ["gone"]
            raise RuntimeError

        assert names(context_of()) == []


class TestParts:
    def parts(self, context, module=None):
        return taught_parts(resolve(context), module or ContextModule())

    def test_instruction_says_its_source(self, context_of):
        register(origin="shop.assistant")

        (part,), left_out = self.parts(context_of())

        assert (part.id, part.text, part.source) == (
            "instruction:polite",
            "Be polite.",
            "shop.assistant",
        )
        assert (part.cacheable, left_out) == (True, [])

    def test_text_that_is_made_is_not_stable(self, context_of):
        register(text=lambda context: f"On {context.page.path}")

        (part,), _none = self.parts(context_of())

        assert (part.text, part.cacheable) == ("On /admin/", False)

    def test_instruction_that_fails_is_left_out(self, context_of, caplog):
        register("broken", text=lambda context: 1 / 0)
        register()

        parts, left_out = self.parts(context_of())

        assert [part.id for part in parts] == ["instruction:polite"]
        assert left_out == ["instruction:broken"]
        assert "the function of instruction:broken failed" in caplog.text

    def test_instruction_that_hangs_is_left_out_and_soon_not_called(
        self, context_of, caplog, monkeypatch
    ):
        go_on, called = threading.Event(), []
        monkeypatch.setattr("ai_assistant.configuration.parts.FUNCTION_S", 0.05)

        def hang(context):
            called.append(context)
            go_on.wait(30)

        register("slow", text=hang, priority=1)
        register()
        try:
            for _step in range(4):
                parts, left_out = self.parts(context_of())
                assert [part.id for part in parts] == ["instruction:polite"]
                assert left_out == ["instruction:slow"]
        finally:
            go_on.set()
        assert len(called) == 2
        assert "the function of instruction:slow takes too long" in caplog.text

    def test_most_important_stay_where_not_all_fit(self, context_of):
        for number in range(4):
            register(f"n{number}", text=f"{number}" * 3000, priority=number)

        parts, left_out = self.parts(context_of())

        assert [part.id for part in parts] == ["instruction:n3", "instruction:n2"]
        assert left_out == ["instruction:n1", "instruction:n0"]

    @pytest.mark.row("Y02", "B07")
    def test_only_names_and_descriptions_of_skills(self, context_of):
        registry.add("skill", Skill(name="refund", description="Money back.", body="B"))

        (part,), _none = self.parts(context_of())

        assert part.text == (
            "Procedures of this site. Before work that one of them is about, read it "
            "with get_skill and follow it:\n- refund: Money back."
        )

    def test_skill_that_a_module_loads_is_there_in_full(self, context_of):
        registry.add("skill", Skill(name="refund", description="d", body="First ask."))

        class Orders(ContextModule):
            skills = ("refund", "no-such")

        (part,), _none = self.parts(context_of(), Orders())

        assert (part.id, part.text) == (
            "skill:refund",
            "Procedure 'refund' of this site:\n\nFirst ask.",
        )

    def test_prefix_is_the_same_on_all_pages_of_a_module(self, context_of):
        register("all")
        register("of-model", model="auth.user")
        registry.add("skill", Skill(name="one", description="d", body="b"))
        registry.add(
            "skill",
            Skill(
                name="two", description="d", body="b", placement=Placement(model="auth")
            ),
        )

        prefixes = {
            tuple(
                part.text for part in self.parts(context_of(path))[0] if part.cacheable
            )
            for path in (USERS, "/admin/auth/group/", "/admin/wiki/page/")
        }

        assert len(prefixes) == 1
