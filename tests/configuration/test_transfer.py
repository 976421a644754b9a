"""The configuration as one file: the same rows elsewhere, all of them or none."""

import json
from decimal import Decimal

import pytest
import yaml
from django.contrib.auth.models import Group

from ai_assistant import conf
from ai_assistant.configuration.profiles import keep_key
from ai_assistant.configuration.rows import refresh
from ai_assistant.configuration.transfer.applied import apply
from ai_assistant.configuration.transfer.document import (
    VERSION,
    Document,
    WrongFile,
    read,
    written,
)
from ai_assistant.configuration.transfer.kinds import KINDS, values_of
from ai_assistant.models import (
    Agent,
    AuditEntry,
    Budget,
    Instruction,
    Memory,
    PolicyRule,
    PromptCommand,
    Skill,
    Suggestion,
)
from ai_assistant.models.configuration import Profile
from ai_assistant.models.module import Module
from ai_assistant.registry import registry
from ai_assistant.types import ToolDefinition

KEY = "sk-canary-of-the-file"  # is in no file

pytestmark = [pytest.mark.django_db, pytest.mark.row("C11")]


@pytest.fixture
def configured(django_user_model):
    """A row of each kind, and what persons keep for themselves."""
    sales = Group.objects.create(name="Sales")
    ada = django_user_model.objects.create_user("ada")
    Instruction.objects.create(name="tone", text="Be brief.\nBe kind.", group=sales)
    row = Profile(name="fast", model="openai/fast", options={"temperature": 0.5})
    keep_key(row, KEY)
    row.save()
    limits = {"steps": 3, "run_s": 90, "tokens": 5000, "usd": "0.25"}
    made = {"pages": "auth.user", "tools": "search_objects"}
    Module.objects.create(name="returned", **made, **limits)
    Skill.objects.create(name="weekly", description="How", body="1. Look.")
    PromptCommand.objects.create(
        name="sum", text="Sum up {{ period }}", arguments={"period": {"type": "string"}}
    )
    PromptCommand.objects.create(name="mine", text="My own", owner=ada)
    Suggestion.objects.create(name="open", label="What is open?", priority=3)
    Agent.objects.create(name="analyst", steps=4, run_s=1.5, is_active=False)
    PolicyRule.objects.create(tools="shop_.*", decision="deny")
    PolicyRule.objects.create(tools="shop_.*", decision="deny", reason="twice")
    Budget.objects.create(scope="group", group=sales, window="day", usd=Decimal("2.50"))
    Budget.objects.create(scope="user", user=ada, window="month", tokens=9)
    Memory.objects.create(text="We close at six.", group=sales)
    Memory.objects.create(text="I am Ada.", owner=ada, author=ada)
    return ada


def stored():
    """Return all rows of the site as a file has them."""
    return {
        kind.section: [values_of(kind, row) for row in kind.rows()] for kind in KINDS
    }


def clear():
    for kind in KINDS:
        kind.rows().delete()


def sections(**rows):
    return Document(sections=rows)


class TestFile:
    @pytest.mark.parametrize("as_json", [False, True])
    def test_rows_come_to_an_empty_site_as_they_were(self, configured, as_json):
        before = stored()
        text = written(as_json=as_json)
        assert KEY not in text
        assert "encrypted" not in text
        clear()

        done = apply(read(text, "x.json" if as_json else "x.yaml"), name="x")

        assert done.problems == []
        assert len(done.rows) == 12
        assert stored() == before
        assert {kind.rows()[0].imported_from for kind in KINDS} == {"x"}

    def test_what_persons_keep_for_themselves_is_in_no_file(self, configured):
        text = written()

        empty = {kind.section: [] for kind in KINDS}
        apply(Document(sections=empty), name="x", removes=True)

        assert "My own" not in text
        assert "I am Ada." not in text
        assert PromptCommand.objects.get().owner == configured
        assert Memory.objects.get(owner=configured).text == "I am Ada."

    def test_file_is_to_be_read_by_people(self, configured):
        found = yaml.safe_load(written())

        assert found["version"] == VERSION
        assert found["instructions"] == [
            {"name": "tone", "group": "Sales", "text": "Be brief.\nBe kind."}
        ]
        assert found["budgets"][0] == {
            "scope": "group",
            "group": "Sales",
            "window": "day",
            "usd": "2.5",
        }
        assert "text: |-\n    Be brief.\n    Be kind." in written()

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            (f"version: {VERSION + 1}", f"has version {VERSION + 1}"),
            ("version: x", "is no number"),
            ("skills: []", "has no “version”"),
            ("[1]", "has no “version”"),
            ("version: 1\nspells: []", "no section “spells”"),
            ("version: 1\nskills: {a: 1}", "“skills” is no list"),
            ("version: 1\na: [", "is no YAML"),
            ("version: 1\nskills: [&a {name: x}, *a]", "has an alias"),
        ],
    )
    def test_file_that_is_none_is_refused(self, text, why):
        with pytest.raises(WrongFile, match=why):
            read(text)

    def test_json_that_is_none_is_refused(self):
        with pytest.raises(WrongFile, match="is no JSON"):
            read("version: 1", "config.json")


