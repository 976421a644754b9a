"""A questionnaire goes back as a whole, and no person's work with it."""

import random
import uuid

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.db import transaction
from django.urls import reverse

from ai_assistant.changes.capture.recorder import recording
from ai_assistant.changes.capture.store import forget_images, store
from ai_assistant.changes.undo.values import (
    Choice,
    Outcome,
    UndoRequest,
    UndoTarget,
)
from ai_assistant.engine import snapshots
from ai_assistant.engine.lifecycle.scope import RunScope
from ai_assistant.engine.snapshots import Keeper
from ai_assistant.engine.undo import read_plan, undo
from ai_assistant.exceptions import Refused
from ai_assistant.models.call import ToolCall
from ai_assistant.models.change import ChangeSet
from ai_assistant.models.conversation import Conversation, Message
from ai_assistant.models.run import Run, RunState, Step
from project.questionnaires.assistant.designer import (
    languages,
    moving,
    questions,
    variables,
)
from project.questionnaires.assistant.designer import (
    sections as section_tools,
)
from project.questionnaires.assistant.designer.snapshot import taken
from project.questionnaires.models import (
    Question,
    Questionnaire,
    Schedule,
    ScheduleSection,
    Section,
)
from tests.thorough import examples

pytestmark = [pytest.mark.django_db, pytest.mark.row("M01"), pytest.mark.row("M06")]


class Designing:
    """A run on the page of a questionnaire."""

    def __init__(self, user, path):
        conversation = Conversation.objects.create(owner=user)
        self.user = user
        self.run = Run.objects.create(
            conversation=conversation,
            user=user,
            state=RunState.SUCCEEDED,
            page_path=path,
            module="designer",
            idempotency_key=str(uuid.uuid4()),
        )
        message = Message.objects.create(
            conversation=conversation, run=self.run, role="assistant", position=1
        )
        self.step = Step.objects.create(run=self.run, index=0, message=message)
        self.target = UndoTarget(kind="run", id=self.run.pk)

    @property
    def context(self):
        return RunScope(self.run, self.user).context

    def call(self, handler, *arguments, **named):
        """Do what a call does, and keep it."""
        call = ToolCall.objects.create(
            run=self.run, step=self.step, position=self.run.calls.count(), name="tool"
        )
        with transaction.atomic():
            keeper = Keeper("designer", lambda: self.context)
            with recording() as recorder:
                told = handler(self.context, *arguments, **named)
            keeper.keep(store(recorder, self.run, call, self.user))
        return told

    def plan(self, target=None):
        return read_plan(self.user.pk, target or self.target)

    def undo(self, target=None, *, rows=None, overruled=()):
        target = target or self.target
        return undo(
            UndoRequest(
                user_id=self.user.pk,
                target=target,
                digest=self.plan(target).digest,
                choice=Choice(
                    rows=None if rows is None else frozenset(rows),
                    overruled=frozenset(overruled),
                ),
            )
        )

    def redo(self, undone):
        return self.undo(UndoTarget(kind="change", id=undone.change_id))


@pytest.fixture
def path(draft):
    return reverse("admin:questionnaires_questionnaire_change", args=[draft.pk])


@pytest.fixture
def ada():
    return get_user_model().objects.create_superuser("ada", password="x")


@pytest.fixture
def designing(ada, path):
    return Designing(ada, path)


def redesign(run, draft):
    """Let the assistant change much: a move into a new section, texts, a deletion."""
    first = Question.objects.get(name="a")
    added = run.call(section_tools.add_section, "Dreams")["section_id"]
    run.call(moving.move_question, first.pk, 0, added, first.section_id)
    run.call(
        section_tools.reorder_sections,
        [added, *draft.sections.exclude(pk=added).values_list("pk", flat=True)],
    )
    run.call(section_tools.update_section_title, added, "Sleep itself")
    gone = Question.objects.get(name="b")
    run.call(questions.delete_question, gone.section_id, gone.pk)


