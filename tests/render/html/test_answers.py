"""A tool's question and its answer stay on the card of its call."""

import pytest

from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.engine.interrupts.base import Answer
from ai_assistant.engine.interrupts.question import QUESTION
from ai_assistant.exceptions import Ask
from ai_assistant.models import Interrupt
from tests.render.html.tab import Tab, whole_page


@pytest.fixture
def asked(story):
    """Ask in the call of a tool, and take the answer, while a tab looks."""

    def ask(asked, **given):
        story.ask("Hello")
        tab = Tab(story)
        tab.connect()
        story._reply(("echo",))
        (call,) = story.open_calls()
        story._commit(lambda: QUESTION.ask(call, asked))
        story.park()
        tab.look()
        waits = Interrupt.objects.get(status="open")
        said = Answer(
            user_id=story.user.pk,
            interrupt_id=waits.pk,
            nonce=waits.nonce,
            decision="answer",
            **given,
        )
        answer(said)
        tab.look()
        return tab, f"c-{call.pk}"

    return ask


def badges(page, card):
    inside = page.by_id(card).elements()
    return [one.text().strip() for one in inside if "aia-badge" in one.classes()]


WHERE = {"options": [{"id": "b", "label": "Berlin"}, {"id": "l", "label": "<Lima>"}]}


@pytest.mark.row("Q02")
@pytest.mark.parametrize(
    ("ask", "given", "shown"),
    [
        (Ask("Which <one>?", **WHERE), {"text": "l"}, ["<Lima>"]),
        (Ask("Which <one>?", **WHERE), {"text": "Oslo"}, ["Oslo"]),
        (
            Ask("Which <one>?", kind="multi_select", **WHERE),
            {"chosen": ("b", "l")},
            ["Berlin", "<Lima>"],
        ),
        (Ask("Which <one>?", kind="confirm"), {"text": "no"}, ["No"]),
    ],
)
def test_answer_stands_on_the_card(story, asked, ask, given, shown):
    tab, card = asked(ask, **given)
    page, _run, _seq = whole_page(story.conversation)

    for drawn in (tab.page, page):
        assert "Which <one>?" in drawn.by_id(card).text()
        assert badges(drawn, card) == shown
