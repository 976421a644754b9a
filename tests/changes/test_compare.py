import pytest
from django.db import transaction

from ai_assistant.changes.capture.columns import raw
from ai_assistant.changes.capture.images import versions
from ai_assistant.changes.capture.recorder import recording
from ai_assistant.changes.staleness import stale_rows
from ai_assistant.changes.values import Changes, FieldChange, ObjectChange, Related
from ai_assistant.changes.verify.compare import unexpected_changes
from ai_assistant.changes.verify.description import changes_of
from ai_assistant.changes.verify.differences import (
    MissingDifference,
    UnexpectedDifference,
)
from ai_assistant.changes.verify.fingerprint import fingerprint
from tests.changes import forms
from tests.changes.conftest import recorded
from tests.gallery.models import (
    Artist,
    Museum,
    Note,
    Painting,
    Sketch,
    Style,
    Visitor,
    Work,
)
from tests.warehouse.models import Mark

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def hung(media):
    forms.hang()


def field(model, name, value):
    found = model._meta.get_field(name)
    attname = found.name if found.many_to_many else found.attname
    known = value if found.many_to_many else raw(found, value)
    return FieldChange(name=name, label=name, attname=attname, raw=known)


def change(obj, **values):
    fields = tuple(field(type(obj), name, value) for name, value in values.items())
    return one(obj, "change", fields)


def one(obj, kind, fields=()):
    return ObjectChange(
        kind=kind, model=obj._meta.label_lower, object_id=str(obj.pk), fields=fields
    )


def new(model, **values):
    fields = tuple(field(model, name, value) for name, value in values.items())
    return ObjectChange(kind="create", model=model._meta.label_lower, fields=fields)


def shown(*objects, **others):
    others.setdefault("total", len(objects))
    return Changes(title="Do it", objects=objects, **others)


def along(model, kind, count):
    label = model._meta.label_lower
    return Related(model=label, label=label, kind=kind, count=count)


def unexpected_of(difference, work):
    return unexpected_changes(difference, recorded(work)[0])


class TestChange:
    def test_change_as_shown_is_expected(self):
        work = Work.objects.first()

        assert unexpected_of(shown(change(work, title="Renamed")), forms.save) == []

    @pytest.mark.parametrize("model", [Work, Sketch])
    def test_change_of_a_proxy_is_one_of_its_table(self, model):
        work = model.objects.first()

        assert unexpected_of(shown(change(work, title="Renamed")), forms.save) == []

    def test_change_to_another_value_is_not(self):
        work = Work.objects.first()

        found = unexpected_of(shown(change(work, title="Other")), forms.save)

        assert found == [
            "work “Renamed by Artist 1” would get different values: title."
        ]

    def test_change_of_another_field_is_not(self):
        work = Work.objects.first()

        def write():
            Work.objects.filter(pk=work.pk).update(title="Renamed", year=1, price=2)

        found = unexpected_of(shown(change(work, title="Renamed")), write)

        assert found == [
            "work “Renamed by Artist 1” would have more fields changed: price, year."
        ]

    @pytest.mark.parametrize("value", [None, ""])
    def test_null_and_an_empty_text_are_one(self, value):
        first, last = (Mark.objects.create(name=name, remark="x") for name in "AB")
        Mark.objects.filter(pk=last.pk).update(remark=None)
        difference = shown(change(first, name="C", remark=value))

        def write():
            Mark.objects.filter(pk=first.pk).update(name="C", remark="")
            Mark.objects.filter(pk=last.pk).update(remark="")

        assert unexpected_of(difference, write) == []

    def test_change_of_a_field_that_the_site_sets_itself_is_expected(self, settings):
        side = {
            **settings.AI_ASSISTANT,
            "DATA": {"WRITTEN_ALONG": ["gallery.Work.year"]},
        }
        settings.AI_ASSISTANT = side
        work = Work.objects.first()

        def write():
            Work.objects.filter(pk=work.pk).update(title="Renamed", year=1)

        assert unexpected_of(shown(change(work, title="Renamed")), write) == []

    def test_change_of_another_row_is_not(self):
        first, last = Work.objects.first(), Work.objects.last()

        found = unexpected_of(shown(change(last, title="Renamed")), forms.save)

        assert len(found) == 2  # and the one that was shown stays
        assert first.pk != last.pk
        assert "would be changed too: title" in found[0]

    def test_change_of_what_a_field_counts_by_itself_is_expected(self):
        visitor = Visitor.objects.create(name="V")

        def write():
            visitor.name = "W"
            visitor.save()

        assert unexpected_of(shown(change(visitor, name="W")), write) == []

    def test_change_in_both_tables_of_a_child(self):
        painting = Painting.objects.first()
        difference = shown(change(painting, title="Child", technique="chalk"))

        assert unexpected_of(difference, forms.child_saved) == []
        assert unexpected_of(
            shown(change(painting, technique="chalk")),
            lambda: Work.objects.filter(pk=painting.pk).update(title="Else"),
        )

    def test_change_to_a_secret_is_compared_unopened(self):
        visitor = Visitor.objects.create(name="V", password="old")

        def write():
            Visitor.objects.update(password="new")

        assert unexpected_of(shown(change(visitor, password="new")), write) == []
        visitor.refresh_from_db()
        Visitor.objects.update(password="old")
        found = unexpected_of(shown(change(visitor, password="other")), write)
        assert len(found) == 1
        assert "new" not in found[0]

    def test_change_of_a_bulk_holds_for_those_not_shown(self):
        first, *others = Work.objects.all()
        difference = shown(
            change(first, year=2001),
            total=len(others) + 1,
            model="gallery.work",
            versions=versions([first, *others]),
        )

        def all_alike():
            Work.objects.update(year=2001)

        def one_otherwise():
            Work.objects.update(year=2001)
            Work.objects.filter(pk=others[0].pk).update(year=1)

        assert unexpected_of(difference, all_alike) == []
        forms.update_expression()
        assert len(unexpected_of(difference, one_otherwise)) == 1

    def test_change_by_raw_sql_is_not(self):
        assert unexpected_of(shown(), forms.raw_sql) == [
            "Something changes in “works” that cannot be shown."
        ]


