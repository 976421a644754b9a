"""One bad turn of the layer or of a process at a time; the rest is `test_projection`."""

from dataclasses import replace

import pytest

from ai_assistant.models.change import ChangeSet, RowChange
from ai_assistant.providers import warmup
from ai_assistant.render.html.live.projection import Projection
from tests.render.html.dom import Page
from tests.render.html.tab import Tab, panel
from tests.render.html.test_projection import assert_whole


@pytest.fixture
def tab(story):
    """A tab that is attached to a run that has just begun."""
    story.ask("Hello")
    tab = Tab(story)
    tab.connect()
    return tab


def text(tab: Tab) -> str:
    return tab.page.by_id("aia-log").text()


def kinds(tab: Tab) -> list[str]:
    parts = tab.page.by_id(f"r-{tab.story.run.pk}-parts").children
    return [part.classes()[0] for part in parts if not isinstance(part, str)]


def state(tab: Tab) -> str:
    return tab.page.by_id("aia").attrs["data-state"]


class TestWarming:
    def test_warming_is_told_while_the_library_loads(self, story, monkeypatch):
        monkeypatch.setattr(warmup, "state", lambda: "warming")
        story.ask("Hello")
        tab = Tab(story)
        tab.connect()

        assert tab.page.by_id("aia").attrs["data-warming"] == ""

        monkeypatch.setattr(warmup, "state", lambda: "ready")
        story.say("Here.")
        story.flush()
        tab.look()

        assert "data-warming" not in tab.page.by_id("aia").attrs


class TestFrames:
    def test_show_text_before_it_is_stored(self, story, tab):
        story.say("Not yet ")
        story.say("stored.")

        tab.hear(story.frames)

        assert "Not yet stored." in text(tab)
        assert state(tab) == "streaming"

    def test_repeated_show_it_once(self, story, tab):
        story.say("One ")
        story.say("two.")

        tab.hear(story.frames * 3)
        story.flush()
        tab.look()
        tab.hear(story.frames)

        assert_whole(tab)

    def test_lost_are_made_up_by_the_rows(self, story, tab):
        for word in ("One ", "two ", "three "):
            story.say(word)

        tab.hear(story.frames[::2])
        assert "three" not in text(tab)
        story.flush()
        tab.look()

        assert_whole(tab)

    def test_frames_in_the_wrong_order_show_no_wrong_text(self, story, tab):
        for word in ("One ", "two ", "three "):
            story.say(word)

        tab.hear(story.frames[::-1])

        assert "two" not in text(tab)
        tab.hear(story.frames)
        assert "One two three" in text(tab)

    @pytest.mark.parametrize("attached", [True, False])
    def test_late_do_not_undo_a_stored_message(self, story, tab, attached):
        story.say("One ")
        story.say("two.")
        story._reply(("echo",))
        if not attached:
            tab = Tab(story)
            tab.connect()

        tab.hear(story.frames[:1])
        tab.look()

        assert_whole(tab)

    def test_frames_of_a_later_step_stand_below_what_came_before(self, story, tab):
        story.say("I look.")
        story._reply(("echo",))
        story.work("x")
        story.say("Found.")

        tab.hear(story.frames[-1:])

        assert kinds(tab) == ["aia-body", "aia-tool", "aia-body"]

    def test_frames_of_another_run_bring_it(self, story, tab):
        story.say("First.")
        story.succeed()
        story.ask("And now?")
        story.say("Second.")

        tab.hear(story.frames[-1:])

        assert "And now?" in text(tab)
        assert "First." in text(tab)
        assert "Second." in text(tab)

    def test_frames_after_the_end_change_nothing(self, story, tab):
        story.say("Half")
        story.stop_at_work()
        tab.look()
        before = tab.page.shown()
        frame = {**story.frames[0], "message": "11111111-1111-4111-8111-111111111111"}

        tab.hear([*story.frames, frame])

        assert tab.page.shown() == before


