"""What a module keeps from the panel, it keeps from programs."""

from typing import ClassVar

import pytest

from ai_assistant import ContextModule
from ai_assistant.registry import registry
from tests.render.html.story import Story

THOUGHT = "A secret plan."


class SilentModule(ContextModule):
    matches: ClassVar = ["admin:index"]
    features: ClassVar = {"reasoning": False}


@pytest.fixture
def run(people):
    with registry.restored():
        registry.add_module(SilentModule())
        story = Story(people["ada"])
        story.ask("Hello")
        story.think(THOUGHT)
        story.say("Hello back.")
        story.succeed()
        yield story.run


def told(program, run) -> str:
    ada = program()
    messages = ada.get(f"conversations/{run.conversation_id}/messages/")
    events = ada.get(f"runs/{run.pk}/events/")
    numbers = [one["number"] for one in events.json()["events"]]
    assert numbers == list(range(1, len(numbers) + 1))
    return messages.text + events.text


def test_reasoning_is_in_the_api_where_it_may_be_shown(program, run):
    text = told(program, run)

    assert text.count(THOUGHT) == 2
    assert text.count("Hello back.") >= 2


def test_is_hidden_with_the_module(program, run):
    run.module = "silent"
    run.save()

    text = told(program, run)
    assert THOUGHT not in text
    assert text.count("Hello back.") >= 2
