"""What was said before what is drawn: in parts, and as far as a hit."""

import pytest
from django.urls import reverse

from ai_assistant.models import Run
from ai_assistant.render.html.transcript.thread import DRAWN_RUNS
from tests.web.conftest import ask

FIRST = 25 - DRAWN_RUNS  # of what is drawn above number 25
SCRIPT = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def _quiet(quiet):
    """Let what is queued stay queued."""


@pytest.fixture
def runs(people):
    """A conversation of 45 runs of ada's, the first one first."""
    asked = [ask(people["ada"], "Number 0")]
    for number in range(1, 45):
        Run.objects.filter(pk=asked[-1].pk).update(state="succeeded")
        matter = asked[0].conversation_id
        asked.append(ask(people["ada"], f"Number {number}", conversation=matter))
    return asked


def earlier(client, runs, before, to=""):
    said = {"conversation": str(runs[0].conversation_id), "before": before, "to": to}
    response = client.get(reverse("ai_assistant:earlier"), said, headers=SCRIPT)
    return response.content.decode()


def drawn(html, runs):
    return [number for number, run in enumerate(runs) if f'id="r-{run.pk}"' in html]


class TestEarlier:
    def test_earlier_comes_in_parts(self, browser, runs):
        ada = browser("ada")

        part = earlier(ada, runs, str(runs[25].pk))
        rest = earlier(ada, runs, str(runs[FIRST].pk))

        assert drawn(part, runs) == list(range(FIRST, 25))
        assert f'data-before="{runs[FIRST].pk}"' in part
        assert drawn(rest, runs) == list(range(max(0, FIRST - DRAWN_RUNS), FIRST))

    def test_earlier_ends_at_the_first(self, browser, runs):
        rest = earlier(browser("ada"), runs, str(runs[5].pk))

        assert drawn(rest, runs) == list(range(5))
        assert "data-before" not in rest

    def test_earlier_reaches_as_far_as_it_is_asked(self, browser, runs):
        html = earlier(browser("ada"), runs, str(runs[25].pk), str(runs[0].pk))

        assert drawn(html, runs) == list(range(25))

    def test_page_of_its_own_is_drawn_from_there(self, browser, runs):
        said = {"conversation": str(runs[0].conversation_id), "at": str(runs[3].pk)}

        page = browser("ada").get(reverse("ai_assistant:full"), said).content.decode()

        assert drawn(page, runs) == list(range(2, 45))

    def test_panel_offers_it(self, browser, runs):
        said = {"conversation": str(runs[0].conversation_id)}

        address = reverse("ai_assistant:page")
        html = browser("ada").get(address, said, headers=SCRIPT).content.decode()

        assert len(drawn(html, runs)) == DRAWN_RUNS
        assert f'data-before="{runs[-DRAWN_RUNS].pk}"' in html

    @pytest.mark.parametrize("to", ["x", "00000000-0000-4000-8000-000000000000"])
    def test_nonsense_is_passed_over(self, browser, runs, to):
        html = earlier(browser("ada"), runs, str(runs[25].pk), to)

        assert drawn(html, runs) == list(range(FIRST, 25))

    def test_earlier_of_another_person_is_not_there(self, browser, runs):
        said = {
            "conversation": str(runs[0].conversation_id),
            "before": str(runs[25].pk),
        }

        address = reverse("ai_assistant:earlier")
        assert browser("bob").get(address, said, headers=SCRIPT).status_code == 404