class TestTakeover:
    def test_message_of_the_dead_goes_when_it_is_replaced(self, story, tab):
        story.say("From the first process")
        story.flush()
        tab.hear(story.frames)
        assert "first process" in text(tab)

        story.crash()
        tab.look()

        assert "first process" not in text(tab)

    def test_text_that_was_never_stored_goes_with_the_next_step(self, story, tab):
        story.say("Never stored")
        tab.hear(story.frames)
        assert "Never stored" in text(tab)

        story.crash()
        story.flush()
        tab.look()

        assert "Never stored" not in text(tab)

    def test_text_that_was_never_stored_goes_with_the_end(self, story, tab):
        story.say("Never stored")
        tab.hear(story.frames)

        story.crash()
        story.end()
        tab.look()

        assert_whole(tab)
        assert "Never stored" not in text(tab)

    def test_two_answers_are_never_mixed(self, story, tab):
        story.say("Old answer")
        tab.hear(story.frames)
        story.crash()
        story.say("New answer")
        story.zombie_says(" goes on")

        tab.hear(story.frames)

        assert "New answer" in text(tab)
        assert "Old answer" not in text(tab)
        assert "goes on" not in text(tab)

    def test_frames_of_the_dead_are_passed_over_later_too(self, story, tab):
        story.say("Old answer")
        story.crash()
        story.say("New answer")
        story.succeed()
        tab.look()

        tab.hear(story.frames)

        assert_whole(tab)

    def test_stopped_keeps_no_more_than_was_stored(self, story, tab):
        story.say("Stored. ")
        story.flush()
        story.say("Only seen.")
        tab.hear(story.frames)
        assert "Only seen." in text(tab)
        story.stretch.pending.clear()  # the process dies with it

        story.stop_at_work()
        tab.look()

        assert_whole(tab)
        assert "Only seen." not in text(tab)


class TestRows:
    def test_read_at_once_keep_the_order_of_the_log(self, story, tab):
        story.say("I look.")
        story._reply(("echo",))
        story.work("x")
        story.think("Hm.")
        story.say("Once more.")
        story._reply(("no_such_tool",))
        story.say("Found.")
        story.flush()

        tab.look()

        assert kinds(tab) == [
            *("aia-body", "aia-tool", "aia-reasoning", "aia-body"),
            *("aia-tool", "aia-body"),
        ]
        assert_whole(tab)

    def test_reasoning_that_follows_text_stands_above_it(self, story, tab):
        story.say("First. ")
        tab.hear(story.frames)
        story.think("Hm.")
        tab.hear(story.frames)

        assert kinds(tab) == ["aia-reasoning", "aia-body"]
        assert "First." in text(tab)

    def test_tell_how_long_was_thought(self, story, tab):
        story.think("Hm.")
        story.say("So.")
        tab.hear(story.frames)
        assert "Thought briefly" in text(tab)

        story.succeed()
        tab.look()

        assert "Thought for 7 s" in text(tab)

    @pytest.mark.row("L14")
    def test_gather_calls_of_one_tool_across_steps(self, story, tab):
        for number in range(3):
            story._reply(("echo",))
            tab.look()
            assert kinds(tab) == ["aia-group" if number else "aia-tool"]
            story.work(str(number))
            tab.look()
            assert_whole(tab)

        assert "×3" in text(tab)

    def test_rows_of_a_refused_call_say_why(self, story, tab):
        story._reply(("no_such_tool", "broken"))

        tab.look()

        assert_whole(tab)
        assert "There is no tool" in text(tab)

    def test_read_twice_change_nothing(self, story, tab):
        story.say("Hello.")
        story._reply(("echo", "needs_approval"))
        story.work("x")
        tab.look()
        before = tab.page.shown()

        ops = Projection(story.conversation_id, story.user.pk, panel())
        tab.page.apply(ops.attach(story.run.pk, 1))
        tab.look()

        assert tab.page.shown() == before


class TestState:
    def test_state_follows_the_run(self, story, tab):
        seen = [state(tab)]

        def note():
            tab.look()
            seen.append(state(tab))

        story.say("I ask.")
        story._reply(("needs_approval",))
        story.park()
        note()
        story.decide("even")  # an even number of letters denies
        story.flush()
        note()
        story.say("Well.")
        story.flush()
        note()
        story.succeed()
        note()

        assert seen == ["thinking", "waiting-approval", "thinking", "streaming", "idle"]

    def test_state_has_an_end_only_with_its_text(self, story, tab):
        """The row of the run may be ahead of the events that were read."""
        story.say("All of it.")
        events = tab.projection._events
        story.flush()
        early = events()
        story.succeed()
        reads = [early]
        tab.projection._events = lambda: reads.pop() if reads else events()

        tab.look()

        assert state(tab) == "idle"
        assert_whole(tab)