class TestCreate:
    def test_create_as_shown_is_expected(self):
        difference = shown(new(Artist, name="New"), new(Work, title="New"))

        assert unexpected_of(difference, forms.create) == []

    def test_create_of_a_child_makes_its_parent(self):
        difference = shown(new(Painting, title="Child", technique="ink"))

        assert unexpected_of(difference, forms.child_made) == []

    def test_create_of_more_is_not(self):
        found = unexpected_of(shown(new(Artist, name="New")), forms.create)

        assert found == ["work “New by New” would be created too."]

    def test_create_with_another_value_is_not(self):
        difference = shown(new(Artist, name="Else"), new(Work, title="New"))

        found = unexpected_of(difference, forms.create)

        assert found == ["artist “New” would get different values: name."]


class TestDelete:
    def test_delete_with_its_cascade_is_expected(self):
        artist = Artist.objects.first()
        difference = shown(
            one(artist, "delete"),
            related=(
                along(Work, "delete", 2),
                along(Painting, "delete", 1),
                along(Note, "delete", 1),
                along(Work.shows.through, "delete", 1),
                along(Artist, "change", 1),
            ),
        )

        assert unexpected_of(difference, forms.delete_cascade) == []

    def test_delete_of_more_than_was_counted_is_not(self):
        artist = Artist.objects.first()
        painting_id = Painting.objects.first().pk
        difference = shown(one(artist, "delete"), related=(along(Work, "delete", 2),))

        found = unexpected_of(difference, forms.delete_cascade)

        style = Style.objects.first()
        assert sorted(found) == [
            f"A link would change too: work {painting_id}, style {style.pk}.",
            "artist “Artist 2” would be changed too: teacher.",
            "loan “Loan for 1 USD” would be deleted too.",
            "note “Note 1” would be deleted too.",
            "painting “Painting 1 by Artist 1” would be deleted too.",
        ]

    def test_instead_of_a_change_is_not(self):
        museum = Museum.objects.first()
        difference = shown(
            change(museum, name="M"), related=(along(Work, "change", 2),)
        )

        found = unexpected_of(difference, forms.delete_set_null)

        assert found == ["museum “Museum 1” would be deleted too."]


