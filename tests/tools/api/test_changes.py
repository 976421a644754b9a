"""What a call would change is shown before, is just that, and can be undone."""

import pytest

from ai_assistant.changes.undo.values import UndoRequest, UndoTarget
from ai_assistant.engine.undo import read_plan, undo
from ai_assistant.testing import answer_interrupt, call, reply, run_assistant
from project.questionnaires.models import (
    Question,
    Questionnaire,
    QuestionType,
    Schedule,
    Section,
)
from tests.library.models import Book, Tag
from tests.tools.api import site

pytestmark = [pytest.mark.django_db, pytest.mark.row("Y04")]

TABLES = (Questionnaire, Section, Question, Schedule, Book, Tag)


@pytest.fixture
def keys(library):
    """The keys of rows, by the service that has them."""
    owner = Questionnaire.objects.create(title="Sleep", languages=["en"])
    section = Section.objects.create(questionnaire=owner, title="Nights", position=0)
    kind = QuestionType.objects.create(slug="text-2", label="Text")
    Question.objects.create(section=section, type=kind, text="How?", position=0)
    daily = Schedule.objects.create(questionnaire=owner, name="Daily")
    Schedule.objects.create(questionnaire=owner, name="Weekly")
    return {
        "questionnaires": owner.pk,
        "sections": section.pk,
        "schedules": daily.pk,
        "books": library.book.pk,
        "verne": library.verne.pk,
    }


def state():
    """Return the columns of all rows, by table and key."""
    return {
        (model._meta.label_lower, str(row["id"])): row
        for model in TABLES
        for row in model.objects.values()
    }


def difference(before, after):
    """Return what has become of the rows: their kind of change, and the new columns."""
    found = {}
    for key in {*before, *after}:
        old, new = before.get(key), after.get(key)
        if new is None:
            found[key] = "delete"
        elif old is None:
            found[key[0], "new"] = "create"
        elif old != new:
            found[key] = {
                name: str(new[name]) for name in new if new[name] != old[name]
            }
    return found


def shown_in(proposal):
    """Return the same of what a person was shown."""
    found = {}
    for one in proposal["objects"]:
        key = one["model"], one["object_id"] or "new"
        fields = {field["attname"]: str(field["raw"]) for field in one["fields"]}
        found[key] = fields if one["kind"] == "change" else one["kind"]
    return found


def play(user, operation, **arguments):
    asked = [
        reply("", call("search_api", {"operation": operation})),
        reply("", call("call_api", {"operation": operation, **arguments})),
        "Done.",
    ]
    return run_assistant(user, "/admin/", "Do it", replies=asked)


def path(keys, service, name="pk"):
    return {name: keys[service]}


# What is asked for, by the rows that there are.
WRITES = {
    "questionnaires.create": lambda _k: {"body": {"title": "F", "languages": ["en"]}},
    "questionnaires.publish": lambda k: {"path": path(k, "questionnaires")},
    "questionnaires.archive": lambda k: {"path": path(k, "questionnaires")},
    "questionnaires.partial_update": lambda k: {
        "path": path(k, "questionnaires"),
        "body": {"title": "Rest", "description": "New"},
    },
    "questionnaires.destroy": lambda k: {"path": path(k, "questionnaires")},
    "sections.create": lambda k: {
        "body": {"questionnaire": k["questionnaires"], "title": "Days", "position": 1}
    },
    "sections.destroy": lambda k: {"path": path(k, "sections")},
    "schedules.create": lambda k: {
        "body": {"questionnaire": k["questionnaires"], "name": "Yearly"}
    },
    "schedules.update": lambda k: {
        "path": path(k, "schedules"),
        "body": {
            "questionnaire": k["questionnaires"],
            "name": "Monthly",
            "offset_days": 3,
        },
    },
    "schedules.pause.post": lambda k: {"path": path(k, "schedules")},
    "schedules.destroy": lambda k: {"path": path(k, "schedules")},
    "books.create": lambda k: {
        "body": {"title": "Mars", "author": k["verne"], "tags": [], "price": "9.50"}
    },
    "books.partial_update": lambda k: {
        "path": path(k, "books"),
        "body": {"price": "1.25", "pages": 2},
    },
    "books.lend": lambda k: {"path": path(k, "books"), "body": {"to": "Ada"}},
    "books.destroy": lambda k: {"path": path(k, "books")},
    "async.post": lambda _k: {"body": {"name": "new"}},
    "tags.update": lambda _k: {"path": {"name": "sea"}, "body": {"name": "ocean"}},
}


@pytest.mark.parametrize("operation", WRITES)
def test_what_is_shown_happens_and_is_undone(opt_in, boss, keys, operation):
    opt_in("*")
    before = state()

    played = play(boss, operation, **WRITES[operation](keys))
    assert played.state == "waiting_approval", played.calls
    assert state() == before
    (interrupt,) = played.interrupts
    proposal = interrupt.proposal
    played = answer_interrupt(played, "approve")

    assert played.state == "succeeded", played.error
    assert played.calls[-1].status == "complete"
    happened = difference(before, state())
    assert happened
    shown = shown_in(proposal)
    links = {key for key in shown if key[0] == "library.book_tags"}
    assert {k: v for k, v in shown.items() if k not in links} == happened
    target = UndoTarget(kind="run", id=played.run.pk)
    plan = read_plan(boss.pk, target)
    undo(UndoRequest(user_id=boss.pk, target=target, digest=plan.digest))
    after = state()
    assert difference(before, after) == {}


