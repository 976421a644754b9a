"""The list of conversations: what each does, under which heading, which come first."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from ai_assistant.models import Conversation
from ai_assistant.models.run import FINAL, UNFINISHED, Run
from ai_assistant.web.panel.listing import LISTED, Wish, list_conversations
from tests.web.conftest import ask

FOR_PERSON = ("waiting_approval", "waiting_answer")


@pytest.fixture(autouse=True)
def _quiet(quiet):
    """Let what is queued stay queued."""


def kept(user, title, **fields):
    """Make a conversation; `updated_at` is not of now then."""
    used = fields.pop("updated_at", None)
    row = Conversation.objects.create(owner=user, title=title, **fields)
    if used:
        Conversation.objects.filter(pk=row.pk).update(updated_at=used)
    return row


def titles(user, wish=None):
    return [item["title"] for item in list_conversations(user, wish).items]


class TestListed:
    @pytest.mark.parametrize("state", [*UNFINISHED, *FINAL])
    def test_listed_says_what_each_does(self, people, state):
        run = ask(people["ada"], "Look")
        Run.objects.filter(pk=run.pk).update(state=state)

        (item,) = list_conversations(people["ada"]).items

        work = "" if state in FINAL else "run"
        assert item["busy"] == ("wait" if state in FOR_PERSON else work)

    def test_listed_asks_as_often_for_many(self, people, django_assert_num_queries):
        for text in ("One", "Two", "Three"):
            Run.objects.filter(pk=ask(people["ada"], text).pk).update(state="succeeded")

        with django_assert_num_queries(2):
            assert len(list_conversations(people["ada"]).items) == 3

    def test_listed_is_seen_in_another_browser(self, people, browser):
        run = ask(people["ada"], "Change it")
        Run.objects.filter(pk=run.pk).update(state="waiting_approval")

        page = browser("ada").get(reverse("ai_assistant:conversations"))

        assert (
            '<small data-busy="wait">Waiting for you</small>' in page.content.decode()
        )
        other = browser("bob").get(reverse("ai_assistant:conversations"))
        assert "Waiting for you" not in other.content.decode()

    def test_pinned_ones_come_first(self, people):
        now = timezone.now()
        kept(people["ada"], "Old", pinned_at=now, updated_at=now - timedelta(days=90))
        kept(people["ada"], "New")

        first, second = list_conversations(people["ada"]).items

        assert (first["title"], first["heading"]) == ("Old", "Pinned")
        assert (second["title"], second["heading"]) == ("New", "Today")

    def test_archived_ones_stand_apart(self, people):
        kept(people["ada"], "Put away", archived_at=timezone.now())
        kept(people["ada"], "In use")

        assert titles(people["ada"]) == ["In use"]
        assert titles(people["ada"], Wish(archived=True)) == ["Put away"]

    def test_deleted_ones_are_gone(self, people):
        kept(people["ada"], "Gone", deleted_at=timezone.now())

        assert titles(people["ada"]) == []
        assert titles(people["ada"], Wish(archived=True)) == []
        assert titles(people["ada"], Wish(said="gone")) == []

    def test_listed_comes_in_parts(self, people):
        for number in range(LISTED + 3):
            kept(people["ada"], f"Number {number}")

        first = list_conversations(people["ada"])
        rest = list_conversations(people["ada"], Wish(start=first.more))

        assert (len(first.items), first.more) == (LISTED, LISTED)
        assert (len(rest.items), rest.more) == (3, 0)
        shown = [item["title"] for item in first.items + rest.items]
        assert sorted(shown) == sorted(f"Number {n}" for n in range(LISTED + 3))

    def test_heading_stands_once_over_the_parts(self, people):
        for number in range(LISTED + 3):
            kept(people["ada"], f"Number {number}")

        parts = [
            list_conversations(people["ada"], Wish(start=start))
            for start in (0, LISTED)
        ]

        headings = [item["heading"] for part in parts for item in part.items]
        assert [one for one in headings if one] == ["Today"]


class TestUnread:
    def end(self, run, *, after_s=1):
        when = timezone.now() + timedelta(seconds=after_s)
        Run.objects.filter(pk=run.pk).update(state="succeeded", finished_at=when)

    def test_unread_says_where_an_answer_was_not_seen(self, people):
        self.end(ask(people["ada"], "Look"))

        (item,) = list_conversations(people["ada"]).items

        assert item["unread"] is True

    def test_unread_says_nothing_of_what_is_at_work(self, people):
        ask(people["ada"], "Look")

        (item,) = list_conversations(people["ada"]).items

        assert item["unread"] is False

    def test_unread_says_nothing_of_what_is_older_than_the_mark(self, people):
        run = ask(people["ada"], "Look")
        self.end(run)
        Conversation.objects.update(read_at=None)

        (item,) = list_conversations(people["ada"]).items

        assert item["unread"] is False
