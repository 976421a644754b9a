"""What a person does with a conversation in the list: name, pin, archive, delete."""

import json
from datetime import timedelta
from uuid import uuid4

import pytest
from django.urls import reverse
from django.utils import timezone

from ai_assistant.engine.intake.conversations import purge_deleted
from ai_assistant.models import Conversation, Run
from ai_assistant.models.audit import AuditEntry
from ai_assistant.models.change import ChangeSet
from tests.corpora import corpus
from tests.web.conftest import ask

SCRIPT = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def _quiet(quiet):
    """Let what is queued stay queued."""


@pytest.fixture
def ada(browser):
    return browser("ada")


@pytest.fixture
def matter(people):
    """A conversation of ada's whose run has ended."""
    run = ask(people["ada"], "The orders of March")
    Run.objects.filter(pk=run.pk).update(state="succeeded", finished_at=timezone.now())
    return run.conversation


def address(name):
    return reverse(f"ai_assistant:{name}")


def change(client, matter, does, *, headers=SCRIPT, **fields):
    values = {"conversation": str(matter.pk), "do": does, **fields}
    return client.post(address("change"), values, headers=headers)


def shown(client, **said):
    return client.get(address("conversations"), said, headers=SCRIPT).content.decode()


class TestRename:
    def name(self, client, matter, title, *, headers=SCRIPT):
        values = {"conversation": str(matter.pk), "title": title}
        return client.post(address("rename"), values, headers=headers)

    def test_rename_takes_a_name_on_one_line(self, ada, matter):
        response = self.name(ada, matter, "  Orders\n of  March ")

        matter.refresh_from_db()
        assert (matter.title, matter.is_renamed) == ("Orders of March", True)
        assert f'id="h-{matter.pk}"' in response.content.decode()

    @pytest.mark.parametrize(
        ("title", "said"),
        [
            ("", "Enter a name first."),
            (" \n ", "Enter a name first."),
            ("x" * 201, "This name has 201 characters; at most 200 are allowed."),
            (
                "a\0b",
                "This message contains characters that are not text. Remove them.",
            ),
        ],
    )
    def test_rename_says_why_not(self, ada, matter, title, said):
        response = self.name(ada, matter, title)

        matter.refresh_from_db()
        assert (matter.title, matter.is_renamed) == ("The orders of March", False)
        assert (response.status_code, said in response.content.decode()) == (200, True)

    def test_rename_works_without_a_script(self, ada, matter):
        page = ada.get(address("rename"), {"conversation": str(matter.pk)})
        assert "<form" in page.content.decode()

        response = self.name(ada, matter, "Named", headers={})

        assert (response.status_code, response["Location"]) == (
            302,
            address("conversations"),
        )
        assert "Named" in ada.get(response["Location"]).content.decode()
        assert self.name(ada, matter, "", headers={}).status_code == 400

    def test_rename_of_another_person_is_not_there(self, browser, matter):
        assert self.name(browser("bob"), matter, "Mine").status_code == 404
        matter.refresh_from_db()
        assert matter.title == "The orders of March"

    def test_rename_over_the_api_stays_too(self, ada, matter):
        where = f"/assistant/api/conversations/{matter.pk}/"
        body = json.dumps({"title": "Named"})
        response = ada.patch(where, body, content_type="application/json")

        matter.refresh_from_db()
        assert (response.status_code, matter.is_renamed) == (200, True)

    @pytest.mark.servers
    def test_naughty_names_are_inert(self, ada, people):
        names = corpus("BLNS")
        rows = [
            Conversation(owner=people["ada"], title=name.replace("\0", "")[:200])
            for name in names
        ]
        Conversation.objects.bulk_create(rows)

        pages = [
            shown(ada, **{"from": str(start)}) for start in range(0, len(rows), 25)
        ]

        html = "".join(pages)
        assert html.count('<li id="h-') == len(rows)
        own = html.count("<svg")
        assert html.count("<script") == html.count("<img") == html.count("<iframe") == 0
        assert own == html.count("</svg>")


