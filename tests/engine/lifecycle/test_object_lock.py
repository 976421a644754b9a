"""The object of a run's page is locked while the run works, and at no other time."""

import asyncio
from typing import ClassVar

import pytest
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType

import ai_assistant
from ai_assistant import ContextModule, ToolFailed
from ai_assistant.changes.capture.recorder import recording
from ai_assistant.engine.calls.background import perform
from ai_assistant.engine.execution.runner import execute
from ai_assistant.engine.execution.sweep import sweep_once
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.engine.interrupts.base import Answer
from ai_assistant.engine.lifecycle.object_lock import (
    LockTarget,
    check_rows_free,
    target_of,
)
from ai_assistant.engine.lifecycle.stop import stop
from ai_assistant.engine.lifecycle.writer import Flusher
from ai_assistant.engine.storage.lease import database_now, this_process
from ai_assistant.exceptions import ModelError
from ai_assistant.models.lock import ObjectLock
from ai_assistant.models.run import Run
from ai_assistant.registry import registry
from ai_assistant.safety.object_locks import at_work_on, check_free, lock_key
from ai_assistant.testing import call, reply
from tests.engine.conftest import bury, carry_on, resume

pytestmark = [pytest.mark.django_db, pytest.mark.row("K01")]


@pytest.fixture(autouse=True)
def module():
    with registry.restored():

        @ai_assistant.register
        class GroupModule(ContextModule):
            """The pages of groups."""

            matches = ("admin:auth_group_*",)
            features: ClassVar = {"lock": True}

        yield


@pytest.fixture
def group():
    return Group.objects.create(name="Editors")


@pytest.fixture
def path(group):
    return f"/admin/auth/group/{group.pk}/change/"


@pytest.fixture
def seen(offer, group):
    """Offer a tool that notes who works on the group; return its notes."""
    notes = []

    def look() -> str:
        """Look who works on it."""
        notes.append([one.user.get_username() for one in at_work_on(Group, [group.pk])])
        return "looked"

    offer(look)
    return notes


def locks():
    return ObjectLock.objects.count()


class TestHeld:
    def test_held_while_the_run_works(self, play, script, path, seen):
        script.add(reply("", call("look")), "Done.")

        run = play(page_path=path)

        assert (run.state, seen, locks()) == ("succeeded", [["ada"]], 0)

    @pytest.mark.parametrize(
        "page", ["/admin/", "/admin/auth/group/", "/admin/auth/group/add/"]
    )
    def test_only_where_an_object_is_open(self, play, script, page, seen):
        script.add(reply("", call("look")), "Done.")

        play(page_path=page)

        assert seen == [[]]

    def test_only_if_the_module_wants_it(self, play, script, path, seen):
        registry._remove("module", "group")
        script.add(reply("", call("look")), "Done.")

        play(page_path=path)

        assert seen == [[]]

    def test_held_not_by_who_looks_only(self, play, script, path, seen):
        script.add(reply("", call("look")), "Done.")

        play(page_path=path, look_only=True)

        assert seen == [[]]

    @pytest.mark.parametrize("held", ["view_group", "add_group"])
    def test_held_not_by_who_may_not_change_it(
        self, play, script, path, seen, staff, held
    ):
        codenames = {"view_group", held}
        staff.user_permissions.add(*Permission.objects.filter(codename__in=codenames))
        script.add(reply("", call("look")), "Done.")

        play(page_path=path, user_id=staff.pk)

        assert seen == [[]]

    @pytest.mark.parametrize("key", ["999", "x", "9" * 40])
    def test_held_not_of_what_is_not_there(self, user, key):
        run = Run(user=user, page_path=f"/admin/auth/group/{key}/change/")

        assert target_of(run) is None


class TestRoot:
    """A module says to which object that of its page belongs."""

    @pytest.fixture(autouse=True)
    def _users_belong_to_groups(self):
        @ai_assistant.register
        class UserModule(ContextModule):
            """The pages of users."""

            matches = ("admin:auth_user_change",)
            features: ClassVar = {"lock": True}

            def get_root(self, context):
                """Return the group of the user."""
                return Group.objects.filter(user=context.page.object_id).first()

    @pytest.fixture
    def run(self, user, group):
        user.groups.add(group)
        page = f"/admin/auth/user/{user.pk}/change/"
        return Run(user=user, page_path=page, module="user")

    def test_root_is_locked(self, run, group):
        assert target_of(run) == LockTarget(model=Group, key=str(group.pk))

    def test_page_without_a_root(self, run, user):
        user.groups.clear()

        assert target_of(run) == LockTarget(model=type(user), key=str(user.pk))

    def test_root_that_they_may_not_change(self, run, group, staff):
        names = {"view_user", "change_user", "view_group"}
        staff.user_permissions.add(*Permission.objects.filter(codename__in=names))
        run.user = staff

        assert target_of(run) is None