class TestLinks:
    def test_links_of_a_shown_field_are_expected(self):
        work = Work.objects.first()
        chosen = [str(style.pk) for style in Style.objects.all()]

        assert unexpected_of(shown(change(work, styles=chosen)), forms.links_set) == []

    def test_other_than_chosen_are_not(self):
        work = Work.objects.first()
        chosen = [str(Style.objects.first().pk)]

        found = unexpected_of(shown(change(work, styles=chosen)), forms.links_set)

        assert len(found) == 1
        assert found[0].startswith("A link would change too: work ")

    def test_links_of_another_object_are_not(self):
        work = Work.objects.last()
        chosen = [str(style.pk) for style in Style.objects.all()]

        assert unexpected_of(shown(change(work, styles=chosen)), forms.links_set)

    def test_links_of_a_new_object_are_expected(self):
        style = Style.objects.first()

        def write():
            forms.create()
            Work.objects.get(title="New").styles.add(style)

        made = new(Work, title="New", styles=[str(style.pk)])
        assert unexpected_of(shown(new(Artist), made), write) == []
        wrong = new(Work, title="New", styles=[])
        Work.objects.filter(title="New").delete()
        assert len(unexpected_of(shown(new(Artist), wrong), write)) == 1

    def test_links_to_what_goes_are_expected(self):
        style = Style.objects.first()

        assert unexpected_of(shown(one(style, "delete")), style.delete) == []


class TestOthers:
    def test_others_of_an_action_everything_is_expected(self):
        work = Work.objects.first()

        assert unexpected_of(shown(one(work, "action")), forms.raw_sql) == []

    def test_tables_written_along_are_expected(self, settings):
        side = {**settings.AI_ASSISTANT, "DATA": {"WRITTEN_ALONG": ["gallery.Artist"]}}
        settings.AI_ASSISTANT = side

        found = unexpected_of(shown(new(Work, title="New")), forms.create)

        assert found == []


def tried_out(work):
    """Return what is shown of a call that was tried out and taken back."""
    with transaction.atomic():
        with recording() as recorder:
            work()
        transaction.set_rollback(True)
    return changes_of(recorder, "Do it")


class TestExact:
    @pytest.mark.parametrize("form", forms.IN_DATABASE, ids=lambda form: form.__name__)
    def test_the_same_again_is_expected(self, form):
        difference = tried_out(form)

        assert stale_rows(difference.versions) == []
        assert unexpected_of(difference, form) == []

    @pytest.mark.parametrize("form", [forms.save, forms.create, forms.bulk_create])
    def test_anything_else_is_not(self, form):
        difference = tried_out(form)

        def more():
            form()
            Museum.objects.create(name="More")

        assert unexpected_of(difference, more) == [
            "Something other than what was shown would happen."
        ]

    def test_new_links_to_new_rows_are_the_same(self):
        def write():
            artist = Artist.objects.create(name="New")
            work = Painting.objects.create(title="New", artist=artist)
            work.styles.add(Style.objects.create(name="New"))
            work.notes.create(text="New")

        one, two = tried_out(write), None
        Artist.objects.create(name="takes a key")
        Style.objects.create(name="takes a key")
        two = tried_out(write)

        assert one.exact == two.exact

    def test_another_target_is_another(self):
        def link(museum):
            return lambda: Work.objects.filter(title="Work 1").update(museum=museum)

        museums = Museum.objects.order_by("-pk")
        one, two = (fingerprint(recorded(link(museum))[0]) for museum in museums)

        assert one != two


