"""What has broken in rows since they were saved: the doctor and the start page say it."""

import re
from functools import partial
from html import unescape
from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import reverse

from ai_assistant.configuration.problems.stored import rule_problems, taught_problems
from ai_assistant.configuration.profiles import keep_key
from ai_assistant.models import (
    Agent,
    Budget,
    Module,
    PolicyRule,
    Profile,
    PromptCommand,
    Skill,
    Suggestion,
)

pytestmark = pytest.mark.django_db

START = reverse("admin:app_list", args=["ai_assistant"])
NO_PRICE = {"name": "default", "model": "openai/of-our-own"}


def doctor():
    """Return what the doctor writes, on one line."""
    out = StringIO()
    try:
        call_command("assistant_doctor", stdout=out)
    except SystemExit as left:
        assert left.code == 1
    return " ".join(out.getvalue().split())


def profile(**fields):
    row = Profile(name="spare", model="openai/gpt-5-mini")
    keep_key(row, "sk-own")
    row.save()
    Profile.objects.update(**fields)


def module(**fields):
    Module.objects.create(name="teams", pages="auth.group")
    Module.objects.update(**fields)  # as no form would let it be


def rule(**fields):
    PolicyRule.objects.create(tools="find_tools", decision="deny")
    PolicyRule.objects.update(**fields)


def agent(**fields):
    Agent.objects.create(name="writer", text="Write.")
    Agent.objects.update(**fields)


def skill(**fields):
    Skill.objects.create(name="tidy-up", description="How.", body="1. Look.")
    Skill.objects.update(**fields)


def two_modules():
    for name in ("teams", "others"):
        Module.objects.create(name=name, pages="auth.group")


def budget_of_money():
    profile(**NO_PRICE)
    Budget.objects.create(scope="site", window="day", usd=5)


GONE_MODULE = "There is no module “gone” any more."
GONE_TOOL = "There is no tool “gone” any more."
GONE_PROFILE = "There is no profile “gone” any more."
BROKEN = {
    "tool of a module": (partial(module, tools="gone"), GONE_TOOL, GONE_TOOL),
    "profile of a module": (
        partial(module, profile="gone"),
        GONE_PROFILE,
        GONE_PROFILE,
    ),
    "page that does not compile": (
        partial(module, pages="admin:(["),
        "“admin:([” is no page.",
        "“admin:([” is no page.",
    ),
    "page that may hang": (
        partial(module, pages="a*b*c*d*e*f*g"),
        "Write a shorter pattern.",
        "Write a shorter pattern.",
    ),
    "page that is gone": (
        partial(module, pages="admin:nowhere_*"),
        "No page of this site fits “admin:nowhere_*”.",
        "No page of this site fits “admin:nowhere_*”.",
    ),
    "API operation of a module": (
        partial(module, api_operations="gone.list"),
        "There is no API operation “gone.list” any more.",
        "There is no API operation “gone.list” any more.",
    ),
    "two modules that fit equally": (
        two_modules,
        "others: The module “teams” fits some pages equally",
        "The module “teams” fits some pages equally",
    ),
    "rule that does not compile": (
        partial(rule, tools="("),
        "{pk} ((: deny): Pattern “(” is not a regular expression",
        "Write a simpler one. Until then the rule is for all tools.",
    ),
    "rule that may hang": (
        partial(rule, tools="(a+)+"),
        "{pk} ((a+)+: deny): Pattern “(a+)+” repeats",
        "which may be very slow",
    ),
    "module of a rule": (
        partial(rule, module="gone"),
        f"{{pk}} (find_tools: deny): {GONE_MODULE}",
        GONE_MODULE,
    ),
    "profile of an agent": (
        partial(agent, profile="gone"),
        f"writer: {GONE_PROFILE}",
        GONE_PROFILE,
    ),
    "tool of an agent": (
        partial(agent, tools="gone"),
        f"writer: {GONE_TOOL}",
        GONE_TOOL,
    ),
    "tool of a skill": (
        partial(skill, allowed_tools="get_* gone"),
        f"skill tidy-up: {GONE_TOOL}",
        GONE_TOOL,
    ),
    "module of a skill": (
        partial(skill, module="gone"),
        f"skill tidy-up: {GONE_MODULE}",
        GONE_MODULE,
    ),
    "key of another SECRET_KEY": (
        partial(profile, api_key_encrypted="x.y"),
        "The key of profile “spare” cannot be read",
        "a usable key of profile “spare” is missing",
    ),
    "key of another provider": (
        partial(profile, model="groq/x"),
        "The key of profile “spare” was entered for another address or provider.",
        "a usable key of profile “spare” is missing",
    ),
    "fallback of a profile": (
        partial(profile, fallback="gone"),
        "The fallback of profile 'spare' is 'gone', which is no profile",
        GONE_PROFILE,
    ),
    "price": (
        budget_of_money,
        "the price of profile 'default' is not known",
        "Its price is not known",
    ),
}


