"""A module may keep from the panel what the model thinks."""

from typing import ClassVar

import pytest

from ai_assistant import ContextModule
from ai_assistant.models import Message
from ai_assistant.registry import registry
from tests.render.html.tab import Tab, whole_page


class QuietModule(ContextModule):
    matches: ClassVar = ["admin:index"]
    features: ClassVar = {"reasoning": False}


@pytest.fixture(autouse=True)
def _quiet():
    with registry.restored():
        registry.add_module(QuietModule())
        yield


@pytest.fixture
def tab(story):
    story.ask("Hello")
    story.run.conversation.runs.update(module="quiet")
    tab = Tab(story)
    tab.connect()
    return tab


def text(page) -> str:
    return page.by_id("aia-log").text()


@pytest.mark.row("M02")
class TestWithoutReasoning:
    def test_nothing_of_it_is_drawn_live(self, story, tab):
        story.think("Secret plan.")
        tab.hear(story.frames)
        story.say("Hello back.")
        tab.hear(story.frames)

        assert "Hello back." in text(tab.page)
        assert "Secret plan." not in text(tab.page)
        assert "Thought" not in text(tab.page)

    def test_nothing_is_drawn_of_what_was_thought_before_the_page(self, story, tab):
        story.think("Secret plan.")
        story.flush()

        page, _run, _seq = whole_page(story.conversation)

        assert "Secret plan." not in text(page)

    def test_nothing_is_drawn_of_the_stored_message(self, story, tab):
        story.think("Secret plan.")
        story.say("Hello back.")
        tab.hear(story.frames)
        story.succeed()
        tab.look()

        page, _run, _seq = whole_page(story.conversation)

        assert [text(one).count("Hello back.") for one in (page, tab.page)] == [1, 1]
        assert "Thought" not in text(page) + text(tab.page)
        kept = Message.objects.get(role="assistant").parts
        assert [part["type"] for part in kept] == ["reasoning", "text"]
