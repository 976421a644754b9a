"""What holds for a run says where it comes from."""

import pytest

import ai_assistant
from ai_assistant.models import Module, Run
from ai_assistant.registry import registry
from ai_assistant.render.html.cards.effective import effective_values

pytestmark = [pytest.mark.django_db, pytest.mark.row("H02")]


@pytest.fixture(autouse=True)
def profiles(settings):
    with registry.restored():
        own = {"MODEL": "openai/large", "REASONING": "low"}
        settings.AI_ASSISTANT = {
            **settings.AI_ASSISTANT,
            "PROFILES": {"default": own, "small": {**own, "MODEL": "openai/small"}},
            "LIMITS": {"STEPS": 12},
        }
        yield


def held(**fields):
    """Return the values of a run and their sources, by name."""
    found = effective_values(Run(**fields))
    return {one.name: (one.value, one.source) for one in found}


def test_of_a_run_without_an_agent_it_is_the_site():
    found = held()

    assert found["profile"] == ("default", "site")
    assert found["model"] == ("openai/large", "profile")
    assert found["reasoning"] == ("low", "profile")
    assert found["steps"] == (12, "site")
    assert "agent" not in found


def test_an_agent_goes_before_the_site():
    ai_assistant.agent(
        "short", profile="small", steps=3, reasoning="high", tools=["list_*"]
    )(lambda context: "")

    found = held(agent="short", profile="small")

    assert found["agent"] == ("short", "conversation")
    assert found["profile"] == ("small", "agent")
    assert found["reasoning"] == ("high", "agent")
    assert (found["steps"], found["tools"]) == ((3, "agent"), ("list_*", "agent"))
    assert found["run_s"][1] == "site"


def test_the_choice_of_the_user_goes_before_the_agent():
    ai_assistant.agent("short", profile="small")(lambda context: "")

    assert held(agent="short", profile="default")["profile"] == ("default", "site")
    assert held(profile="small")["profile"] == ("small", "conversation")


def test_a_profile_that_is_gone_has_no_model():
    assert "model" not in held(profile="gone")


def test_profile_of_the_module_is_said_to_be_that():
    Module.objects.create(name="admin-list", profile="small")

    assert held(module="admin-list", profile="small")["profile"] == ("small", "module")
    assert held(module="admin-form", profile="small")["profile"][1] == "conversation"


def test_a_module_tightens_and_loosens_nothing():
    Module.objects.create(name="tight", pages="auth.group", steps=4, usd="0.5")
    Module.objects.create(name="loose", pages="auth.user", steps=40)

    tight, loose = held(module="tight"), held(module="loose")

    assert (tight["steps"], loose["steps"]) == ((4, "module"), (12, "site"))
    assert (str(tight["usd"][0]), "usd" in loose) == ("0.5000", False)
