"""The guide for the owner of a site: its ten minutes are gone through, page by page."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse
from django.utils.html import strip_tags

from ai_assistant.models import Module, Profile
from ai_assistant.testing import run_assistant
from tests.docs.blocks import page, section

pytestmark = pytest.mark.django_db

GUIDE = " ".join(
    section(
        page("docs/site-owner.md"), "From nothing to a module in ten minutes"
    ).split()
)
VALUES = re.compile(r"`[^`]+`")
NAMES = re.compile(r"\*{1,2}([^*]+)\*{1,2}")  # of links, buttons and parts of pages
USERS = "/admin/auth/user/"
TOLD = "Call users people."
CAPTIONS = re.compile(r"<[^>]*\bvalue=\"([^\"]*)\"")


def written(value):
    """Return a value that the guide says to enter."""
    assert f"`{value}`" in GUIDE
    return value


class Owner:
    """A superuser who goes from page to page, and all that was to be read there."""

    def __init__(self, client):
        self.client, self.read = client, ""

    def open(self, path, /, **query):
        page = self.client.get(path, query).content.decode()
        shown = f"{strip_tags(page)} {' '.join(CAPTIONS.findall(page))}"
        self.read += " ".join(unescape(shown).split())
        return page

    def follow(self, page, text):
        """Return where the first link of these words leads."""
        words = rf"<a[^>]*href=\"([^\"]+)\"[^>]*>\s*{re.escape(text)}\s*</a>"
        found = re.search(words, page)
        assert found, f"There is no link {text!r}."
        return unescape(found[1])

    def add(self, name, /, **fields):
        there = reverse(f"admin:ai_assistant_{name}_add")
        self.open(there)
        answer = self.client.post(there, {"is_active": "on", "priority": "0", **fields})
        assert answer.status_code == 302, answer.context["errors"]


@pytest.fixture
def owner(client):
    user = get_user_model().objects.create_superuser("ada")
    client.force_login(user)
    return Owner(client)


def test_guide_leads_from_nothing_to_a_module(owner, settings):
    # The panel of a site without ASGI only says that nothing would answer.
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "EXECUTOR": "worker"}
    ada = get_user_model().objects.get()
    owner.open("/admin/")
    start = owner.open("/admin/ai_assistant/")

    owner.add(
        "profile",
        name=written("default"),
        model=written("openai/gpt-5-mini"),
        api_key="sk-of-the-guide",
        options="{}",
    )
    owner.open(reverse("admin:ai_assistant_profile_changelist"))
    row = Profile.objects.get()
    owner.open(reverse("admin:ai_assistant_profile_change", args=[row.pk]))
    row.delete()  # from here on a script answers

    modules = reverse("admin:ai_assistant_module_changelist")
    owner.open(modules)
    tried = owner.open(f"{modules}pages/", pages=written("auth.user"))
    assert "Users: list" in tried
    owner.add("module", name=written("people"), pages="auth.user", text=written(TOLD))
    owner.open(reverse("admin:ai_assistant_suggestion_changelist"))
    owner.add(
        "suggestion",
        name=written("staff"),
        label=written("Who is staff?"),
        module=written("people"),
    )
    owner.client.cookies["aia_ui"] = "o=1&m=dock&w=400&c="
    assert "Who is staff?" in owner.open(USERS)
    played = run_assistant(ada, USERS, "Who is staff?", replies=["Two people."])
    assert TOLD in played.prompt

    there = reverse("admin:ai_assistant_module_change", args=[Module.objects.get().pk])
    module = owner.open(there)
    beside = module[module.index("<code>change_object</code>") :]
    rule = owner.follow(beside, "Add a rule")
    given = {name: value[0] for name, value in parse_qs(urlsplit(rule).query).items()}
    assert given == {"tools": "change_object", "module": "people"}
    owner.open(rule)
    owner.add(
        "policyrule", **given | {"tools": written("change_.*"), "decision": "deny"}
    )
    played = run_assistant(ada, USERS, "Who is staff?", replies=["Two people."])
    assert not [name for name in played.offered if name.startswith(written("change_"))]

    prompt = owner.follow(start, "What the model is told")
    told = owner.open(prompt, user="ada", path=written(USERS), text="")
    assert TOLD in told
    assert "<code>change_" not in told
    runs = owner.open(reverse("admin:ai_assistant_run_changelist"))
    run = re.search(r'href="([^"]+/run/[^"]+/change/[^"]*)"', runs)
    assert "Step by step" in owner.open(run[1])
    assert "Model calls" in owner.open(owner.follow(start, "Reports"))

    named = NAMES.findall(VALUES.sub("", GUIDE))
    assert "Save and test" in named
    assert [name for name in named if name not in owner.read] == []
