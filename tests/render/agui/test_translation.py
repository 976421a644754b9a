"""Whatever the layer does to live frames, a client reads a good stream, and all of it."""

import pytest
from django.db import transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ai_assistant.models import Message
from ai_assistant.render.agui import messages
from ai_assistant.render.agui.messages import messages_of
from tests.render.agui.following import Client, Follower
from tests.render.html.story import Story
from tests.thorough import examples

WORDS = ["a ", "**b", "\n\n", "```\n", "<i>", "é😀 ", "data: x\n\n", "\u2028"]
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map("".join)
played = settings(
    max_examples=examples(8, many=200),
    deadline=None,
    phases=[Phase.generate],  # the database makes each example dear: no shrinking
    suppress_health_check=[*HealthCheck],
)


def deliver(draw, follower: Follower) -> None:
    """Hand live frames over as a bad layer does: some, late, twice, in any order."""
    sent = follower.story.frames
    if not sent:
        return
    indices = st.lists(st.integers(max(0, len(sent) - 8), len(sent) - 1), max_size=6)
    how = draw(st.sampled_from(["all", "none", "some"]))
    if how == "all":
        follower.hear(sent[follower.heard :])
        follower.heard = len(sent)
    elif how == "some":
        follower.hear([sent[at] for at in draw(indices)])


def stored_texts(story) -> list[str]:
    rows = Message.objects.filter(conversation_id=story.conversation_id)
    told = rows.filter(role="assistant").order_by("position")
    return [row.text for row in told if row.text]


def said_by(held) -> list[dict]:
    """What counts of a thread; thoughts that were cut off stay with a client."""
    return [one for one in held.messages if one["role"] in ("assistant", "tool")]


def assert_whole(follower: Follower) -> None:
    """The client holds what is stored, and nothing twice."""
    held = follower.client.held
    assert held.texts() == stored_texts(follower.story)
    stored = list(messages_of(follower.story.conversation))
    results = {m.tool_call_id: m.content for m in stored if m.role == "tool"}
    assert held.results() == results
    calls = [call for m in stored for call in getattr(m, "tool_calls", None) or ()]
    assert [(one["id"], one["function"]) for one in held.calls()] == [
        (one.id, one.function.model_dump()) for one in calls
    ]


@pytest.mark.broad
class TestStreams:
    @played
    @given(data=st.data())
    def test_tell_all_once_whatever_the_layer_does(self, user, data):
        with transaction.atomic():
            self._play(Story(user), data.draw)
            transaction.set_rollback(True)  # each example has the tables for itself

    def _play(self, story, draw):
        followers = [Follower(story), Follower(story)]
        for _ in range(draw(st.integers(3, 25))):
            action = draw(st.sampled_from(story.possible()))
            for follower in followers if action == "ask" and story.run else ():
                self._to_the_end(follower)  # of the run before
            getattr(story, action)(draw(texts))
            for follower in followers:
                self._follow(draw, follower)
        story.end()
        for follower in followers:
            deliver(draw, follower)
            self._to_the_end(follower)
            assert_whole(follower)

    def _follow(self, draw, follower):
        follower.connect()
        deliver(draw, follower)
        if draw(st.booleans()):
            follower.look()

    def _to_the_end(self, follower):
        """Read on until there is nothing more; each wait ends a stream."""
        for _ in range(2):
            follower.connect()
            follower.look()
        assert follower.segment.is_over
        follower.client.order.end()
        assert follower.client.order.faults == []

    @played
    @given(data=st.data())
    def test_streams_can_be_taken_up_wherever_they_were_lost(self, user, data):
        with transaction.atomic():
            self._lose(Story(user), data.draw)
            transaction.set_rollback(True)

    def _lose(self, story, draw):
        follower = Follower(story)
        story.ask("Hello")
        possible = [
            "say",
            "say",
            "think",
            "flush",
            "call_tools",
            "work",
            "crash",
            "succeed",
        ]
        for _ in range(draw(st.integers(2, 12))):
            able = [one for one in story.possible() if one in possible]
            getattr(story, draw(st.sampled_from(able or ["flush"])))(draw(texts))
            follower.connect()
            deliver(draw, follower)
            if draw(st.booleans()):
                follower.look()
        story.end()
        self._to_the_end(follower)
        whole = Client()
        whole.begin(follower.segment.names.run)
        for event, _place in follower.told:
            whole.take(event)
        for at in range(len(follower.told) - 1):
            assert said_by(follower.taken_up(at)) == said_by(whole.held), at


def test_lost_process_says_nothing_of_a_message_that_its_calls_have_named(story):
    follower = Follower(story)
    story.ask("Hello")
    follower.connect()
    story.think("Hm.")
    follower.hear(story.frames)
    story.call_tools("é😀")
    story.flush()
    follower.look()
    story.crash()  # of which the client has not heard yet
    story.zombie_says("Too late.")
    follower.hear(story.frames)

    assert follower.client.held.texts() == []


class TestSnapshot:
    def test_message_stored_while_it_is_read_is_told_once(self, story, monkeypatch):
        follower = Follower(story)
        story.ask("Hello")
        story.say("Half an answer")
        story.flush()
        follower.connect()
        follower.look()
        story.crash()
        tree_of = messages.tree_of

        def after_the_end(conversation):
            if not story.run.is_final:
                story.say("A whole answer")  # between the events and the rows
                story.succeed()
            return tree_of(conversation)

        monkeypatch.setattr(messages, "tree_of", after_the_end)

        follower.look()
        follower.look()

        assert_whole(follower)
