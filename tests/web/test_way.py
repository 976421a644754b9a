"""What a short answer costs, from the request to its end."""

import asyncio

import pytest

from ai_assistant import conf
from ai_assistant.engine.storage.units import in_db
from ai_assistant.types import ReplyEnd, TextDelta
from tests.web.ways import Site, counted, succeeded

WORDS = 20
STATEMENTS, COMMITS, HOPS = 30, 2, 7


async def words(_request):
    for number in range(WORDS):
        yield TextDelta(text=f"word{number} ")
        await asyncio.sleep(0)
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
    async def test_costs(self, site, door):
        await site.sign_in()
        await door()  # what is done once
        await site.ended()

        with counted() as costs:
            await door()
            await site.ended()

        assert await in_db(succeeded) == 2
        assert len(costs.statements) <= STATEMENTS, costs
        assert len(costs.commits) <= COMMITS, costs.commits
        assert len(costs.hops) <= HOPS, costs.hops
