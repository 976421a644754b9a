"""The pieces of a call, each held against what was shown and not done yet."""

import pytest

from ai_assistant.changes.capture.images import versions
from ai_assistant.changes.capture.store import store
from ai_assistant.changes.verify.pieces import Pieces, done_by, not_done
from ai_assistant.models.call import ToolCall
from ai_assistant.models.conversation import Conversation, Message
from ai_assistant.models.run import Run, Step
from tests.changes import forms
from tests.changes.conftest import recorded
from tests.changes.test_compare import along, change, field, new, one, shown
from tests.gallery.models import Artist, Note, Painting, Style, Visitor, Work

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def hung(media):
    forms.hang()


class Call:
    """A call that does its pieces, and each time may have been taken up anew."""

    def __init__(self, user, difference, *, is_new_each_time):
        conversation = Conversation.objects.create(owner=user)
        self.run = Run.objects.create(conversation=conversation, user=user)
        message = Message.objects.create(
            conversation=conversation, run=self.run, role="assistant", position=1
        )
        step = Step.objects.create(run=self.run, index=0, message=message)
        self.call = ToolCall.objects.create(
            run=self.run, step=step, position=0, name="tool"
        )
        self.user, self.shown = user, difference
        self.is_new_each_time = is_new_each_time
        self.pieces = Pieces(difference, self.call)

    def piece(self, work):
        """Do a piece; return what is unexpected in it, or "moved"."""
        recorder = recorded(work)[0]
        if self.is_new_each_time:
            self.pieces = Pieces(self.shown, self.call)
        if self.pieces.has_moved(recorder):
            return "moved"
        unexpected = self.pieces.unexpected(recorder)
        store(recorder, self.run, self.call, self.user)
        self.pieces.keep()
        return unexpected

    @property
    def left(self):
        return not_done(self.shown, self.call)


@pytest.fixture(params=[False, True], ids=["one attempt", "an attempt for each"])
def begin(request, django_user_model):
    user = django_user_model.objects.create_user("ann")
    return lambda *objects, **others: Call(
        user, shown(*objects, **others), is_new_each_time=request.param
    )


def update(obj, **values):
    return lambda: type(obj).objects.filter(pk=obj.pk).update(**values)


class TestRows:
    def test_field_by_field(self, begin):
        work = Work.objects.first()
        call = begin(change(work, title="T", year=1), versions=versions([work]))

        assert call.piece(update(work, title="T")) == []
        assert call.left == ["work"]
        assert call.piece(update(work, year=1)) == []
        assert call.left == []
        assert len(done_by(call.call)) == 1

    def test_rows_of_a_child_in_the_tables_of_both(self, begin):
        painting = Painting.objects.first()
        call = begin(
            change(painting, title="T", technique="ink"),
            versions=versions([painting]),
        )

        assert call.piece(update(painting, title="T")) == []
        assert call.piece(update(painting, technique="ink")) == []
        assert call.left == []

    def test_rows_with_a_key_that_is_no_number(self, begin):
        visitor = Visitor.objects.create(name="V", password="old")
        call = begin(
            change(visitor, name="W", password="new"), versions=versions([visitor])
        )

        assert call.piece(update(visitor, name="W")) == []
        assert call.piece(update(visitor, password="new")) == []
        assert call.piece(update(visitor, password="newer")) != []

    def test_rows_that_others_have_changed_before(self, begin):
        work = Work.objects.first()
        call = begin(change(work, title="T"), versions=versions([work]))
        update(work, year=1)()

        assert call.piece(update(work, title="T")) == "moved"

    def test_rows_that_others_have_changed_in_between(self, begin):
        work = Work.objects.first()
        call = begin(change(work, title="T", year=1), versions=versions([work]))
        call.piece(update(work, title="T"))
        update(work, year=2)()

        assert call.piece(update(work, year=1)) == "moved"

    def test_rows_that_are_made_are_counted(self, begin):
        call = begin(new(Artist, name="N"))

        def make():
            Artist.objects.create(name="N")

        assert call.left == ["artist"]
        assert call.piece(make) == []
        assert call.left == []
        assert call.piece(make) == ["artist “N” would be created too."]

    def test_rows_that_go_with_all_that_goes_along(self, begin):
        first, last = Artist.objects.order_by("pk")
        Note.objects.all().delete()
        call = begin(
            one(first, "delete"),
            one(last, "delete"),
            related=(
                along(Work, "delete", 4),
                along(Painting, "delete", 2),
                along(Work.shows.through, "delete", 2),
                along(Artist, "change", 1),
            ),
        )

        found = call.piece(first.delete)

        assert found == []
        assert len(call.left) == 1
        assert call.piece(last.delete) == []
        assert call.left == []

    def test_links(self, begin):
        work, style = Work.objects.first(), Style.objects.last()
        chosen = [str(style.pk)]
        call = begin(one(work, "change", (field(Work, "styles", chosen),)))

        assert call.piece(lambda: work.styles.add(style)) == []
        assert call.left == []
        assert call.piece(lambda: work.styles.add(Style.objects.create(name="S")))

    def test_rows_that_nobody_can_see(self, begin):
        call = begin(change(Work.objects.first(), title="T"))

        assert call.piece(forms.raw_sql) == [
            "Something changes in “works” that cannot be shown."
        ]

    def test_rows_of_an_action_of_the_site(self, begin):
        work = Work.objects.first()
        call = begin(one(work, "action"), versions=versions([work]))

        assert call.piece(forms.bulk_update) == []
        assert call.left == []