class TestAttach:
    def test_attach_to_an_ended_run_that_is_drawn_changes_no_element(self, story):
        story.ask("Hello")
        story.say("Done.")
        story.succeed()
        tab = Tab(story)
        before = tab.page.shown()

        tab.connect()

        assert tab.page.shown() == before
        assert state(tab) == "idle"
        assert not tab.projection.is_active

    def test_attach_to_an_older_run_brings_those_after_it(self, story):
        story.ask("One")
        story.end()
        tab = Tab(story)
        story.ask("Two")
        story.say("Answer.")
        story.succeed()

        tab.connect()

        assert_whole(tab)

    def test_attach_accepts_what_the_browser_has_sent(self, story, tab):
        message = story.run.messages.get()

        assert tab.page.accepted == [message.key]

    def test_attach_to_another_users_conversation_brings_nothing(self, story, tab):
        stranger = Projection(story.conversation_id, story.user.pk + 1, panel())

        assert stranger.attach(None, 0) == []
        assert stranger.catch_up() == []

    @pytest.mark.parametrize("ending", ["succeed", "park"])
    def test_attach_to_what_has_ended_or_waits_tells_what_it_has_used(
        self, story, ending
    ):
        """A busy machine draws an answer first when all of it is there."""
        shown = panel()
        viewer = replace(shown.viewer, shows_usage=True)
        projection = Projection(
            story.conversation_id, story.user.pk, replace(shown, viewer=viewer)
        )
        story.ask("Hello")
        story.say("Here.")
        if ending == "park":
            story._reply(("needs_approval",))
        getattr(story, ending)()

        assert "aia-usage" in [op[1] for op in projection.attach(None, 0)]

    def test_attach_draws_the_title_and_takes_the_welcome_away(self, story):
        story.ask("<Count> them")
        page = Page('<div id="aia-empty">Ask</div>', title="New conversation")

        page.apply(
            Projection(story.conversation_id, story.user.pk, panel()).attach(None, 0)
        )

        assert page.by_id("aia-empty") is None
        assert page.by_id("aia-title").text() == "<Count> them"


class TestUndo:
    @pytest.fixture
    def change(self, story, tab):
        """What the run of the tab has changed; it has ended."""
        story.say("Done.")
        story.succeed()
        change = ChangeSet.objects.create(run=story.run, user=story.user)
        RowChange.objects.create(
            change_set=change,
            order=0,
            model="testapp.effect",
            object_id="1",
            kind="update",
            before={"value": "old"},
            after={"value": "new"},
        )
        tab.look()
        return change

    @staticmethod
    def undo(change, kind="undo"):
        """Undo it, as another tab does."""
        undo = ChangeSet.objects.create(run=change.run, user=change.user, kind=kind)
        change.rows.update(undone_by=undo if kind == "undo" else None)
        return undo

    @staticmethod
    def look(tab):
        """Let the tab follow; return what becomes of its banner."""
        ops = tab.projection.catch_up()
        tab.page.apply(ops)
        assert ["tell", "changed", [{"model": "testapp.effect", "pk": "1"}]] in ops
        return [html for _kind, target, html in ops if target == "aia-undo-banner"]

    @pytest.mark.row("R04")
    def test_marks_and_banner_follow_an_undo_of_another_tab(self, tab, change):
        assert "Undone" not in text(tab)

        self.undo(change)
        (banner,) = self.look(tab)

        assert "Undone" in text(tab)
        assert "data-aia-undo-all" not in banner
        assert tab.projection.catch_up() == []

    def test_redo_is_followed_too(self, tab, change):
        self.undo(change)
        self.look(tab)
        self.undo(change, "redo")
        (banner,) = self.look(tab)

        assert "Undone" not in text(tab)
        assert "data-aia-undo-all" in banner

    def test_tab_that_was_away_meanwhile(self, tab, change, story):
        self.undo(change)

        again = Projection(story.conversation_id, story.user.pk, panel())
        seq = story.run.next_seq - 1
        tab.page.apply(again.attach(story.run.pk, seq))
        tab.page.apply(again.catch_up())

        assert "Undone" in text(tab)
