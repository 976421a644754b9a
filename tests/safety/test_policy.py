"""All rules for a tool are looked at: deny goes before ask, and ask before allow."""

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.db import transaction

from ai_assistant import conf
from ai_assistant.configuration.placement import group_names
from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.models.policy import PolicyRule
from ai_assistant.safety.policy.policy import rule_rows, tool_verdict, verdict_by_group
from ai_assistant.types import ToolDefinition

pytestmark = pytest.mark.django_db


def tool(effect="write", policy=None, name="tool", **options):
    made = {"handler": print, "description": "", "label": "", **options}
    return ToolDefinition.of(name=name, effect=effect, policy=policy, **made)


def decided(*arguments, **fields):
    return tool_verdict(tool(*arguments), **fields).decision


def rule(tools, decision, **fields):
    return PolicyRule.objects.create(tools=tools, decision=decision, **fields)


@pytest.fixture
def site(settings):
    def wish(policy):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "POLICY": policy}

    wish({})
    return wish


@pytest.fixture
def editors():
    return Group.objects.create(name="Editors")


@pytest.fixture
def ada(editors):
    user = get_user_model().objects.create_user("ada")
    user.groups.add(editors)
    return user


@pytest.mark.usefixtures("site")
class TestDefault:
    @pytest.mark.parametrize(
        ("effect", "decision", "reason"),
        [
            ("read", "allow", "Allowed because it only reads."),
            ("ui", "allow", "Allowed because it only changes the page."),
            ("write", "ask", "Asks because it changes data."),
            ("destructive", "ask", "Asks because it may remove data for good."),
        ],
    )
    def test_default_by_effect(self, effect, decision, reason):
        verdict = tool_verdict(tool(effect))

        assert (verdict.decision, verdict.reason) == (decision, reason)
        assert verdict.source == "default"

    def test_unknown_wish_of_a_tool(self):
        with pytest.raises(
            ImproperlyConfiguredAssistant, match=r"Tool 'tool' has the policy 'never'\."
        ):
            tool_verdict(tool("read", "never"))


class TestWished:
    @pytest.mark.parametrize(
        ("effect", "wished", "expected"),
        [
            ("read", "allow", "allow"),
            ("read", "ask", "ask"),
            ("read", "deny", "deny"),
            ("write", "allow", "allow"),
            ("write", "ask", "ask"),
            ("write", "deny", "deny"),
            ("destructive", "allow", "ask"),
            ("destructive", "ask", "ask"),
            ("destructive", "deny", "deny"),
        ],
    )
    @pytest.mark.parametrize("by", ["tool", "setting", "rule"])
    def test_wished_by(self, site, effect, wished, expected, by):
        site({"tool": wished} if by == "setting" else {})
        if by == "rule":
            rule("tool", wished)

        verdict = tool_verdict(tool(effect, wished if by == "tool" else None))

        assert verdict.decision == expected
        is_bent = wished != expected
        assert verdict.source == ("default" if is_bent else by)

    def test_site_goes_before_the_tool(self, site):
        site({"tool": "deny"})

        assert decided("read", "allow") == "deny"

    @pytest.mark.parametrize("name", ["other", "too", "tools", "TOOL", "a_tool"])
    def test_other_tools_are_not_meant(self, site, name):
        site({name: "deny"})

        assert decided("read") == "allow"

    def test_no_such_word(self, site):
        site({"tool": "never"})

        with pytest.raises(
            ImproperlyConfiguredAssistant,
            match=r"AI_ASSISTANT\['POLICY'\]\['tool'\] is 'never'\. Use 'allow'",
        ):
            tool_verdict(tool("read"))


class TestAllRules:
    @pytest.mark.parametrize("order", [1, -1])
    def test_deny_before_ask_before_allow(self, site, order):
        for wished in ["allow", "ask"][::order]:
            rule("t.*", wished)
        assert decided("read") == "ask"

        rule(".*", "deny")
        assert decided("read") == "deny"

    def test_settings_and_rows_are_one_set(self, site):
        site({"t.*": "ask"})
        rule("tool", "allow")

        assert decided("read") == "ask"

    def test_all_rules_of_a_module(self, site):
        rule("tool", "deny", module="order")

        assert decided("read", module="order") == "deny"
        assert decided("read", module="admin-list") == "allow"

    def test_all_rules_of_a_group(self, site, editors, ada):
        rule("tool", "deny", group=editors)
        nora = get_user_model().objects.create_user("nora")

        assert decided("read", user=ada) == "deny"
        assert decided("read", user=nora) == "allow"
        assert decided("read") == "allow"

    def test_all_rules_of_a_group_whose_name_was_asked_for_before(
        self, site, editors, ada
    ):
        rule("tool", "deny", group=editors)

        assert group_names(ada) == {"Editors"}  # a skill of that group, say
        assert decided("read", user=ada) == "deny"

    def test_all_rules_of_a_group_that_was_left(self, site, editors, ada):
        rule("tool", "allow", group=editors)
        assert decided("write", user=ada) == "allow"

        ada.groups.clear()

        again = get_user_model().objects.get(pk=ada.pk)
        assert decided("write", user=again) == "ask"

    @pytest.mark.parametrize(
        ("decision", "of_group", "reason", "sentence"),
        [
            ("deny", True, "Not theirs.", "Denied for group Editors: Not theirs."),
            ("deny", True, "", "Denied for group Editors."),
            ("deny", False, "", "Denied by a rule of this site."),
            (
                "ask",
                False,
                "Money is moved",
                "Asks because a rule of this site says so: Money is moved.",
            ),
            ("allow", True, "", "Allowed for group Editors."),
        ],
    )
    def test_reason(self, site, editors, ada, decision, of_group, reason, sentence):
        rule("tool", decision, group=editors if of_group else None, reason=reason)

        assert tool_verdict(tool(), user=ada).reason == sentence


