"""The list of conversations says which of them wait for the person, and which work."""

import pytest
from django.urls import reverse

from ai_assistant.models.run import FINAL, UNFINISHED, Run
from ai_assistant.web.listed import listed
from tests.web.conftest import ask

FOR_PERSON = ("waiting_approval", "waiting_answer")


@pytest.fixture(autouse=True)
def _quiet(quiet):
    """Let what is queued stay queued."""


class TestListed:
    @pytest.mark.parametrize("state", [*UNFINISHED, *FINAL])
    def test_says_what_each_does(self, people, state):
        run = ask(people["ada"], "Look")
        Run.objects.filter(pk=run.pk).update(state=state)

        (item,) = listed(people["ada"])

        work = "" if state in FINAL else "run"
        assert item["busy"] == ("wait" if state in FOR_PERSON else work)

    def test_asks_as_often_for_many(self, people, django_assert_num_queries):
        for text in ("One", "Two", "Three"):
            Run.objects.filter(pk=ask(people["ada"], text).pk).update(state="succeeded")

        with django_assert_num_queries(2):
            assert len(listed(people["ada"])) == 3

    def test_is_seen_in_another_browser(self, people, browser):
        run = ask(people["ada"], "Change it")
        Run.objects.filter(pk=run.pk).update(state="waiting_approval")

        page = browser("ada").get(reverse("ai_assistant:conversations"))

        assert '<small data-busy="wait">Waits for you</small>' in page.content.decode()
        other = browser("bob").get(reverse("ai_assistant:conversations"))
        assert "Waits for you" not in other.content.decode()
