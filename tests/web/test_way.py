"""What a short answer costs, from the request to its end."""

import asyncio

import pytest
from django.db import connection

from ai_assistant import conf
from ai_assistant.engine.storage.units import in_db
from ai_assistant.types import ReplyEnd, TextDelta
from tests.web.ways import Site, counted, succeeded

WORDS = 20
STATEMENTS, COMMITS, HOPS = 30, 2, 7
SLOWLY, SLOWLY_S = "slowly", 0.05  # what is said in a second is flushed in between


async def words(request):
    pause_s = SLOWLY_S if SLOWLY in str(request.messages) else 0
    for number in range(WORDS):
        yield TextDelta(text=f"word{number} ")
        await asyncio.sleep(pause_s)
    yield ReplyEnd(finish_reason="stop")


@pytest.fixture
def site(people, settings):
    profile = {
        "PROVIDER": "ai_assistant.testing.FunctionProvider",
        "MODEL": "played",
        "FUNCTION": words,
    }
    changed = {
        "PROFILES": {"default": profile},
        "EXECUTOR": "web",
        "RATES": {"USER": "1000/m"},
    }
    settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, changed)
    found = Site(people["ada"])
    with found.running():
        yield found


@pytest.fixture(params=["agui", "panel"])
def door(request, site):
    """A way to send a message, by its name."""
    return getattr(site, f"by_{request.param}")


class TestShortAnswer:
    async def test_short_answer_costs(self, site, door, monkeypatch):
        # A busy machine takes longer over it than until the first flush.
        monkeypatch.setattr(conf, "FLUSH_S", 60)
        await site.sign_in()
        await door()  # what is done once
        await site.ended()

        with counted() as costs:
            await door()
            await site.ended()

        assert await in_db(succeeded) == 2
        # PostgreSQL is told limits of each transaction, and asked for the time.
        more = 0 if connection.vendor == "sqlite" else 4
        assert len(costs.statements) <= STATEMENTS + more, costs
        assert len(costs.commits) <= COMMITS, costs.commits
        assert len(costs.hops) <= HOPS, costs.hops


class TestLongAnswer:
    async def test_stream_of_this_process_reads_no_rows(self, site):
        await site.sign_in()
        await site.by_agui(text=SLOWLY)
        await site.ended()

        with counted() as costs:
            told = await site.by_agui(text=SLOWLY)
            await site.ended()

        assert b"RUN_FINISHED" in told
        assert all(f"word{number} ".encode() in told for number in range(WORDS))
        assert [hop for hop in costs.hops if hop.endswith(" _store")], costs.hops
        assert not [hop for hop in costs.hops if hop.endswith(" read")], costs.hops