class TestUndo:
    def test_whole_goes_back_and_comes_again(self, designing, draft):
        before = taken(draft)
        redesign(designing, draft)
        left = taken(draft)

        plan = designing.plan()
        (row,) = plan.rows
        assert (row.outcome, row.text) == (Outcome.RESTORE, "Sleep")
        shown = {(one.label, one.now, one.restored) for one in row.shown_fields}
        assert shown >= {
            (
                "All that belongs to it",
                "4 sections, 3 questions",
                "3 sections, 4 questions",
            ),
            ("Section", "Dreams", ""),
            ("Question", "", "b?"),
        }
        assert not any("Revision" in label for label, _now, _then in shown)

        undone = designing.undo()

        assert taken(draft) == before
        assert undone.differing == []
        assert designing.plan().rows == []
        again = designing.redo(undone)
        assert taken(draft) == left
        designing.redo(again)
        assert taken(draft) == before

    def test_admin_hears_of_it(self, designing, draft):
        redesign(designing, draft)

        designing.undo()

        entry = LogEntry.objects.get(object_id=str(draft.pk))
        assert entry.change_message.startswith("Undone:")

    def test_plan_changes_nothing(self, designing, draft):
        redesign(designing, draft)
        left, revision = taken(draft), Questionnaire.objects.get().revision

        designing.plan()

        assert taken(draft) == left
        assert Questionnaire.objects.get().revision == revision

    def test_looked_at_twice_it_is_the_same(self, designing, draft):
        redesign(designing, draft)

        assert designing.plan().digest == designing.plan().digest

    def test_from_the_page_of_a_question(self, ada, draft):
        question = Question.objects.get(name="a")
        page = reverse("admin:questionnaires_question_change", args=[question.pk])
        run = Designing(ada, page)
        before = taken(draft)
        run.call(section_tools.add_section, "Dreams")

        (row,) = run.plan().rows
        assert row.object_id == str(draft.pk)
        run.undo()

        assert taken(draft) == before

    def test_call_under_a_newer_one_is_a_conflict(self, designing, draft):
        designing.call(section_tools.add_section, "Dreams")
        designing.call(section_tools.add_section, "Naps")
        first = ChangeSet.objects.earliest("created_at")

        (row,) = designing.plan(UndoTarget(kind="change", id=first.pk)).rows

        assert row.outcome == Outcome.CONFLICT

    def test_left_out_it_can_be_undone_later(self, designing, draft):
        other = Questionnaire.objects.create(title="Other", languages=["en"])

        def rename(context):
            Questionnaire.objects.filter(pk=other.pk).update(title="New")
            section_tools.add_section(context, "Dreams")

        designing.call(rename)
        whole, row = designing.plan().rows

        designing.undo(rows=[row.key])

        assert Questionnaire.objects.get(pk=other.pk).title == "Other"
        assert Section.objects.filter(title="Dreams").exists()
        designing.undo(rows=[whole.key])
        assert not Section.objects.filter(title="Dreams").exists()
        assert designing.plan().rows == []

    def test_with_other_objects(self, designing, draft):
        other = Questionnaire.objects.create(title="Other", languages=["en"])

        def rename(context):
            Questionnaire.objects.filter(pk=other.pk).update(title="New")
            section_tools.add_section(context, "Dreams")

        designing.call(rename)

        assert len(designing.undo().rows) == 2
        assert Questionnaire.objects.get(pk=other.pk).title == "Other"
        assert not Section.objects.filter(title="Dreams").exists()


class TestConflict:
    def test_work_of_a_person_stays(self, designing, draft, client, ada):
        redesign(designing, draft)
        person = get_user_model().objects.create_superuser("bo", password="x")
        section = draft.sections.get(title="Days")
        Section.objects.filter(pk=section.pk).update(title="Bright days")
        LogEntry.objects.log_actions(
            person.pk, [section], 2, change_message="", single_object=True
        )

        (row,) = designing.plan().rows
        assert (row.outcome, row.can_overrule) == (Outcome.CONFLICT, True)
        with pytest.raises(Refused, match="nothing that can be undone"):
            designing.undo()
        assert draft.sections.filter(title="Bright days").exists()

    def test_overruled_it_goes_back(self, designing, draft):
        before = taken(draft)
        redesign(designing, draft)
        Section.objects.filter(title="Days").update(title="Bright days")
        (row,) = designing.plan().rows

        undone = designing.undo(overruled=[row.key])

        assert taken(draft) == before
        designing.redo(undone)
        assert draft.sections.filter(title="Bright days").exists()

    def test_what_people_built_on_it(self, designing, draft):
        added = designing.call(section_tools.add_section, "Dreams")["section_id"]
        schedule = Schedule.objects.create(questionnaire=draft, name="Daily")
        ScheduleSection.objects.create(schedule=schedule, section_id=added)

        (row,) = designing.plan().rows

        assert row.outcome == Outcome.CONFLICT
        assert "others made: “Dreams”" in row.reason

    def test_changed_in_between(self, designing, draft):
        designing.call(section_tools.add_section, "Dreams")
        Section.objects.filter(title="Days").update(title="Bright days")
        designing.call(section_tools.add_section, "Naps")

        (row,) = designing.plan().rows

        assert row.outcome == Outcome.CONFLICT


