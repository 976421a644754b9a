from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage
from django.db import transaction
from django.db.models.signals import pre_save

from ai_assistant import conf
from ai_assistant.changes.capture.files import backup_storage, store_content
from ai_assistant.changes.capture.recorder import recording
from tests.changes import forms
from tests.changes.conftest import recorded
from tests.gallery.models import Work

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def hung(media):
    forms.hang()


def files_of(recorder):
    return [file for row in recorder.rows for file in row.files]


def scanned():
    return Work.objects.exclude(scan="").get()


class TestKept:
    def test_kept_is_the_old_content_of_a_replaced_file(self):
        recorder, _, _ = recorded(forms.file_replaced)

        (file,) = files_of(recorder)
        assert file.content.read() == b"old"
        assert (file.field, Path(file.name).name) == ("scan", "one.txt")
        assert file.sha256_before != file.sha256_after != ""
        assert recorder.gaps == []

    def test_kept_is_that_of_a_deleted_row(self):
        recorder, _, _ = recorded(lambda: scanned().delete())

        (file,) = files_of(recorder)
        assert (file.content.read(), file.sha256_after) == (b"old", "")
        assert recorder.gaps == []

    def test_kept_is_that_which_a_form_writes_over(self, monkeypatch):
        monkeypatch.setattr(Work._meta.get_field("scan"), "storage", Overwriting())
        name = scanned().scan.name

        def work():
            found = scanned()
            found.scan = ContentFile(b"over", name="one.txt")
            found.save()

        recorder, _, _ = recorded(work)

        (file,) = files_of(recorder)
        assert scanned().scan.name == file.name == name
        assert file.content.read() == b"old"
        assert file.sha256_before != file.sha256_after
        assert recorder.gaps == []

    def test_kept_is_that_which_a_receiver_of_the_site_deletes(self):
        def delete(*, instance, **_):
            scanned().scan.delete(save=False)

        def work():
            found = scanned()
            found.scan = ContentFile(b"new", name="two.txt")
            found.save()

        pre_save.connect(delete, sender=Work, weak=False)
        try:
            recorder, _, _ = recorded(work)
        finally:
            pre_save.disconnect(delete, sender=Work)

        (file,) = files_of(recorder)
        assert file.content.read() == b"old"
        assert recorder.gaps == []

    def test_kept_is_nothing_where_the_content_stays(self, monkeypatch):
        monkeypatch.setattr(Work._meta.get_field("scan"), "storage", Overwriting())

        def work():
            found = scanned()
            found.scan = ContentFile(b"old", name="one.txt")
            found.save(update_fields=["scan"])

        recorder, _, _ = recorded(work)

        assert files_of(recorder) == []

    def test_new_files_have_a_digest(self):
        def work():
            Work.objects.filter(scan="").first().scan.save("n.txt", ContentFile(b"n"))

        recorder, _, _ = recorded(work)

        (file,) = files_of(recorder)
        assert (file.sha256_before, file.content) == ("", None)
        assert len(file.sha256_after) == 64


class TestGap:
    @pytest.mark.parametrize("form", [forms.file_written_over, forms.file_removed])
    def test_gap_is_a_file_that_went_before_its_row(self, form):
        recorder, _, _ = recorded(form)

        assert [gap["kind"] for gap in recorder.gaps] == ["file"]

    def test_gap_is_a_file_that_is_too_large(self, monkeypatch):
        scanned().scan.save("large.txt", ContentFile(bytes(10_000)))
        forms.make_files_old()
        monkeypatch.setattr(conf, "CHANGED_BYTES", 5000)

        recorder, _, _ = recorded(forms.file_replaced)

        assert [gap["kind"] for gap in recorder.gaps] == ["file"]

    def test_gap_is_none_for_an_old_file_that_stays(self):
        recorder, _, _ = recorded(lambda: scanned().save())

        assert recorder.gaps == []


@pytest.fixture
def lost(media):
    """A row whose file has been missing for long."""
    work = scanned()
    Path(work.scan.path).unlink()
    return work


class TestMissing:
    def covered(self, rows, work):
        with transaction.atomic(), recording() as recorder:
            recorder.cover(rows)
            work()
        return recorder

    def test_missing_is_no_gap(self, lost):
        lost.title = "Renamed"

        recorder = self.covered([lost], lost.save)

        assert recorder.gaps == []
        assert [row.fields for row in recorder.rows] == [["title", "changed_at"]]

    def test_missing_is_no_gap_where_another_takes_its_place(self, lost):
        recorder = self.covered([lost], forms.file_replaced)

        (file,) = files_of(recorder)
        assert recorder.gaps == []
        assert (file.sha256_before, file.content) == ("", None)
        assert len(file.sha256_after) == 64

    def test_missing_is_no_gap_where_the_row_goes(self, lost):
        with transaction.atomic(), recording() as recorder:
            recorder.cover_delete([lost])
            lost.delete()

        assert recorder.gaps == []
        assert [row.kind for row in recorder.rows if row.model is Work] == ["delete"]

    def test_missing_is_a_gap_when_it_comes_back(self, lost):
        def work():
            Path(lost.scan.path).write_bytes(b"back")
            lost.save()

        recorder = self.covered([lost], work)

        assert [gap["kind"] for gap in recorder.gaps] == ["file"]

    def test_missing_is_a_gap_when_it_goes_meanwhile(self):
        work = scanned()

        def go():
            Path(work.scan.path).unlink()
            work.save()

        recorder = self.covered([work], go)

        assert [gap["kind"] for gap in recorder.gaps] == ["file"]

    def test_missing_is_a_gap_where_the_storage_cannot_tell(self, lost, monkeypatch):
        monkeypatch.setattr(Work._meta.get_field("scan"), "storage", Silent())

        recorder = self.covered([lost], lost.save)

        assert [gap["kind"] for gap in recorder.gaps] == ["file"]


class TestStash:
    def test_stash_is_not_below_what_is_served(self, settings, media):
        name = store_content(ContentFile(b"old"), "folder")

        path = Path(backup_storage().path(name))
        assert path.read_bytes() == b"old"
        assert Path(settings.MEDIA_ROOT) not in path.parents
        assert path.stat().st_mode & 0o077 == 0

    def test_stash_may_be_a_storage_of_the_site(self, settings):
        kind = "django.core.files.storage.memory.InMemoryStorage"
        settings.STORAGES = {**settings.STORAGES, "vault": {"BACKEND": kind}}
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "STASH_STORAGE": "vault"}

        assert type(backup_storage()).__name__ == "InMemoryStorage"

    def test_stash_has_nothing_of_what_was_only_tried_out(self, media):
        with transaction.atomic():
            with recording():
                forms.file_replaced()
            transaction.set_rollback(True)

        assert not list(media.glob(".assistant-stash/**/*"))


class Overwriting(FileSystemStorage):
    """As many sites have it: a file of the same name is written over."""

    def get_available_name(self, name, max_length=None):
        if self.exists(name):
            self.delete(name)
        return name


class Silent(FileSystemStorage):
    """Answers no question."""

    def exists(self, name):
        raise OSError("not now")
