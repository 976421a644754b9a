from types import SimpleNamespace

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ai_assistant.render.html.transcript import growing
from tests.render.html.story import Story
from tests.render.html.tab import Tab, whole_page
from tests.thorough import examples

WORDS = ["a ", "**b", "** ", "\n\n", "- x\n", "```\n", "<i>", "| a |\n|---|\n", "é😀 "]
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map("".join)


def assert_whole(tab: Tab) -> None:
    """The tab shows what a page load would show now, and nothing twice."""
    expected, _, _ = whole_page(tab.story.conversation)
    assert tab.page.shown() == expected.shown()
    assert len(tab.page.ids()) == len(set(tab.page.ids()))


def deliver(draw, tab: Tab) -> None:
    """Hand live frames over as a bad layer does: some, late, twice, in any order."""
    sent = tab.story.frames
    if not sent:
        return
    indices = st.lists(st.integers(max(0, len(sent) - 8), len(sent) - 1), max_size=6)
    how = draw(st.sampled_from(["all", "none", "some"]))
    if how == "all":
        tab.hear(sent[tab.heard :])
        tab.heard = len(sent)
    elif how == "some":
        tab.hear([sent[at] for at in draw(indices)])


def follow(draw, tab: Tab) -> None:
    if tab.projection is None:
        if draw(st.booleans()):
            tab.connect()
        return
    deliver(draw, tab)
    if draw(st.booleans()):
        tab.look()


@pytest.mark.broad
class TestFrames:
    @pytest.mark.row("D05")
    @pytest.mark.row("D11")
    @settings(
        max_examples=examples(4, many=80),
        deadline=None,
        suppress_health_check=[*HealthCheck],
    )
    @given(data=st.data())
    def test_show_the_same_as_the_rows_whatever_the_layer_does(
        self, user, monkeypatch, data
    ):
        # How long a thought took is known for sure only when it is stored.
        monkeypatch.setattr(growing, "time", SimpleNamespace(monotonic=lambda: 0.0))
        with transaction.atomic():
            self._play(Story(user), data.draw)
            transaction.set_rollback(True)  # each example has the tables for itself

    def _play(self, story, draw):
        tabs, poller = [], None
        for _ in range(draw(st.integers(3, 25))):
            action = draw(st.sampled_from(story.possible()))
            getattr(story, action)(draw(texts))
            if len(tabs) < 3 and draw(st.booleans()):
                tabs.append(Tab(story))
            poller = poller or Tab(story)
            for tab in tabs:
                follow(draw, tab)
                if story.all_is_stored() and tab.projection is not None:
                    tab.look()
                    assert_whole(tab)
            if draw(st.booleans()):
                poller.poll()
                assert_whole(poller)
        story.end()
        for tab in tabs:
            if tab.projection is None:
                tab.connect()
            deliver(draw, tab)
            tab.look()
            deliver(draw, tab)
            assert_whole(tab)
            assert not tab.projection.is_active
        poller.poll()
        assert_whole(poller)
