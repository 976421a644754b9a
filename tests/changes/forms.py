"""The ways in which rows are changed, each as one function of the gallery."""

import os
import time
from pathlib import Path

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection
from django.db.models import F

from tests.gallery.models import Artist, Loan, Museum, Note, Painting, Show, Style, Work


def hang() -> None:
    """Make two of everything, so that there are always rows that must stay."""
    for number in (1, 2):
        artist = Artist.objects.create(name=f"Artist {number}")
        museum = Museum.objects.create(name=f"Museum {number}")
        style = Style.objects.create(name=f"Style {number}")
        work = Work.objects.create(title=f"Work {number}", artist=artist, museum=museum)
        painting = Painting.objects.create(
            title=f"Painting {number}", artist=artist, museum=museum
        )
        work.styles.add(style)
        painting.styles.add(style)
        Note.objects.create(target=work, text=f"Note {number}")
        show = Show.objects.create(name=f"Show {number}")
        Loan.objects.create(show=show, work=work, insured_usd=number)
    first, second = Artist.objects.all()
    second.teacher = first
    second.save()
    first.friends.add(second)
    Work.objects.filter(title="Work 1").get().scan.save("one.txt", ContentFile(b"old"))
    make_files_old()


def make_files_old() -> None:
    """Files of the same moment as the recording could have been written in it."""
    for work in Work.objects.exclude(scan=""):
        if default_storage.exists(work.scan.name):
            an_hour_ago = time.time() - 3600
            os.utime(default_storage.path(work.scan.name), (an_hour_ago, an_hour_ago))


def save():
    work = Work.objects.first()
    if work:
        work.title = "Renamed"
        work.save()


def save_some_fields():
    work = Work.objects.last()
    if work:
        work.price, work.title = 17, "Not saved"
        work.save(update_fields=["price"])


def save_expression():
    work = Work.objects.first()
    if work:
        work.year = F("year") + 1
        work.save()


def create():
    artist = Artist.objects.create(name="New")
    Work.objects.create(title="New", artist=artist)


def delete():
    Note.objects.all()[:1].get().delete() if Note.objects.exists() else None


def delete_cascade():
    artist = Artist.objects.first()
    if artist:
        artist.delete()


def delete_set_null():
    museum = Museum.objects.first()
    if museum:
        museum.delete()


def delete_queryset():
    Style.objects.filter(name__contains="1").delete()


def update_queryset():
    Work.objects.filter(artist__name__contains="2").update(year=2001)


def update_expression():
    Work.objects.update(year=F("year") + 1)


def bulk_create():
    artist = Artist.objects.first()
    if artist:
        Work.objects.bulk_create(
            [Work(title=f"Bulk {number}", artist=artist) for number in range(3)]
        )


def bulk_create_ignoring():
    Style.objects.bulk_create(
        [Style(name="Style 1"), Style(name="Style X")], ignore_conflicts=True
    )


def bulk_create_updating():
    Style.objects.bulk_create(
        [Style(name="Style 1"), Style(name="Style Y")],
        update_conflicts=True,
        unique_fields=["name"],
        update_fields=["name"],
    )


def bulk_update():
    works = list(Work.objects.all())
    for number, work in enumerate(works):
        work.year = 1800 + number
    Work.objects.bulk_update(works, ["year"])


def links_added():
    work, style = Work.objects.last(), Style.objects.first()
    if work and style:
        work.styles.add(style)


def links_removed():
    for work in Work.objects.all()[:1]:
        work.styles.remove(*work.styles.all())


def links_set():
    work = Work.objects.first()
    if work:
        work.styles.set(Style.objects.all())


def links_cleared():
    work = Work.objects.last()
    if work:
        work.styles.clear()


def links_cleared_from_behind():
    style = Style.objects.first()
    if style:
        style.works.clear()


def friends():
    artists = list(Artist.objects.all())
    if len(artists) > 1:
        artists[0].friends.clear()
        artists[1].friends.add(artists[-1], artists[0])


def through():
    show, work = Show.objects.first(), Work.objects.last()
    if show and work:
        show.works.add(work, through_defaults={"insured_usd": 5})


def child_saved():
    painting = Painting.objects.first()
    if painting:
        painting.title, painting.technique = "Child", "chalk"
        painting.save()


def child_made():
    artist = Artist.objects.last()
    if artist:
        Painting.objects.create(title="Child", artist=artist, technique="ink")


def child_deleted():
    painting = Painting.objects.last()
    if painting:
        painting.delete()


def child_updated():
    Painting.objects.filter(technique="oil").update(technique="wax", year=1)


def generic():
    work = Work.objects.last()
    if work:
        work.notes.create(text="Seen")
        work.notes.update(text="Seen again")


def raw_sql():
    with connection.cursor() as cursor:
        cursor.execute("update gallery_work set year = year + 100")


def raw_delete():
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM gallery_note")


def common_table():
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH old AS (SELECT id FROM gallery_work) "
            "UPDATE gallery_work SET year = 3 WHERE id IN (SELECT id FROM old)"
        )


def file_replaced():
    work = Work.objects.exclude(scan="").first()
    if work:
        work.scan.save("two.txt", ContentFile(b"new"))


def file_written_over():
    work = Work.objects.exclude(scan="").first()
    if work and default_storage.exists(work.scan.name):
        with Path(work.scan.path).open("wb") as file:
            file.write(b"over")
        work.save()


def file_removed():
    work = Work.objects.exclude(scan="").first()
    if work:
        work.scan.delete()


def created_and_deleted():
    Museum.objects.create(name="Gone").delete()


def changed_back():
    work = Work.objects.first()
    if work:
        year = work.year
        Work.objects.filter(pk=work.pk).update(year=year + 1)
        Work.objects.filter(pk=work.pk).update(year=year)


FORMS = [
    *(
        save,
        save_some_fields,
        save_expression,
        create,
        delete,
        delete_cascade,
        delete_set_null,
    ),
    *(delete_queryset, update_queryset, update_expression),
    *(bulk_create, bulk_create_ignoring, bulk_create_updating, bulk_update),
    *(links_added, links_removed, links_set, links_cleared),
    *(links_cleared_from_behind, friends, through),
    *(child_saved, child_made, child_deleted, child_updated, generic),
    *(raw_sql, raw_delete, common_table),
    *(file_replaced, file_written_over, file_removed),
    *(created_and_deleted, changed_back),
]
# Of these the images are whole; of the others there may be a gap.
WHOLE = {form.__name__ for form in FORMS} - {
    *("bulk_create_updating", "raw_sql", "raw_delete", "common_table"),
    *("file_written_over", "file_removed"),
}
# A file is not rolled back with its row.
IN_DATABASE = [form for form in FORMS if not form.__name__.startswith("file")]
