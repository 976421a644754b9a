"""A tab that is attached to another process than the one that executes the run."""

import re

import pytest

from tests.model_server.scripts import WORDS, sentence
from tests.render.html.dom import Page
from tests.servers.client import Person

pytestmark = [pytest.mark.broad, pytest.mark.redis]

TOKENS = 1500
WORD = re.compile("|".join(WORDS))


@pytest.mark.parametrize("rate", [0, 500], ids=["at full speed", "paced"])
def test_tab_of_another_process_loses_nothing(demo_server, redis_server, rate):
    executing = demo_server(redis_url=redis_server.url).start()
    other = demo_server(
        redis_url=redis_server.url, database_url=executing.database_url
    ).start()
    with (
        Person(url=executing.url).sign_in() as person,
        Person(url=other.url, conversation=person.conversation).sign_in() as looker,
        looker.listen() as tab,
    ):
        asked = f"[[script:stream tokens={TOKENS} rate={rate} delay=0.2]]"
        assert person.send(asked).status_code == 204
        tab.wait_for('"state": "idle"', timeout_s=90)

        page = Page()
        for _at, frame in tab.frames:
            page.draw(frame)
        (said,) = (one for one in page.root.elements() if "aia-body" in one.classes())
        assert WORD.findall(said.text()) == WORD.findall(sentence("stream", TOKENS))
        assert len(WORD.findall(said.text())) == TOKENS
