"""Which model answers: chosen by the person, for one conversation."""

from uuid import uuid4

import pytest
from django.urls import reverse

from ai_assistant.models import Run
from tests.web.conftest import ask

pytestmark = [pytest.mark.usefixtures("quiet"), pytest.mark.row("ui 43")]
LARGE = {"MODEL": "b", "LABEL": "Large <model>"}


@pytest.fixture
def profiles(settings):
    """Have these profiles beside the default one: `profiles(large=LARGE)`."""

    def use(**more):
        own = {"default": {"MODEL": "a"}, **more}
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "PROFILES": own}

    return use


def foot(client, conversation=""):
    """Return the foot of the panel on its own page."""
    address = reverse("ai_assistant:full")
    page = client.get(address, {"conversation": str(conversation)}).content.decode()
    return page.partition("with your permissions.")[2].partition("</p>")[0]


def send(client, **fields):
    said = {"conversation": str(uuid4()), "key": str(uuid4()), "text": "Hello"}
    address = reverse("ai_assistant:send")
    return client.post(address, said | fields, headers={"HX-Request": "true"})


@pytest.mark.parametrize("more", [{}, {"own": {"MODEL": "c"}}])
def test_one_is_named_only(browser, people, profiles, more):
    profiles(**more)

    assert "<select" not in foot(browser("ada"))
    assert '<span class="aia-model">a</span>' in foot(browser("ada"))


def test_several_are_offered_by_their_labels(browser, people, profiles):
    profiles(large=LARGE, own={"MODEL": "c"})

    options = foot(browser("ada"))

    assert '<option value="default" selected>a</option>' in options
    assert '<option value="large">Large &lt;model&gt;</option>' in options
    assert "own" not in options


def test_the_chosen_one_answers_and_stays_for_the_conversation(
    browser, people, profiles
):
    profiles(large=LARGE)

    assert send(browser("ada"), profile="large").status_code == 204

    run = Run.objects.get()
    assert run.profile == "large"
    assert 'value="large" selected' in foot(browser("ada"), run.conversation_id)
    assert 'value="default" selected' in foot(browser("ada"))


def test_one_that_is_gone_is_not_chosen_any_more(browser, people, profiles):
    run = ask(people["ada"])
    Run.objects.update(profile="gone", state="succeeded")
    profiles(large=LARGE)

    assert 'value="gone"' not in foot(browser("ada"), run.conversation_id)


@pytest.mark.parametrize("name", ["own", "nobody", "x" * 9000, "large\n"])
def test_one_that_is_not_offered(browser, people, profiles, name):
    profiles(large=LARGE, own={"MODEL": "c"})

    response = send(browser("ada"), profile=name)

    assert "out of date" in response.content.decode()
    assert not Run.objects.exists()
