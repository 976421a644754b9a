import json
import uuid
from pathlib import Path

import pytest

from ai_assistant.changes.capture.files import backup_storage
from ai_assistant.changes.capture.store import store
from ai_assistant.models.change import FileChange, RowChange
from tests.changes import forms
from tests.changes.conftest import recorded
from tests.gallery.models import Artist, Museum, Specimen, Visitor, Work

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def hung(media):
    forms.hang()


@pytest.fixture
def stored(django_user_model):
    """Record what a function does and store it: `stored(work) -> ChangeSet`."""
    from ai_assistant.models.call import ToolCall
    from ai_assistant.models.conversation import Conversation, Message
    from ai_assistant.models.run import Run, Step

    user = django_user_model.objects.create_user("ann")
    conversation = Conversation.objects.create(owner=user)
    run = Run.objects.create(conversation=conversation, user=user)
    message = Message.objects.create(
        conversation=conversation, run=run, role="assistant", position=1
    )
    step = Step.objects.create(run=run, index=0, message=message)
    call = ToolCall.objects.create(
        run=run, step=step, position=0, name="tool", label="A tool"
    )
    return lambda work: store(recorded(work)[0], run, call, user)


class TestStore:
    @pytest.mark.row("R02")
    def test_store_keeps_each_row_in_order(self, stored):
        change_set = stored(forms.delete_set_null)

        rows = list(change_set.rows.all())
        assert [row.order for row in rows] == list(range(len(rows)))
        assert {(row.model, row.kind) for row in rows} == {
            ("gallery.museum", "delete"),
            ("gallery.work", "update"),
        }
        updated = [row for row in rows if row.kind == "update"]
        assert all(row.fields == ["museum_id"] for row in updated)
        assert (change_set.is_partial, change_set.gaps) == (False, [])

    def test_store_names_its_tool_and_user(self, stored):
        change_set = stored(forms.links_set)
        change_set.refresh_from_db()

        assert (change_set.tool, change_set.label) == ("tool", "A tool")
        assert change_set.user.username == "ann"

    def test_store_keeps_links(self, stored):
        change_set = stored(forms.links_set)

        (row,) = change_set.rows.all()
        assert (row.kind, row.model) == ("m2m_add", "gallery.work_styles")
        assert row.before is None
        assert set(row.after) == {"id", "work_id", "style_id"}

    def test_store_says_what_is_not_whole(self, stored):
        change_set = stored(forms.raw_sql)

        assert change_set.is_partial
        assert change_set.gaps == [{"table": "gallery_work", "kind": "update"}]

    @pytest.mark.parametrize("form", [forms.created_and_deleted, forms.changed_back])
    def test_store_is_none_where_nothing_has_changed(self, stored, form):
        assert stored(form) is None
        assert stored(lambda: Artist.objects.filter(pk=0).update(name="")) is None

    def test_store_stashes_files(self, stored):
        change_set = stored(forms.file_replaced)

        (file,) = FileChange.objects.filter(row__change_set=change_set)
        with backup_storage().open(file.stash) as kept:
            assert kept.read() == b"old"

    def test_store_says_when_a_file_cannot_be_stashed(self, stored, media, caplog):
        Path(media / ".assistant-stash").write_text("in the way")

        change_set = stored(forms.file_replaced)

        assert change_set.is_partial
        assert {gap["kind"] for gap in change_set.gaps} == {"file"}
        assert "cannot be kept" in caplog.text

    def test_store_never_has_a_secret_in_clear(self, stored):
        visitor = Visitor.objects.create(name="V", password="hunter2")

        def work():
            Visitor.objects.update(password="hunter3")
            visitor.delete()

        change_set = stored(work)

        images = list(change_set.rows.values("before", "after", "text", "object_id"))
        assert "hunter" not in json.dumps(images)
        assert "$sealed" in json.dumps(images)

    def test_store_keeps_a_thousand_rows_in_few_queries(
        self, stored, django_assert_max_num_queries
    ):
        Museum.objects.bulk_create([Museum(name=str(n)) for n in range(1000)])

        with django_assert_max_num_queries(60):
            change_set = stored(lambda: Museum.objects.update(name="M"))

        assert RowChange.objects.filter(change_set=change_set).count() == 1002

    def test_store_takes_all_values_of_a_database(self, stored):
        def work():
            Specimen.objects.create(
                a_float=float("inf"),
                a_binary=b"\x00",
                a_uuid=uuid.uuid4(),
                points=(1, 2),
            )
            Work.objects.update(price="12.30")

        change_set = stored(work)

        row = change_set.rows.get(model="gallery.specimen")
        assert row.after["a_float"] == {"$float": "inf"}
