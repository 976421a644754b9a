"""A model that says all at once: its first text is out at once, and others get turns."""

import asyncio

import pytest

from ai_assistant.engine.execution.runner import execute
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.lifecycle.writer import Flusher
from ai_assistant.engine.storage.lease import this_process
from ai_assistant.engine.storage.listeners import listeners
from ai_assistant.engine.storage.notifications import group_name
from ai_assistant.models.run import Run
from ai_assistant.types import ReasoningDelta, ReplyEnd, TextDelta
from tests.engine.conftest import said

pytestmark = pytest.mark.django_db(transaction=True)

PIECES = 5000


class Tab:
    """Notes what it hears of a run, and how far the model was by then."""

    def __init__(self, progress):
        self.progress = progress
        self.live = []
        self.seen_at = []  # as a task of its own, when it got its turn
        self.news = asyncio.Event()

    def hear(self, message):
        if message["type"] == "aia.live":
            self.live.append((message["text"], len(self.progress)))
            self.news.set()

    async def draw(self):
        while True:
            await self.news.wait()
            self.news.clear()
            self.seen_at.append(len(self.progress))


@pytest.fixture
def progress():
    """What the model has said so far, as a list."""
    return []


@pytest.fixture
def flood(progress, function_model):
    """A model that never waits."""

    async def model(_request):
        for number in range(PIECES):
            progress.append(number)
            yield TextDelta(text=f"word{number} ")
        yield ReplyEnd(finish_reason="stop")

    function_model(model)


def followed(submission, progress, beside=None):
    """Execute a run with a tab that follows it; return the tab."""
    hold = accept(submission(), owner=this_process()).hold
    run = Run.objects.get()
    group = group_name(run.user_id, run.conversation_id)

    async def scenario():
        tab = Tab(progress)
        await listeners().join(group, tab)
        tasks = [asyncio.create_task(tab.draw())]
        tasks += [asyncio.create_task(beside())] if beside else []
        await execute(hold, Flusher())
        for task in tasks:
            task.cancel()
        await listeners().leave(group, tab)
        return tab

    return asyncio.run(scenario())


class TestFlood:
    def test_first_piece_is_sent_before_the_second_is_there(
        self, flood, progress, submission
    ):
        tab = followed(submission, progress)

        assert tab.live[0] == ("word0 ", 1)
        assert tab.seen_at[0] == 1
        whole = "".join(text for text, _ in tab.live)
        assert whole == said(Run.objects.get())[: len(whole)]

    def test_others_get_their_turns(self, flood, progress, submission):
        turns = []

        async def beside():
            while True:
                turns.append(len(progress))
                await asyncio.sleep(0)

        followed(submission, progress, beside)

        during = [at for at in turns if 0 < at < PIECES]
        assert len(during) > 5

    def test_flood_is_drawn_in_few_pieces(self, flood, progress, submission):
        tab = followed(submission, progress)

        assert len(tab.live) < PIECES / 20

    def test_first_piece_of_each_text_is_sent_at_once(
        self, function_model, progress, submission
    ):
        async def model(_request):
            for kind, word in ((ReasoningDelta, "think"), (TextDelta, "say")):
                for number in range(100):
                    progress.append(number)
                    yield kind(text=f"{word}{number} ")
            yield ReplyEnd(finish_reason="stop")

        function_model(model)

        tab = followed(submission, progress)

        assert ("think0 ", 1) in tab.live
        assert ("say0 ", 101) in tab.live
