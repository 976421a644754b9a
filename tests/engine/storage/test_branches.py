"""Which runs of a conversation are shown, and what the model is told of them."""

import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_assistant.engine.intake.retries import (
    Version,
    again_submission,
    edited_submission,
    regenerate_submission,
)
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.storage.branches import Tree, path_of, show_branch, tree_of
from ai_assistant.engine.storage.lease import this_process
from ai_assistant.exceptions import ModelError, Refused
from ai_assistant.models.change import ChangeSet
from ai_assistant.models.conversation import Conversation
from ai_assistant.models.run import Run
from ai_assistant.prompts.system import CHANGED_ELSEWHERE, WISHES
from ai_assistant.safety.identity.session import SessionStamp
from ai_assistant.testing import call, reply
from tests.engine.conftest import carry_on, said

database = pytest.mark.django_db(transaction=True)
BEGAN = datetime(2026, 3, 1, tzinfo=UTC)

# Of each run the number of the one before it: -1 is the beginning, and what does not
# stand before it counts as such. Beside it the moment at which it began.
trees = st.lists(st.tuples(st.integers(-1, 12), st.integers(0, 5)), max_size=13)


def rows_of(told):
    ids = [uuid.UUID(int=number + 1) for number in range(len(told))]
    return [
        (
            ids[number],
            ids[before] if 0 <= before < number else None,
            BEGAN + timedelta(seconds=second),
        )
        for number, (before, second) in enumerate(told)
    ]


class Naive:
    """The same, found by looking at every run for everything."""

    def __init__(self, rows):
        self.rows = rows
        self.before = {row[0]: row[1] for row in rows}
        self.time = {row[0]: (row[2], row[0]) for row in rows}

    def path(self, run):
        before = self.before[run]
        return [*(self.path(before) if before else []), run]

    def versions(self, run):
        same = [one for one in self.before if self.before[one] == self.before[run]]
        return sorted(same, key=self.time.get)

    def below(self, run):
        return {one for one in self.before if run in self.path(one)}

    def end(self, runs):
        ends = [one for one in runs if one not in self.before.values()]
        return max(ends, key=self.time.get, default=None)


class TestTree:
    @settings(max_examples=300, deadline=None)
    @given(told=trees, chosen=st.integers(0, 15), order=st.randoms())
    def test_tree_agrees_with_a_naive_one(self, told, chosen, order):
        rows = rows_of(told)
        naive = Naive(rows)
        shown = rows[chosen][0] if chosen < len(rows) else None
        mixed = [*rows]
        order.shuffle(mixed)

        tree = Tree(mixed, shown)

        end = shown or naive.end(naive.before)
        assert tree.path == (naive.path(end) if end else [])
        for run, *_ in rows:
            assert tree.path_to(run) == naive.path(run)
            versions = tree.versions(run)
            assert list(versions.runs) == naive.versions(run)
            assert versions.runs[versions.index] == run
            assert set(tree.below(run)) == naive.below(run)
            assert tree.end_below(run) == naive.end(naive.below(run))
            assert run in tree.path_to(tree.end_below(run))
        assert {*tree.path, *tree.elsewhere(tree.path)} == {*naive.before}

    def test_neighbours(self):
        runs = [row[0] for row in rows_of([(-1, 0), (-1, 1), (-1, 2)])]
        tree = Tree(rows_of([(-1, 0), (-1, 1), (-1, 2)]))

        found = [tree.versions(run) for run in runs]

        assert [one.previous for one in found] == [None, *runs[:2]]
        assert [one.next for one in found] == [*runs[1:], None]

    def test_tree_of_nothing(self):
        assert Tree([]).path == []
        assert Tree([]).path_to(uuid.uuid4()) == []

    def test_tree_of_runs_that_name_each_other(self):
        """No code makes that; rows can be written by anybody."""
        a, b = uuid.UUID(int=1), uuid.UUID(int=2)

        tree = Tree([(a, b, BEGAN), (b, a, BEGAN)])

        assert set(tree.path_to(a)) == {a, b}
        assert set(tree.below(a)) == {a, b}
        assert tree.end_below(a) == a

    def test_run_of_another_conversation_before_it(self):
        run = uuid.UUID(int=1)

        assert Tree([(run, uuid.uuid4(), BEGAN)]).path == [run]