class TestReleased:
    def test_released_when_the_model_fails(self, play, script, path):
        script.add(ModelError("bad_key", "no"))

        assert (play(page_path=path).state, locks()) == ("failed", 0)

    def test_released_while_it_waits_and_taken_again(
        self, play, script, path, seen, offer
    ):

        def change() -> str:
            """Change it."""
            seen.append([one.user.get_username() for one in at_work_on(Group)])
            return ""

        offer(change, effect="write", policy="ask")
        script.add(reply("", call("change")), "Done.")

        run = play(page_path=path)
        assert (run.state, locks(), seen) == ("waiting_approval", 0, [])

        asked = run.interrupts.get()
        answer(
            Answer(
                user_id=run.user_id,
                interrupt_id=asked.pk,
                nonce=asked.nonce,
                decision="approve",
            )
        )
        run = resume(run)

        assert (run.state, seen, locks()) == ("succeeded", [["ada"]], 0)

    def test_released_while_a_long_tool_works(self, play, script, path, given_out):
        script.add(reply("", call("background_steps", {"n": 1, "seconds": 0})), "Done.")

        run = play(page_path=path)
        assert (run.state, locks()) == ("waiting_task", 0)

        perform(given_out.pop())
        assert (resume(run).state, locks()) == ("succeeded", 0)

    def test_released_by_stop(self, submission, script, path, group):
        script.add("Done.")
        hold = accept(submission(page_path=path), owner=this_process()).hold
        run = Run.objects.get()
        ObjectLock.objects.create(**of(group), run=run, user=run.user)
        stop(run.pk)

        assert (carry_on(hold).state, locks()) == ("cancelled", 0)


def of(group):
    kind = ContentType.objects.get_for_model(Group)
    return {"content_type": kind, "object_id": str(group.pk)}


@pytest.fixture
def held(submission, group, path):
    """A run that works on the group, in a process that is busy with it."""
    accepted = accept(submission(page_path=path), owner="another process")
    Run.objects.update(lease_until=database_now() + 3600)
    run = Run.objects.get(pk=accepted.run_id)
    ObjectLock.objects.create(**of(group), run=run, user=run.user)
    return run


@pytest.fixture
def left(play, script, group):
    """A lock that has outlived its run."""
    script.add("Done.")
    run = play()
    ObjectLock.objects.create(**of(group), run=run, user=run.user)


class TestCrash:
    def test_crash_ends_with_the_lease(self, held, group):
        assert at_work_on(Group, [group.pk])

        Run.objects.update(lease_until=database_now() - 1)

        assert not at_work_on(Group, [group.pk])

    def test_crash_goes_on_with_who_takes_the_run_over(self, held, group, script, seen):
        script.add(reply("", call("look")), "Done.")

        run = resume(bury(held))

        assert (run.state, seen, locks()) == ("succeeded", [["ada"]], 0)

    def test_what_is_left_of_an_ended_run_is_swept(self, left):
        sweep_once()

        assert locks() == 0

    def test_crash_of_a_working_run_stays(self, held):
        sweep_once()

        assert locks() == 1

    def test_crash_of_an_ended_run_is_taken_by_the_next(
        self, left, group, play, script, path, seen
    ):
        assert not at_work_on(Group, [group.pk])
        script.add(reply("", call("look")), "Done.")

        assert (play(page_path=path).state, seen) == ("succeeded", [["ada"]])


class TestTwoRuns:
    def test_second_goes_on_without_the_lock(self, held, play, script, path, seen):
        script.add(reply("", call("look")), "Done.")

        run = play(page_path=path)

        assert run.state == "succeeded"
        assert ObjectLock.objects.get().run == held

    def test_second_writes_nothing(self, held, group, play):
        with pytest.raises(ToolFailed, match=r"changing this group for ada just now"):
            check_free(Group, [group.pk + 1, group.pk], Run(user=held.user).pk)

    def test_own_lock_is_no_hindrance(self, held, group):
        check_free(Group, [group.pk], held.pk)

    def test_others_are_free(self, held, group):
        check_free(Group, [group.pk + 1, "x", None], Run().pk)

    def test_two_at_the_same_moment(self, submission, script, path):
        script.add("One.", "Two.")
        holds = [
            accept(submission(page_path=path), owner=this_process()).hold
            for _ in range(2)
        ]

        async def both():
            async with asyncio.TaskGroup() as tasks:
                for hold in holds:
                    tasks.create_task(execute(hold, Flusher()))

        asyncio.run(both())

        states = set(Run.objects.values_list("state", flat=True))
        assert (states, locks()) == ({"succeeded"}, 0)


def test_key_is_written_one_way():
    assert lock_key(Group, "05") == lock_key(Group, 5) == "5"


class TestRows:
    def test_rows_that_a_tool_changed(self, held, group):
        with recording() as recorder:
            Group.objects.filter(pk=group.pk).update(name="Other")

        with pytest.raises(ToolFailed, match="just now"):
            check_rows_free(recorder.rows, Run(user=held.user))
        check_rows_free(recorder.rows, held)

    def test_write_of_another_run_is_taken_back(self, held, group, offer, play, script):
        def rename() -> str:
            """Rename the group."""
            Group.objects.update(name="Other")
            return "done"

        offer(rename, effect="write", policy="allow")
        script.add(reply("", call("rename")), "No.")

        run = play()

        assert run.calls.get().status == "failed"
        assert "just now" in run.calls.get().error
        assert Group.objects.get().name == "Editors"
