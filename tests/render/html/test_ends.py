from datetime import timedelta

import pytest
from django.utils import timezone

from ai_assistant.models import Interrupt, Message, Run
from ai_assistant.render.html.transcript.footer import duration, run_footer
from tests.render.html.tab import whole_page


@pytest.fixture
def answered(story):
    story.ask("Hello")
    story.say("Found.")
    story.succeed()
    return story


def days(story) -> list[str]:
    page, _, _ = whole_page(story.conversation)
    return [node.text() for node in page.root.elements() if "aia-day" in node.classes()]


def ask_again(story, days_ago: float, number: int) -> None:
    story.ask(f"Question {number}")
    story.say("Answer.")
    story.succeed()
    then = timezone.now() - timedelta(days=days_ago)
    Run.objects.filter(pk=story.run.pk).update(created_at=then)
    Message.objects.filter(run=story.run).update(created_at=then)


class TestDuration:
    @pytest.mark.parametrize(
        ("seconds", "said"),
        [
            (0, "1 s"),
            (6.4, "6 s"),
            (59.6, "1 min 0 s"),
            (125, "2 min 5 s"),
            (3840, "1 h 4 min"),
        ],
    )
    def test_duration_is_short(self, seconds, said):
        assert duration(seconds) == said


class TestEnd:
    def test_end_says_when_and_how_long(self, answered):
        began = answered.run.finished_at - timedelta(seconds=6.2)
        Run.objects.update(created_at=began)

        page, _, _ = whole_page(answered.conversation)

        end = page.by_id(f"r-{answered.run.pk}-end")
        (time,) = [node for node in end.elements() if node.tag == "time"]
        assert time.attrs["datetime"] == answered.run.finished_at.isoformat(
            timespec="microseconds"
        ).replace("+00:00", "+00:00")
        assert "6 s" in end.text()

    def test_end_leaves_out_how_long_a_person_took(self, story):
        """A long task counts, also while the run itself is parked."""
        story.ask("Hello")
        story._reply(("needs_approval",))
        story.park()
        story.decide("a")
        story.end()
        end = story.run.finished_at
        began, asked, decided = (end - timedelta(seconds=one) for one in (70, 65, 30))
        Run.objects.update(created_at=began, running_s=1)
        Interrupt.objects.update(created_at=asked, decided_at=decided)

        assert run_footer(story.run)["duration"] == "35 s"

    def test_end_is_not_there_before_it(self, story):
        story.ask("Hello")
        story.say("Half")
        story.flush()

        page, _, _ = whole_page(story.conversation)
        assert run_footer(story.run) == {}
        assert page.by_id(f"r-{story.run.pk}-actions") is None

    def test_end_of_an_answer_without_text_has_nothing_to_copy(self, story):
        story.ask("Hello")
        story.fail()

        page, _, _ = whole_page(story.conversation)
        # It is asked again by the button of the error, and nobody rates an error.
        assert "Regenerate" not in page.root.text()
        # The details of the failure can be copied; an answer is not there.
        copied = [
            node.attrs.get("data-run")
            for node in page.root.elements()
            if node.attrs.get("data-aia-use") == "copy"
        ]
        assert copied == [str(story.run.pk)]
        assert page.by_id(f"r-{story.run.pk}-up") is None


class TestDays:
    def test_days_of_today_are_not_told(self, answered):
        assert days(answered) == []

    def test_part_the_messages(self, story):
        for number, days_ago in enumerate((40, 40, 1, 0, 0)):
            ask_again(story, days_ago, number)

        first, *rest = days(story)
        assert str(timezone.localdate().year)[:2] in first
        assert rest == ["Yesterday", "Today"]
