"""The doctor says of each tool what becomes of its calls, and why."""

import json
from io import StringIO

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.core.management import CommandError, call_command
from django.db import DatabaseError

import ai_assistant
from ai_assistant.management.doctor_parts import judged_tools
from ai_assistant.models.policy import PolicyRule
from ai_assistant.registry import registry

pytestmark = pytest.mark.django_db


def doctor(*arguments):
    out = StringIO()
    try:
        call_command("assistant_doctor", *arguments, stdout=out)
    except SystemExit as left:
        return f"exit {left.code}\n{out.getvalue()}"
    return out.getvalue()


def line_of(tool, *arguments):
    """Return what the doctor says of a tool, with single spaces."""
    lines = (" ".join(line.split()) for line in doctor(*arguments).splitlines())
    return next(line for line in lines if line.startswith(f"{tool} "))


@pytest.fixture
def editor():
    user = get_user_model().objects.create_user("ed", is_staff=True)
    user.groups.add(Group.objects.create(name="Editors"))
    return user


class TestPolicy:
    def test_policy_of_every_tool(self):
        assert line_of("rename_section") == (
            "rename_section ask Asks because it changes data."
        )
        assert line_of("find_tools") == (
            "find_tools allow Allowed because it only reads."
        )

    def test_policy_for_a_user(self, editor):
        PolicyRule.objects.create(
            tools="find_.*",
            decision="deny",
            group=editor.groups.get(),
            reason="Not for them",
        )

        assert "\nPolicy for ed:\n" in doctor("--user", "ed")
        assert line_of("find_tools", "--user", "ed") == (
            "find_tools deny Denied for group Editors: Not for them."
        )
        assert line_of("find_tools").startswith("find_tools allow")

    def test_policy_without_the_permission(self, editor):
        with registry.restored():
            ai_assistant.tool(effect="read", name="secret", permission="auth.add_user")(
                lambda: 1
            )

            assert line_of("secret", "--user", "ed") == (
                "secret deny Denied without the permission 'auth.add_user'."
            )

    def test_policy_of_a_module(self):
        PolicyRule.objects.create(
            tools="find_tools", decision="ask", module="admin-list"
        )

        assert line_of("find_tools", "--module", "admin-list") == (
            "find_tools ask Asks because a rule of this site says so."
        )

    def test_unknown_user(self):
        with pytest.raises(CommandError, match="User 'nobody' does not exist"):
            doctor("--user", "nobody")

    @pytest.mark.parametrize("more", [(), ("--json",)])
    def test_unknown_module(self, more):
        with pytest.raises(
            CommandError, match=r"There is no module 'nosuch'\. There are: .*admin-list"
        ):
            doctor("--module", "nosuch", *more)

    def test_policy_not_in_the_json(self):
        assert set(json.loads(doctor("--json"))) == {"ok", "problems", "registered"}

    def test_nothing_where_the_tables_are_missing(self, monkeypatch):
        def refuse():
            raise DatabaseError("no such table")

        monkeypatch.setattr("ai_assistant.safety.policy.policy.site_rules", refuse)

        assert judged_tools(None) == {}


class TestIdleRules:
    def test_idle_rules_is_told_and_blocks_nothing(self):
        rule = PolicyRule.objects.create(tools="shop_.*", decision="deny")

        said = doctor()

        assert "doctor.rules: Policy rules of the admin need a look: " in said
        assert f"{rule.pk} (shop_.*: deny): There is no tool “shop_.*” yet" in said
        assert "A chat can work; see the problems above." in said

    def test_idle_rules_of_a_module_that_is_none(self):
        PolicyRule.objects.create(tools="find_.*", decision="ask", module="gone")

        assert "doctor.rules" in doctor()

    def test_others_are_fine(self):
        PolicyRule.objects.create(tools="find_.*", decision="ask", module="admin-list")

        assert "doctor.rules" not in doctor()
        assert "policy         rules of the site: 1" in doctor()