@pytest.mark.usefixtures("site")
class TestBrokenPattern:
    @pytest.mark.parametrize(
        ("tools", "error"),
        [
            ("(", "is not a regular expression: missing )"),
            ("[a-", "is not a regular expression: unterminated character set"),
            ("*", "is not a regular expression: nothing to repeat"),
            ("(a+)+", "repeats more than one character, which may be very slow"),
            ("(a|a)*", "repeats more than one character, which may be very slow"),
            ("a?a?a?a?aaaa", "has more than 3 repeats and groups"),
            ("(a|a)(a|a)(a|a)(a|a)", "has more than 3 repeats and groups"),
            ("a{1,100}", "contains more than a pattern may"),
            ("(?:a)", "contains more than a pattern may"),
            (r"(a)\1", "contains more than a pattern may"),
            ("(?=a)a", "contains more than a pattern may"),
            ("shop tool", "contains more than a pattern may"),
            ("a" * 201, "is longer than 200 characters"),
        ],
    )
    def test_broken_pattern_is_refused_at_save(self, tools, error):
        with pytest.raises(ValidationError) as refused:
            rule(tools, "deny")

        (sentence,) = refused.value.message_dict["tools"][-1:]
        assert error in sentence or "at most 200 characters" in sentence
        assert not PolicyRule.objects.exists()

    @pytest.mark.parametrize(
        "tools",
        [
            "tool",
            "shop_.*",
            "(add|change)_.+",
            r"[a-z_]+\d",
            ".*_a|.*_b|c.*d.*e.*",
            "x-y",
        ],
    )
    def test_good_one_is_taken(self, tools):
        assert rule(tools, "deny").pk

    @pytest.mark.parametrize(
        ("decision", "expected"), [("deny", "deny"), ("ask", "ask"), ("allow", "ask")]
    )
    def test_broken_pattern_that_is_there_all_the_same_is_on_the_safe_side(
        self, decision, expected
    ):
        PolicyRule.objects.bulk_create([PolicyRule(tools="(", decision=decision)])
        rule_rows.forget()

        assert decided("write") == expected

    def test_broken_pattern_of_the_settings_is_on_the_safe_side(self, site):
        site({"(": "deny"})

        assert decided("read") == "deny"


@pytest.mark.usefixtures("site")
class TestKept:
    def test_kept_asks_the_database_once(self, django_assert_num_queries):
        tool_verdict(tool())

        with django_assert_num_queries(0):
            tool_verdict(tool())

    def test_change_counts_at_once(self):
        assert decided("read") == "allow"

        row = rule("tool", "deny")
        assert decided("read") == "deny"

        row.decision = "ask"
        row.save()
        assert decided("read") == "ask"

        row.delete()
        assert decided("read") == "allow"

    def test_what_was_rolled_back_is_forgotten(self):
        def fail():
            with transaction.atomic():
                rule("tool", "deny")
                assert decided("read") == "deny"
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()

        assert decided("read") == "allow"

    def test_change_behind_our_back_counts_after_its_time(self, monkeypatch):
        row = rule("tool", "deny")
        PolicyRule.objects.update(decision="ask")
        monkeypatch.setattr(conf, "POLICY_TTL_S", 0.0)

        assert decided("read") == "ask"
        assert row.pk


@pytest.mark.usefixtures("site")
class TestCodeIsStricter:
    """A rule of the admin tightens what code says, and loosens what code marks."""

    @pytest.mark.parametrize(
        ("policy", "said", "decision"),
        [
            ("ask", "allow", "ask"),
            ("deny", "allow", "deny"),
            ("deny", "ask", "deny"),
            ("ask", "deny", "deny"),
            ("allow", "ask", "ask"),
            (None, "allow", "allow"),
        ],
    )
    def test_row_only_tightens(self, policy, said, decision):
        rule("tool", said)

        assert decided("write", policy) == decision

    def test_reason_is_that_of_the_code(self):
        rule("tool", "allow")

        verdict = tool_verdict(tool(policy="ask"))
        assert verdict.reason == "Asks because the tool requires approval."

    def test_configurable_tool_is_loosened(self):
        rule("tool", "allow")

        assert tool_verdict(tool(policy="ask", configurable=True)).decision == "allow"

    def test_setting_of_the_operator_loosens(self, site):
        site({"tool": "allow"})

        assert decided("write", "ask") == "allow"


@pytest.mark.usefixtures("site")
class TestByGroup:
    def test_group_with_a_rule_has_a_verdict_of_its_own(self, editors):
        rule("tool", "deny", group=editors, reason="too new")
        rule("tool", "allow")
        rule("other", "deny", group=Group.objects.create(name="Sales"))

        found = verdict_by_group(tool())

        assert {name: one.decision for name, one in found.items()} == {
            "": "allow",
            "Editors": "deny",
        }
        assert found["Editors"].reason == "Denied for group Editors: too new."