class TestApply:
    def test_second_time_nothing_differs(self, configured):
        document = read(written())

        assert apply(document, name="x").rows == []

    def test_changed_row_says_its_fields_and_that_it_came_from_the_file(self):
        Skill.objects.create(name="weekly", description="How", body="1. Look.")
        row = {
            "name": "weekly",
            "description": "How",
            "body": "2. Tell.",
            "priority": 1,
        }

        (one,) = apply(sections(skills=[row]), name="deploy.yaml").rows

        assert (one.status, one.name) == ("changed", "weekly")
        assert one.fields() == [
            ("priority", None, 1),
            ("body", "1. Look.", "2. Tell."),
        ]
        skill = Skill.objects.get()
        assert (skill.body, skill.imported_from) == ("2. Tell.", "deploy.yaml")

    def test_rows_that_the_file_does_not_have_go_only_if_told(self, configured):
        document = sections(skills=[], policy_rules=[])

        assert apply(document, name="x").rows == []
        done = apply(document, name="x", removes=True)

        assert [one.status for one in done.rows] == ["deleted"] * 3
        assert not Skill.objects.exists()
        assert not PolicyRule.objects.exists()
        assert Agent.objects.exists()  # its section is not in the file

    def test_trial_changes_nothing(self, configured):
        before = stored()

        done = apply(sections(skills=[]), name="x", removes=True, is_trial=True)

        assert len(done.rows) == 1
        assert stored() == before
        assert not AuditEntry.objects.exists()

    @pytest.mark.parametrize(
        ("section", "row", "problem"),
        [
            ("skills", {"name": "a"}, "skills “a”, body: This field cannot be blank."),
            ("skills", {"name": "Not One"}, "skills “Not One”, name: Use lower-case"),
            ("skills", {"name": "a", "colour": 1}, "“a”, colour: There is no such"),
            ("skills", {"name": ["a"]}, "name: This is one value, not several."),
            ("skills", {"name": "a", "owner": 1}, "“a”, owner: There is no such"),
            ("skills", {"name": "a", "group": "No"}, "There is no group “No” on this"),
            ("skills", {"name": "a", "is_active": "yes"}, "Write true or false."),
            (
                "agents",
                {"name": "a", "profile": "no"},
                "“a”, profile: There is no “no”",
            ),
            ("agents", {"name": "a", "steps": "many"}, "“a”, steps:"),
            ("budgets", {"scope": "site", "window": "day"}, "Give tokens, US dollars"),
            ("budgets", {"scope": "x", "window": "day", "tokens": 1}, "scope:"),
            ("policy_rules", {"tools": "(", "decision": "ask"}, "Pattern “(” is not"),
        ],
    )
    def test_one_wrong_row_and_nothing_is_applied(self, section, row, problem):
        good = {"name": "good", "text": "Good."}
        document = {"version": 1, "instructions": [good], section: [row]}

        done = apply(read(json.dumps(document)), name="x")

        assert problem in " ".join(done.problems)
        assert not Instruction.objects.exists()
        assert not AuditEntry.objects.exists()

    def test_same_name_twice_is_wrong(self):
        row = {"name": "a", "text": "A."}

        done = apply(sections(instructions=[row, row]), name="x")

        assert "instructions “a”, name: " in done.problems[0]
        assert not Instruction.objects.exists()

    def test_what_differs_by_now_is_not_applied(self, configured):
        document = sections(skills=[])
        shown = apply(document, name="x", removes=True, is_trial=True).digest()
        Skill.objects.create(name="other", description="How", body="1. Look.")

        done = apply(document, name="x", removes=True, shown=shown)

        assert done.problems == ["Something else differs now than was shown."]
        assert Skill.objects.count() == 2

    def test_each_change_is_audited_with_the_file(self, admin_user):
        apply(
            sections(instructions=[{"name": "a", "text": "A."}]),
            name="x.yaml",
            user=admin_user,
        )

        entry = AuditEntry.objects.get()
        assert (entry.action, entry.user) == ("settings.added", admin_user)
        assert entry.details["file"] == "x.yaml"
        assert entry.details["values"] == {"name": "a", "text": "A."}