@pytest.mark.parametrize(
    ("breaks", "by_doctor", "at_start"), BROKEN.values(), ids=BROKEN
)
def test_it_is_said_by_the_doctor_and_on_the_start_page(
    admin_client, breaks, by_doctor, at_start
):
    def page():
        return unescape(admin_client.get(START).content.decode())

    assert at_start not in page()
    breaks()

    number = PolicyRule.objects.values_list("pk", flat=True).first()
    assert by_doctor.format(pk=number) in doctor()
    assert at_start in page()


ERRORS = re.compile(
    r'<ul class="errorlist[^>]* id="id_(\w+)_error"[^>]*>(.*?)</ul>', re.S
)
AT_FIELDS = {
    "tool of a module": (Module, "tools"),
    "profile of a module": (Module, "profile"),
    "page that does not compile": (Module, "pages"),
    "page that may hang": (Module, "pages"),
    "page that is gone": (Module, "pages"),
    "API operation of a module": (Module, "api_operations"),
    "rule that does not compile": (PolicyRule, "tools"),
    "rule that may hang": (PolicyRule, "tools"),
    "module of a rule": (PolicyRule, "module"),
    "profile of an agent": (Agent, "profile"),
    "tool of an agent": (Agent, "tools"),
    "tool of a skill": (Skill, "allowed_tools"),
    "module of a skill": (Skill, "module"),
    "fallback of a profile": (Profile, "fallback"),
}


@pytest.mark.parametrize(
    ("case", "model", "field"), [(k, *v) for k, v in AT_FIELDS.items()]
)
def test_it_is_said_at_its_field(admin_client, case, model, field):
    """Once, as soon as the form is opened, and no other field is said to be wrong."""
    breaks, _by_doctor, sentence = BROKEN[case]
    breaks()
    name = f"admin:ai_assistant_{model._meta.model_name}_change"
    url = reverse(name, args=[model.objects.get().pk])

    page = unescape(admin_client.get(url).content.decode())

    ((place, said),) = ERRORS.findall(page)
    assert place == field
    assert sentence in said
    assert page.count(sentence) == 1


def test_what_persons_keep_for_themselves_is_told_nobody(admin_client, admin_user):
    PromptCommand.objects.create(name="mine", text="Sum up.", owner=admin_user)
    PromptCommand.objects.update(module="gone")

    assert "0 prompt commands" in doctor()
    assert "There is no module" not in admin_client.get(START).content.decode()


def test_many_rows_take_no_query_each(django_assert_max_num_queries):
    for n in range(20):
        Module.objects.create(name=f"m{n}", label="M")
    Suggestion.objects.bulk_create(
        Suggestion(name=f"s{n}", text="x", module="gone") for n in range(20)
    )
    PolicyRule.objects.bulk_create(
        PolicyRule(tools="*", module="gone", decision="deny") for _n in range(20)
    )

    with django_assert_max_num_queries(12):
        said = [*rule_problems(), *taught_problems(Suggestion)]

    assert len(said) == 40