class TestFlags:
    @pytest.mark.parametrize(
        ("does", "field", "undo"),
        [("pin", "pinned_at", "unpin"), ("archive", "archived_at", "unarchive")],
    )
    def test_flags_are_set_and_taken_back(self, ada, matter, does, field, undo):
        change(ada, matter, does)
        matter.refresh_from_db()
        assert getattr(matter, field) is not None

        change(ada, matter, undo)
        matter.refresh_from_db()
        assert getattr(matter, field) is None

    def test_flags_do_not_count_as_a_use(self, ada, matter):
        before = matter.updated_at

        change(ada, matter, "pin")

        matter.refresh_from_db()
        assert matter.updated_at == before

    @pytest.mark.parametrize("does", ["pin", "delete", "undo", "archive"])
    def test_flags_of_another_person_are_not_there(self, browser, matter, does):
        assert change(browser("bob"), matter, does).status_code == 404
        matter.refresh_from_db()
        assert (matter.pinned_at, matter.deleted_at, matter.archived_at) == (None,) * 3

    @pytest.mark.parametrize("does", ["", "rename", "drop table"])
    def test_nonsense_does_nothing(self, ada, matter, does):
        assert change(ada, matter, does).status_code == 404


class TestDelete:
    def test_delete_offers_to_undo_it(self, ada, matter):
        html = change(ada, matter, "delete").content.decode()

        assert f'id="h-{matter.pk}"' not in html
        assert 'value="undo"' in html
        assert f'id="h-{matter.pk}"' in change(ada, matter, "undo").content.decode()

    def test_delete_works_without_a_script(self, ada, matter):
        response = change(ada, matter, "delete", headers={})
        assert response.status_code == 302

        page = ada.get(response["Location"]).content.decode()
        assert 'value="undo"' in page
        back = change(ada, matter, "undo", headers={})
        assert "The orders of March" in ada.get(back["Location"]).content.decode()

    def test_delete_is_gone_everywhere_at_once(self, ada, matter):
        run = matter.runs.get()
        change(ada, matter, "delete")

        named = {"conversation": str(matter.pk)}
        asked = {
            "full": named,
            "page": named,
            "frames": named,
            "export": named,
            "rename": named,
            "earlier": {**named, "before": str(run.pk)},
        }
        codes = {
            name: ada.get(address(name), said, headers=SCRIPT).status_code
            for name, said in asked.items()
        }
        assert codes == dict.fromkeys(asked, 404)
        api = "/assistant/api"
        for path in (f"conversations/{matter.pk}/", f"runs/{run.pk}/"):
            assert ada.get(f"{api}/{path}").status_code == 404, path
        for path in ("conversations/", "runs/", "calls/", "interrupts/"):
            assert ada.get(f"{api}/{path}").json()["results"] == [], path

    def test_delete_says_what_stays(self, ada, people, matter):
        plain = change(ada, matter, "delete").content.decode()
        change(ada, matter, "undo")
        ChangeSet.objects.create(run=matter.runs.get(), user=people["ada"], tool="t")

        told = change(ada, matter, "delete").content.decode()

        kept = "The record of what was changed is kept."
        assert "Deleted." in plain
        assert kept not in plain
        assert f"Deleted. {kept}" in told

    def test_delete_leaves_the_changes(self, ada, people, matter):
        run = matter.runs.get()
        made = ChangeSet.objects.create(run=run, user=people["ada"], tool="t")
        change(ada, matter, "delete")
        late = timezone.now() - timedelta(seconds=16)
        Conversation.objects.filter(pk=matter.pk).update(deleted_at=late)

        assert purge_deleted(now=True) == 1

        made.refresh_from_db()
        assert (made.run, made.user, made.tool) == (None, people["ada"], "t")

    def test_delete_takes_no_further_message(self, ada, matter):
        change(ada, matter, "delete")
        values = {"conversation": str(matter.pk), "key": uuid4().hex, "text": "More"}

        response = ada.post(address("send"), values, headers=SCRIPT)

        assert response.status_code == 404
        assert matter.runs.count() == 1

    def test_delete_stops_what_works_in_it(self, ada, people):
        run = ask(people["ada"], "Look")

        change(ada, run.conversation, "delete")

        run.refresh_from_db()
        assert (run.state, run.error_code) == ("cancelled", "deleted")

    def test_delete_is_for_good_when_the_time_is_over(self, ada, matter):
        change(ada, matter, "delete")
        assert purge_deleted(now=True) == 0
        late = timezone.now() - timedelta(seconds=16)
        Conversation.objects.filter(pk=matter.pk).update(deleted_at=late)

        assert purge_deleted(now=True) == 1

        assert not Conversation.objects.filter(pk=matter.pk).exists()
        assert change(ada, matter, "undo").status_code == 404

    def test_delete_waits_for_a_run_that_is_being_stopped(self, ada, people):
        run = ask(people["ada"], "Look", owner="another process")
        change(ada, run.conversation, "delete")
        late = timezone.now() - timedelta(seconds=16)
        Conversation.objects.update(deleted_at=late)

        assert purge_deleted(now=True) == 0
        run.refresh_from_db()
        assert run.stop_requested

    def test_delete_stands_in_the_audit_log(self, ada, matter):
        change(ada, matter, "delete")
        change(ada, matter, "undo")

        log = AuditEntry.objects.filter(details__conversation=str(matter.pk))
        actions = list(log.order_by("pk").values_list("action", flat=True))
        assert actions[-2:] == ["conversation.deleted", "conversation.restored"]