class TestNotAsAWhole:
    def test_published_is_refused_in_its_words(self, designing, draft):
        designing.call(section_tools.add_section, "Dreams")
        Questionnaire.objects.filter(pk=draft.pk).update(status="published")

        row = designing.plan().rows[0]

        assert row.outcome == Outcome.BLOCKED
        assert "cannot be changed" in row.reason

    def test_who_may_not_delete_sections(self, draft, path):
        nora = get_user_model().objects.create_user("nora", is_staff=True)
        of_app = Permission.objects.filter(content_type__app_label="questionnaires")
        own = ["view_assistant", "use_assistant"]
        nora.user_permissions.add(
            *of_app.exclude(codename="delete_section"),
            *Permission.objects.filter(codename__in=own),
        )
        run = Designing(nora, path)
        run.call(section_tools.add_section, "Dreams")

        assert run.plan().rows[0].outcome == Outcome.BLOCKED
        assert "may not delete" in run.plan().rows[0].reason

    def test_aged_out(self, designing, draft):
        designing.call(section_tools.add_section, "Dreams")

        forget_images(ChangeSet.objects.get().pk)

        assert all(row.outcome == Outcome.BLOCKED for row in designing.plan().rows)

    def test_too_large_is_said(self, designing, draft, monkeypatch):
        monkeypatch.setattr(snapshots, "SNAPSHOT_BYTES", 10)
        before = taken(draft)

        designing.call(section_tools.add_section, "Dreams")

        plan = designing.plan()
        assert ChangeSet.objects.get().snapshots is None
        assert len(plan.gaps) == 1
        designing.undo()
        assert taken(draft) == before

    def test_deleted_root_comes_back_by_rows(self, designing, draft):
        before, pk = taken(draft), draft.pk

        designing.call(lambda _context: Questionnaire.objects.get(pk=pk).delete())

        assert ChangeSet.objects.get().snapshots is None
        designing.undo()
        assert taken(Questionnaire.objects.get(pk=pk)) == before


STEPS = 12


@pytest.mark.broad
@pytest.mark.parametrize("seed", range(examples(2, many=40)))
class TestAnySequence:
    """Whatever the tools did, in whatever order."""

    def test_snapshot_brings_back_equal_json(self, designing, draft, seed):
        chance = random.Random(seed)
        before = taken(draft)
        for step in range(STEPS):
            designing.call(_any(chance, draft, step))

        designing.undo()

        assert taken(draft) == before

    def test_edit_of_a_person_survives(self, designing, draft, seed):
        chance = random.Random(seed)
        at = chance.randrange(STEPS)
        for step in range(STEPS):
            designing.call(_any(chance, draft, step))
            if step == at:
                Questionnaire.objects.filter(pk=draft.pk).update(title="By a person")

        (row,) = designing.plan().rows
        if row.outcome == Outcome.CONFLICT:
            with pytest.raises(Refused, match="nothing that can be undone"):
                designing.undo()
        else:  # nothing but the revision had changed before it
            designing.undo()

        assert Questionnaire.objects.get(pk=draft.pk).title == "By a person"


def _any(chance, draft, step):
    """Return something that a tool of the designer might do."""
    section = chance.choice(list(draft.sections.all()))
    found = Question.objects.filter(section__questionnaire=draft)
    question = chance.choice(list(found)) if found else None
    works = [
        lambda c: section_tools.add_section(c, f"New {step}"),
        lambda c: section_tools.update_section_title(c, section.pk, f"Named {step}"),
        lambda c: section_tools.move_section(c, section.pk, 0),
        lambda c: variables.create_variable(c, f"v{step}", f"V {step}", "number"),
    ]
    if question is not None:
        works += [
            lambda c: moving.move_question(
                c, question.pk, 0, section.pk, question.section_id
            ),
            lambda c: questions.delete_question(c, question.section_id, question.pk),
            lambda c: languages.translate_questions(
                c, "de", {str(question.pk): f"Frage {step}"}
            ),
        ]
    return chance.choice(works)