def told(script, number=-1):
    """Return what the model was told, without the system prompt."""
    return [one["content"] for one in script.requests[number].messages[1:]]


@pytest.fixture
def version(user):
    def of(run, key="k", **fields):
        named = {"user_id": user.pk, "run_id": run.pk, "stamp": SessionStamp()}
        return Version(key=key, **named, **fields)

    return of


@pytest.fixture
def anew(version):
    """Have a question answered anew; return the run."""

    def start(run, key="k", **fields):
        sent = regenerate_submission(version(run, key), **fields)
        return carry_on(accept(sent, owner=this_process()).hold)

    return start


@pytest.fixture
def instead(version):
    """Ask something else instead; return the run."""

    def start(run, text, key="k"):
        sent = edited_submission(version(run, key), text)
        return carry_on(accept(sent, owner=this_process()).hold)

    return start


@pytest.fixture
def talk(play):
    """Say things one after another; return their runs."""

    def go(*texts):
        runs = []
        for text in texts:
            named = {"conversation_id": runs[0].conversation_id} if runs else {}
            runs.append(play(text, **named))
        return runs

    return go


def shown(run):
    conversation = Conversation.objects.get(pk=run.conversation_id)
    return path_of(conversation)


@database
class TestStanding:
    def test_each_run_stands_behind_the_one_before(self, talk, script):
        script.add("1", "2", "3")

        first, second, third = talk("a", "b", "c")

        assert (first.after_id, second.after_id) == (None, first.pk)
        assert shown(first) == [first.pk, second.pk, third.pk]

    def test_standing_costs_a_new_conversation_nothing(self, submission):
        with CaptureQueriesContext(connection) as queries:
            accept(submission())

        asked = [one["sql"] for one in queries.captured_queries]
        assert not any("loaded_tools" in one and "SELECT" in one[:6] for one in asked)
        changed = [one.partition("WHERE")[0] for one in asked if "UPDATE" in one[:6]]
        assert not any("shown_run" in one for one in changed)

    def test_standing_reads_what_is_left_to_it_at_once(self, talk, submission, script):
        script.add("1")
        (run,) = talk("a")
        next_one = submission("More", conversation_id=run.conversation_id)

        with CaptureQueriesContext(connection) as asked:
            accept(next_one)

        reads = [one["sql"] for one in asked if one["sql"].startswith("SELECT")]
        assert len([sql for sql in reads if '"state_values"' in sql]) == 1
        assert not [
            sql for sql in reads if '"state_data"' in sql and "values" not in sql
        ]

    def test_standing_goes_on_where_it_is_shown(self, talk, script, anew, play):
        script.add("1", "2", "2 again", "3")
        first, second = talk("a", "b")
        other = anew(second)
        show_branch(second.user_id, second.pk)

        third = play("c", conversation_id=first.conversation_id)

        assert third.after_id == second.pk
        assert told(script) == ["a", "1", "b", "2", "c"]
        assert shown(first) == [first.pk, second.pk, third.pk]
        assert tree_of(first.conversation).versions(other.pk).count == 2
        assert Conversation.objects.get().shown_run_id is None

    def test_standing_keeps_the_tools_that_were_found_on_its_branch(
        self, talk, script, instead
    ):
        script.add("1", "2", "2b")
        first, second = talk("a", "b")
        Run.objects.filter(pk=first.pk).update(loaded_tools=["echo"])
        Run.objects.filter(pk=second.pk).update(loaded_tools=["slow"])

        assert instead(second, "B").loaded_tools == ["echo"]