class TestForms:
    """A file is refused for what the form of the page would refuse, in the same words."""

    @pytest.mark.parametrize(
        ("section", "row", "problem"),
        [
            ("instructions", {"text": "A.", "module": "no"}, "module: There is no mod"),
            ("agents", {"reasoning": "endless"}, "reasoning: Reasoning "),
            ("modules", {"pages": "shop.nothing"}, "pages: No page of this site fits"),
            ("modules", {}, "pages: Say on which pages it is."),
            ("modules", {"pages": "*" * 9}, "pages: “*********” is too long"),
            ("modules", {"pages": "auth.user", "tools": "no"}, "tools: There is no"),
            (
                "modules",
                {"pages": "auth.user", "data_models": "shop.no"},
                "data_models: There is no model “shop.no” any more",
            ),
            (
                "modules",
                {"pages": "auth.user", "read_only_permission": "shop.no"},
                "read_only_permission: There is no permission",
            ),
            (
                "modules",
                {"pages": "auth.user", "features": {"fly": True}},
                "features: There is no feature “fly”",
            ),
            (
                "profiles",
                {"model": "openai/x", "api_base": "http://10.0.0.1/v1"},
                "api_base: ",
            ),
            (
                "profiles",
                {"model": "openai/x", "reasoning": "endless"},
                "reasoning: ",
            ),
        ],
    )
    def test_what_a_form_refuses_a_file_cannot_bring(self, section, row, problem):
        done = apply(sections(**{section: [{"name": "a", **row}]}), name="x")

        assert f"{section} “a”, {problem}" in " ".join(done.problems)
        assert not any(kind.rows().exists() for kind in KINDS)

    def test_rule_that_loosens_what_code_says(self):
        rule = {"tools": "save_memory", "decision": "allow"}

        (problem,) = apply(sections(policy_rules=[rule]), name="x").problems

        assert "decision: The code of these tools is stricter" in problem

    def test_tool_that_its_importer_may_not_use(self, django_user_model):
        eva = django_user_model.objects.create_user("eva", is_staff=True)
        row = {"name": "a", "pages": "auth.user", "tools": "dissolve"}
        document = sections(modules=[row])
        dissolve = ToolDefinition.of(
            name="dissolve",
            handler=print,
            label="Dissolve",
            effect="write",
            description="Dissolve.",
            permission="auth.delete_group",
            origin="tests",
        )

        with registry.temporarily(dissolve):
            (problem,) = apply(document, name="x", user=eva).problems
            # In a shell nobody is signed in: who deploys may do more than any user.
            assert apply(document, name="x").problems == []
        assert "tools: You may not use “dissolve” yourself" in problem

    def test_what_a_row_names_may_be_in_the_same_file(self):
        rows = {
            "profiles": [{"name": "fast", "model": "openai/fast"}],
            "agents": [{"name": "analyst", "profile": "fast"}],
            "modules": [{"name": "returns", "pages": "auth.group", "agent": "analyst"}],
            "instructions": [{"name": "tone", "text": "A.", "module": "returns"}],
        }

        assert apply(sections(**rows), name="x").problems == []

    def test_profile_in_use_stays(self):
        Profile.objects.create(name="fast", model="openai/fast")
        refresh()
        Agent.objects.create(name="analyst", profile="fast")
        use = "profiles “fast”: The agent “analyst” uses it."
        off = {"name": "fast", "model": "openai/fast", "is_active": False}

        removed = apply(sections(profiles=[]), name="x", removes=True)
        switched_off = apply(sections(profiles=[off]), name="x")

        assert removed.problems == [use]
        assert switched_off.problems == [use.replace("fast”", "fast”, is_active")]
        both = apply(sections(profiles=[], agents=[]), name="x", removes=True)
        assert both.problems == []

    def test_what_is_only_tried_never_holds(self):
        row = {"name": "fast", "model": "openai/fast"}

        apply(sections(profiles=[row]), name="x", is_trial=True)

        assert "fast" not in conf.profiles()
