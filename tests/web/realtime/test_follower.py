"""What a tab is sent while text streams."""

import asyncio

import pytest

from ai_assistant.engine.storage.units import in_db
from ai_assistant.render.html.live.projection import Projection
from ai_assistant.web.realtime import follower
from tests.render.html.story import Story
from tests.render.html.tab import Tab
from tests.render.html.tab import panel as tab_panel

pytestmark = pytest.mark.usefixtures("quiet")

PIECES = [f"word{number} " for number in range(60)]


@pytest.mark.row("D11")
async def test_many_pieces_of_text_come_in_few_frames(people, monkeypatch):
    monkeypatch.setattr(follower, "TICK_S", 0.5)
    story = Story(people["ada"])
    await in_db(story.ask, "Hello")
    tab = await in_db(Tab, story)
    sent = asyncio.Queue()
    projection = Projection(story.conversation_id, story.user.pk, tab_panel())
    flow = follower.Pump(projection, sent.put, lambda: None)
    flow.start(None, 0)
    tab.page.draw(await sent.get())
    for piece in PIECES:
        await in_db(story.say, piece)

    for frame in story.frames:
        flow.follower.hear({**frame, "type": "aia.live"})
        await asyncio.sleep(0)

    frames = 0
    while PIECES[-1].strip() not in str(tab.page.shown()):
        tab.page.draw(await sent.get())
        frames += 1
    await flow.stop()
    assert frames <= 3
    assert "".join(PIECES).strip() in str(tab.page.shown())