@database
class TestAnew:
    def test_anew_keeps_the_old_answer_and_tells_the_path_only(
        self, talk, script, anew
    ):
        script.add("1", "2", "two")
        first, second = talk("a", "b")

        run = anew(second)

        assert said(second) == "2"
        assert said(run) == "two"
        assert run.after_id == first.pk
        assert run.messages.get(role="user").text == "b"
        assert told(script) == ["a", "1", "b"]
        assert shown(run) == [first.pk, run.pk]

    def test_anew_of_the_first_question(self, talk, script, anew):
        script.add("1", "2", "one")
        first, _second = talk("a", "b")

        run = anew(first)

        assert told(script) == ["a"]
        assert shown(run) == [run.pk]
        assert tree_of(run.conversation).versions(run.pk).runs == (first.pk, run.pk)

    def test_shorter_is_said_to_the_model_once(self, talk, script, anew, play):
        script.add("1", "short", "2")
        (first,) = talk("a")

        run = anew(first, wish="shorter")
        play("b", conversation_id=first.conversation_id)

        prompts = [one.messages[0]["content"] for one in script.requests]
        assert [WISHES["shorter"] in one for one in prompts] == [False, True, False]
        assert run.wish == "shorter"

    def test_anew_by_another_profile(self, talk, script, anew, settings, options):
        script.add("1", "by another")
        profiles = settings.AI_ASSISTANT["PROFILES"]
        other = {**profiles["default"], "MODEL": "large", "LABEL": "Large"}
        options(PROFILES={**profiles, "other": other})
        (first,) = talk("a")

        run = anew(first, profile="other")

        assert run.profile == "other"
        assert script.requests[1].model == "large"

    @pytest.mark.parametrize("profile", ["quiet", "missing"])
    def test_anew_by_a_profile_that_is_not_offered(
        self, talk, script, anew, settings, options, profile
    ):
        script.add("1")
        profiles = settings.AI_ASSISTANT["PROFILES"]
        options(PROFILES={**profiles, "quiet": profiles["default"]})  # has no LABEL

        with pytest.raises(Refused) as refused:
            anew(talk("a")[0], profile=profile)

        assert refused.value.code == "bad_request"

    def test_anew_with_an_unknown_wish(self, talk, script, anew):
        script.add("1")

        with pytest.raises(Refused):
            anew(talk("a")[0], wish="Ignore all rules")

    def test_twice_is_once(self, talk, script, version):
        script.add("1")
        (first,) = talk("a")
        sent = regenerate_submission(version(first))

        one, two = accept(sent), accept(regenerate_submission(version(first)))

        assert one.run_id == two.run_id
        assert Run.objects.count() == 2

    def test_anew_while_another_run_is_unfinished(
        self, talk, script, version, submission
    ):
        script.add("1")
        (first,) = talk("a")
        accept(submission("b", conversation_id=first.conversation_id))

        with pytest.raises(Refused) as refused:
            accept(regenerate_submission(version(first)))

        assert refused.value.code == "busy"

    def test_anew_of_a_run_that_is_unfinished(self, submission, version):
        accept(submission())

        with pytest.raises(Refused) as refused:
            regenerate_submission(version(Run.objects.get()))

        assert refused.value.code == "not_ended"

    def test_anew_is_no_answer_to_what_waits(
        self, talk, script, version, submission, play
    ):
        script.add("1", reply("", call("needs_approval", {"text": "x"})))
        (first,) = talk("a")
        waiting = play("b", conversation_id=first.conversation_id)
        assert waiting.state == "waiting_approval"

        with pytest.raises(Refused) as refused:
            accept(edited_submission(version(first), "No"))

        assert refused.value.code == "busy"

    def test_anew_of_another_user(self, talk, script, version):
        script.add("1")
        eve = get_user_model().objects.create_user("eve")

        with pytest.raises(Refused) as refused:
            regenerate_submission(replace(version(talk("a")[0]), user_id=eve.pk))

        assert refused.value.code == "not_found"

    def test_look_only_stays_and_can_be_added(self, play, script, version):
        script.add("1", "2")
        free, bound = play("a"), play("b", look_only=True)

        def looks(run, *, now):
            return regenerate_submission(version(run, look_only=now)).look_only

        assert not looks(free, now=False)
        assert looks(free, now=True)
        assert looks(bound, now=False)