class TestChangesOf:
    def test_changes_of_says_what_changes_as_a_person_reads_it(self):
        museum = Museum.objects.last()

        def write():
            work = Work.objects.first()
            work.museum, work.price = museum, 1234
            work.save()

        difference = tried_out(write)

        (found,) = difference.objects
        assert (found.kind, found.model) == ("change", "gallery.work")
        assert [(f.label, f.before, f.after) for f in found.fields] == [
            ("Museum", "Museum 1", "Museum 2"),
            ("Price", "0.00", "1234.00"),
        ]
        assert (difference.total, difference.undoable) == (1, True)

    def test_changes_of_leaves_out_null_that_becomes_empty(self):
        Mark.objects.create(name="A")

        def write():
            Mark.objects.update(remark="")
            forms.save()

        assert [one.model for one in tried_out(write).objects] == ["gallery.work"]
        assert tried_out(write).total == 1

    def test_changes_of_hides_secrets(self):
        visitor = Visitor.objects.create(name="V", password="hunter2")
        difference = tried_out(lambda: Visitor.objects.update(password="hunter3"))

        assert "hunter" not in str(difference)
        assert difference.objects[0].object_id == str(visitor.pk)

    def test_changes_of_puts_the_tables_of_an_object_together(self):
        (found,) = tried_out(forms.child_saved).objects

        assert found.model == "gallery.painting"
        assert {f.name: f.after for f in found.fields} == {
            "title": "Child",
            "technique": "chalk",
        }

    def test_changes_of_shows_links_by_their_ends(self):
        (found,) = tried_out(forms.links_set).objects

        assert found.kind == "link"
        assert [f.after for f in found.fields] == ["Work 1 by Artist 1", "Style 2"]

    def test_changes_of_warns_of_gaps(self):
        difference = tried_out(forms.raw_sql)

        assert not difference.undoable
        assert difference.warnings == (
            "Something changes in “works” that cannot be shown.",
        )

    def test_changes_of_shows_the_first_of_many(self):
        Museum.objects.bulk_create([Museum(name=str(n)) for n in range(50)])
        difference = tried_out(lambda: Museum.objects.update(name="M"))

        assert (len(difference.objects), difference.total) == (20, 52)
        assert len(difference.versions) == 52


class TestMissing:
    """Less than was shown is not what was shown either."""

    def test_untouched_object_is_told(self):
        work = Work.objects.first()
        (said,) = unexpected_of(shown(change(work, title="Other")), lambda: None)
        assert "would stay as it is" in said

    def test_object_that_is_not_made_is_told(self):
        (said,) = unexpected_of(shown(new(Artist, name="New")), lambda: None)
        assert "would not be created" in said

    def test_object_that_is_not_deleted_is_told(self):
        work = Work.objects.first()
        (said,) = unexpected_of(shown(one(work, "delete")), lambda: None)
        assert "would stay as it is" in said

    @pytest.mark.parametrize(
        ("kind", "model", "sentence"),
        [
            ("delete", Note, "Only 1 of 2 gallery.note would be included."),
            ("change", Artist, "Only 1 of 2 gallery.artist would be included."),
            (
                "delete",
                Work.shows.through,
                "Only 1 of 2 gallery.loan would be included.",
            ),
        ],
    )
    def test_smaller_cascade_is_told(self, kind, model, sentence):
        artist = Artist.objects.first()
        counts = {
            (Work, "delete"): 2,
            (Painting, "delete"): 1,
            (Note, "delete"): 1,
            (Work.shows.through, "delete"): 1,
            (Artist, "change"): 1,
        }
        counts[model, kind] += 1
        related = tuple(along(one, kind, n) for (one, kind), n in counts.items())

        (said,) = unexpected_of(
            shown(one(artist, "delete"), related=related), forms.delete_cascade
        )

        assert said == sentence
        assert isinstance(said, MissingDifference)

    def test_targets_are_not_taken_for_what_goes_along(self):
        work, other = Work.objects.order_by("pk")[:2]
        difference = shown(
            one(work, "delete"),
            one(other, "delete"),
            related=(along(Work, "delete", 1),),
        )

        def delete():
            Work.objects.filter(pk__in=[work.pk, other.pk]).delete()

        said = unexpected_of(difference, delete)
        assert "Only 0 of 1 gallery.work would be included." in said


class TestKinds:
    """What comes beside, what does not come, and what is merely other."""

    def test_less_more_and_other(self):
        work = Work.objects.first()

        (less,) = unexpected_of(shown(change(work, title="New")), lambda: None)
        (more,) = unexpected_of(
            shown(change(work)),
            lambda: Work.objects.filter(pk=work.pk).update(title="N"),
        )
        (other,) = unexpected_of(
            shown(change(work, title="New")),
            lambda: Work.objects.filter(pk=work.pk).update(title="Other"),
        )

        assert [type(less), type(more), type(other)] == [
            MissingDifference,
            UnexpectedDifference,
            str,
        ]

    def test_kinds_of_what_was_tried_out(self):
        def rename():
            Museum.objects.update(name="M")

        difference = tried_out(rename)

        (less,) = unexpected_of(difference, lambda: None)
        (other,) = unexpected_of(difference, lambda: Museum.objects.update(name="N"))

        assert (type(less), less) == (MissingDifference, "Nothing would change.")
        assert (type(other), other) == (
            str,
            "Something other than what was shown would happen.",
        )