class TestSeen:
    def say(self, client, matter, seen):
        values = {"conversation": str(matter.pk), "seen": seen}
        return client.post(address("seen"), values, headers=SCRIPT).json()

    def test_seen_counts_what_nobody_has_seen(self, ada, matter):
        told = self.say(ada, matter, "")

        assert (told["unread"], told["title"]) == (1, "The orders of March")
        assert "New answer" in shown(ada)

    def test_seen_is_written_once(self, ada, matter, django_assert_num_queries):
        assert self.say(ada, matter, "1")["unread"] == 0
        matter.refresh_from_db()
        first = matter.read_at

        assert self.say(ada, matter, "1")["unread"] == 0
        matter.refresh_from_db()
        assert matter.read_at == first
        assert "New answer" not in shown(ada)

    def test_another_person_marks_nothing(self, ada, browser, matter):
        assert self.say(browser("bob"), matter, "1")["unread"] == 0

        assert self.say(ada, matter, "")["unread"] == 1

    def test_seen_of_a_program_does_not_count(self, ada, matter):
        matter.runs.update(channel="api")

        assert self.say(ada, matter, "")["unread"] == 0


class TestExport:
    def get(self, client, matter, form):
        named = {"conversation": str(matter.pk), "as": form}
        return client.get(address("export"), named)

    def test_markdown_is_a_file(self, ada, matter):
        response = self.get(ada, matter, "markdown")

        text = response.content.decode()
        assert text.startswith("# The orders of March\n\n## You, ")
        assert text.count("The orders of March") == 2
        disposition = response["Content-Disposition"]
        assert disposition == 'attachment; filename="the-orders-of-march.md"'

    def test_json_has_the_same(self, ada, matter):
        told = json.loads(self.get(ada, matter, "json").content)

        assert told["title"] == "The orders of March"
        roles = [(one["role"], one["text"]) for one in told["entries"]]
        assert roles == [("user", "The orders of March"), ("assistant", "")]

    def test_other_forms_are_not_there(self, ada, matter):
        assert self.get(ada, matter, "exe").status_code == 404

    def test_export_of_another_person_is_not_there(self, browser, matter):
        assert self.get(browser("bob"), matter, "json").status_code == 404