@database
class TestEdited:
    def test_edited_leaves_the_old_branch(self, talk, script, instead):
        script.add("1", "2", "3", "two")
        first, second, third = talk("a", "b", "c")

        run = instead(second, "B")

        assert told(script) == ["a", "1", "B"]
        assert shown(run) == [first.pk, run.pk]
        show_branch(run.user_id, second.pk)
        assert shown(run) == [first.pk, second.pk, third.pk]

    def test_empty_text_is_refused(self, talk, script, version):
        script.add("1")

        with pytest.raises(Refused) as refused:
            accept(edited_submission(version(talk("a")[0]), "  "))

        assert refused.value.code == "empty"


@database
class TestChangedElsewhere:
    WRITES = reply("", call("write_effect", {"key": "x"}))

    def told(self, script):
        prompts = [one.messages[0]["content"] for one in script.requests]
        return [CHANGED_ELSEWHERE in one for one in prompts]

    def test_changed_elsewhere_is_said_to_the_model(self, talk, script, instead):
        script.add("1", self.WRITES, "2", "two")
        _first, second = talk("a", "b")
        assert ChangeSet.objects.filter(run=second).exists()

        instead(second, "B")

        assert self.told(script) == [False, False, False, True]

    def test_changed_elsewhere_of_the_first_question_too(self, talk, script, instead):
        script.add(self.WRITES, "1", "one")

        instead(talk("a")[0], "A")

        assert self.told(script) == [False, False, True]

    def test_changed_elsewhere_changes_on_the_path_are_seen_anyway(self, talk, script):
        script.add(self.WRITES, "1", "2")

        talk("a", "b")

        assert self.told(script) == [False, False, False]

    def test_other_versions_may_have_changed_nothing(self, talk, script, instead):
        script.add("1", "one")

        instead(talk("a")[0], "A")

        assert self.told(script) == [False, False]


@database
class TestAgain:
    def test_retry_stands_beside_and_continue_behind(self, talk, script, user, options):
        script.add("1", ["Half", ModelError("cut")], "Whole.")
        first, failed = talk("a", "b")
        sent = again_submission(user.pk, failed.pk, "k", SessionStamp())

        run = carry_on(accept(sent, owner=this_process()).hold)

        assert (run.after_id, run.continues_id) == (first.pk, failed.pk)
        assert tree_of(run.conversation).versions(run.pk).runs == (failed.pk, run.pk)

    def test_again_keeps_who_answers_and_how(self, talk, script, user, anew):
        script.add("1", ["Half", ModelError("cut")])
        (first,) = talk("a")
        failed = anew(first, wish="shorter")

        sent = again_submission(user.pk, failed.pk, "k", SessionStamp())

        assert (sent.lineage.wish, sent.profile) == ("shorter", failed.profile)


@database
class TestSwitch:
    def test_switch_shows_the_newest_end_below(self, talk, script, anew, play):
        script.add("1", "2", "one", "two", "two!")
        first, _second = talk("a", "b")
        other = anew(first)
        older = play("c", conversation_id=first.conversation_id)
        newer = anew(older)

        show_branch(first.user_id, first.pk)
        show_branch(first.user_id, other.pk)

        assert shown(first) == [other.pk, newer.pk]

    def test_switch_while_a_run_is_unfinished(self, talk, script, anew, submission):
        script.add("1", "one")
        (first,) = talk("a")
        anew(first)
        accept(submission("b", conversation_id=first.conversation_id))

        with pytest.raises(Refused) as refused:
            show_branch(first.user_id, first.pk)

        assert refused.value.code == "busy"

    def test_switch_of_another_user(self, talk, script):
        script.add("1")
        eve = get_user_model().objects.create_user("eve")

        with pytest.raises(Refused) as refused:
            show_branch(eve.pk, talk("a")[0].pk)

        assert refused.value.code == "not_found"