class TestOtherThanShown:
    def test_is_rolled_back_and_asked_again(self, opt_in, boss, keys):
        opt_in("questionnaires.*")
        played = play(
            boss, "questionnaires.archive", path={"pk": keys["questionnaires"]}
        )
        Schedule.objects.create(
            questionnaire_id=keys["questionnaires"], name="Since then"
        )

        played = answer_interrupt(played, "approve")

        assert played.state == "waiting_approval"
        assert Schedule.objects.filter(active=True).count() == 3
        proposal = played.interrupts[0].proposal
        assert "Since then" in str(proposal)
        assert proposal["title"] == "Archive a questionnaire; its schedules end"

    def test_denied(self, opt_in, boss, keys):
        opt_in("books.*")

        played = play(boss, "books.destroy", path={"pk": keys["books"]})
        assert played.interrupts[0].proposal["title"] == "Delete book"
        played = answer_interrupt(played, "deny")

        assert played.calls[-1].status == "denied"
        assert Book.objects.filter(pk=keys["books"]).exists()

    def test_what_the_api_refuses_is_not_asked(self, opt_in, boss, keys):
        opt_in("books.*")

        played = play(boss, "books.create", body={"title": ""})

        assert played.state == "succeeded"
        assert played.calls[-1].error_type == "validation"

    @pytest.mark.row("Y05")
    def test_what_was_not_looked_up_is_not_asked(self, opt_in, boss, keys):
        opt_in("books.*")
        asked = {"operation": "books.destroy", "path": {"pk": keys["books"]}}
        replies = [
            reply("", call("call_api", asked)),
            reply("", call("call_api", asked)),
        ]

        played = run_assistant(boss, "/admin/", "Do it", replies=replies)

        assert [one.error_type for one in played.calls] == ["undescribed", ""]
        assert '"schema_hint"' in played.calls[0].read_by_model
        assert played.state == "waiting_approval"


class TestNotTriedOut:
    @pytest.mark.parametrize(
        ("operation", "reached"), [("apart.post", "apart"), ("mailing.post", "mailed")]
    )
    def test_request_is_shown(self, opt_in, boss, operation, reached):
        opt_in("apart.*", "mailing.post")

        played = play(boss, operation, body={"name": "new", "key": "x"})

        assert site.seen == []
        (interrupt,) = played.interrupts
        assert interrupt.proposal["title"] in ("Make a tag in pieces", "Send a mail")
        (shown,) = interrupt.proposal["objects"]
        assert shown["text"] == f"POST /api-site/{operation.partition('.')[0]}/"
        assert {one["name"]: one["after"] for one in shown["fields"]}["name"] == "new"
        assert interrupt.proposal["warnings"] == [
            "What this does is not known in advance."
        ]
        played = answer_interrupt(played, "approve")
        assert (played.state, site.seen) == ("succeeded", [reached])

    def test_external_is_claimed_before_it_happens(self, opt_in, boss):
        opt_in("mailing.post")

        played = play(boss, "mailing.post", body={"name": "new"})
        proposal = played.interrupts[0].proposal
        assert proposal["undo_limits"] == ["What happens outside of this site stays."]
        answer_interrupt(played, "approve")

        # Of a call that is not claimed, a process that takes over would not know.
        assert site.statuses == ["executing"]

    def test_lock_repeats_nothing_that_stays(self, opt_in, boss):
        opt_in("mailing.post")

        played = play(boss, "mailing.post", body={"lock": True})
        played = answer_interrupt(played, "approve")

        assert site.seen == ["mailed"]
        assert "may or may not" in played.calls[-1].error

    def test_all_that_is_sent_is_shown(self, opt_in, boss):
        opt_in("mailing.post")
        body = {"to": "ada", "text": "a" * 600 + "and to the end"}

        played = play(boss, "mailing.post", query={"to": "eve"}, body=body)

        (shown,) = played.interrupts[0].proposal["objects"]
        assert [one["after"] for one in shown["fields"][:2]] == ["eve", "ada"]
        assert shown["fields"][2]["after"] == body["text"]


class TestReading:
    def test_nobody_is_asked(self, opt_in, boss, keys):
        opt_in("books.*", "count-words.post")

        played = play(boss, "books.list", query={"status": "new"})

        assert played.state == "succeeded"
        assert "Leagues" in played.calls[-1].read_by_model
        played = play(boss, "count-words.post", body={"text": "one two three"})
        assert played.calls[-1].data == {"count": 3}


def batches(items, size=20):
    listed = list(items)
    return [listed[start : start + size] for start in range(0, len(listed), size)]


@pytest.mark.broad
def test_nothing_happens_unless_somebody_approves(opt_in, boss, keys):
    """A model that calls everything that there is, again and again."""
    known = opt_in("*", "elsewhere.get", "public.get", "web.list").operations.values()
    before, played = state(), []
    for some in batches(one for one in known if one.name != "throttled.get"):
        calls = [
            {
                "operation": one.id,
                "path": {name: keys.get(one.service, 1) for name in one.arguments},
                **(
                    {"body": {"title": "Mine", "name": "mine"}}
                    if one.takes_body
                    else {}
                ),
            }
            for one in some
        ]
        looked_up = [
            call("search_api", {"operation": one["operation"]}) for one in calls
        ]
        asked = [call("call_api", one) for one in calls]
        replies = [reply("", *looked_up), reply("", *asked), "Done."]
        played.append(run_assistant(boss, "/admin/", "Go", replies=replies))

    done = [one for run in played for one in run.calls if one.name == "call_api"]
    assert len(done) == len(known) - 1
    assert {"waiting", "complete", "failed"} >= {one.status for one in done}
    assert sum(one.status == "waiting" for one in done) >= 20
    assert state() == before
    assert not {"apart", "mailed"} & {str(one) for one in site.seen}
    # A POST that only a person's yes may send has been tried out, and no more.
    for run in played:
        for interrupt in run.interrupts:
            assert interrupt.proposal["objects"]
