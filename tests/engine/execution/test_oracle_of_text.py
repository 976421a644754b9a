"""However a model cuts its text: the page shows what the database holds and it said."""

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ai_assistant.engine.execution.runner import execute
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.lifecycle.writer import Flusher
from ai_assistant.engine.storage.lease import this_process
from ai_assistant.engine.storage.listeners import listeners
from ai_assistant.engine.storage.notifications import group_name
from ai_assistant.engine.storage.units import in_db
from ai_assistant.models.run import Run
from ai_assistant.render.html.live.projection import Projection
from ai_assistant.types import ReasoningDelta, ReplyEnd, TextDelta, Usage
from ai_assistant.web.realtime.follower import Pump
from tests.engine.conftest import facts, said
from tests.render.html.dom import Page
from tests.render.html.tab import panel, whole_page
from tests.thorough import IS_THOROUGH, examples

pytestmark = [
    pytest.mark.django_db(transaction=True),
    *([pytest.mark.broad] if IS_THOROUGH else []),
]

WORDS = (
    *("amber ", "birch, ", "**bold** ", "`code` ", "\n\n", "\n- item ", "# Head\n"),
    *("| a | b |\n|---|---|\n| 1 | 2 |\n", "```py\nx = 1\n```\n", "<i>&amp;</i> "),
    *(
        "Grüße ",
        "世界 ",
        "👨\u200d👩 ",
        "e\u0301 ",
        "مرحبا ",
        "[link](https://example.org) ",
    ),
)
USAGE = Usage(input_tokens=11, output_tokens=7)


@st.composite
def chunkings(draw):
    """A text, cut anywhere, and after which pieces the model lets others go on."""
    # An answer of white space alone is a failed one.
    words = draw(st.lists(st.sampled_from(WORDS), max_size=120))
    text = "".join([*words, "end"])
    inside = st.integers(1, len(text))
    cuts = sorted({*draw(st.lists(inside, max_size=60)), len(text)})
    pieces = [text[a:b] for a, b in zip([0, *cuts], cuts, strict=False)]
    turns = draw(st.sets(st.integers(0, len(pieces))))
    thoughts = draw(st.lists(st.sampled_from(WORDS[:3]), max_size=3))
    return thoughts, pieces, turns


class Tab:
    """A page that was open before the message, and follows."""

    def __init__(self, user_id, conversation_id):
        self.group = group_name(user_id, conversation_id)
        self.page = Page()
        projection = Projection(conversation_id, user_id, panel())
        self.pump = Pump(projection, self.draw, lambda: None)

    async def draw(self, frame):
        self.page.draw(frame)

    async def __aenter__(self):
        await listeners().join(self.group, self.pump.follower)
        self.pump.start(None, 0)
        return self

    async def __aexit__(self, *_):
        await listeners().leave(self.group, self.pump.follower)
        await self.pump.stop()


@pytest.fixture
def cut(function_model):
    """What the model says next: thoughts, pieces, and where others get a turn."""
    now = []

    async def model(_request):
        (thoughts, pieces, turns), *_ = now
        for piece in thoughts:
            yield ReasoningDelta(text=piece)
        for number, piece in enumerate(pieces):
            if number in turns:
                await asyncio.sleep(0)
            yield TextDelta(text=piece)
        yield ReplyEnd(finish_reason="stop", usage=USAGE)

    function_model(model)  # once: each change of a setting stays until the test ends
    return now


def shows(tab, conversation):
    return tab.page.shown() == whole_page(conversation)[0].shown()


async def followed(hold, run):
    """Execute the run with an open page; return the page when it is quiet."""
    async with Tab(run.user_id, run.conversation_id) as tab:
        await execute(hold, Flusher())
        for _ in range(400):
            if await in_db(shows, tab, run.conversation):
                return tab.page
            await asyncio.sleep(0.02)
        return tab.page


@pytest.mark.timeout(3600)  # of `make thorough`
class TestOracleOfText:
    @settings(
        max_examples=examples(12, many=1000),
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(chunkings())
    def test_page_is_the_database_is_the_model(self, cut, submission, user, chunking):
        cut[:] = [chunking]
        hold = accept(submission(), owner=this_process()).hold
        run = Run.objects.select_related("conversation").get(pk=hold.run_id)

        page = asyncio.run(followed(hold, run))

        assert said(run) == "".join(chunking[1])
        assert page.shown() == whole_page(run.conversation)[0].shown()
        assert facts(run)[-1] == "RUN_FINISHED"
        assert len(page.ids()) == len(set(page.ids()))
