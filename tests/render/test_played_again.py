"""A run as the source of a test, which really plays it again."""

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.db import transaction
from django.urls import reverse

from ai_assistant.models.change import RowChange
from ai_assistant.render.played_again import source_of
from ai_assistant.testing import answer_interrupt, call, reasoning, reply, run_assistant

pytestmark = pytest.mark.django_db

SECRET = "sk-live-0123456789abcdefghij"
PAGE = reverse("admin:auth_group_changelist")


@pytest.fixture
def ada():
    return get_user_model().objects.create_superuser("ada", password="x")


def create(name):
    arguments = {"model": "auth.group", "values": {"name": name}}
    return call("create_object", arguments)


def played_again(source):
    """Carry out the test of a source; return what has failed, and the groups then."""
    names = {}
    exec(compile(source, "<copied>", "exec"), names)  # noqa: S102 - what is tried
    case = names["PlayedAgainTests"]("test_run")
    with transaction.atomic():  # the tables of this test are those of that one
        case.setUp()
        failed = []
        try:
            case.test_run()
        except AssertionError as error:
            failed.append(str(error))
        found = [group.name for group in Group.objects.all()]
        transaction.set_rollback(True)
    return failed, found


def test_copied_source_plays_the_run_again(ada):
    run = answer_interrupt(
        run_assistant(
            ada,
            PAGE,
            f'Make "two" groups. {SECRET}',
            replies=[
                [
                    reasoning("First the one.\nThen the other."),
                    *reply("I begin.", create("Red"), create("Blue")),
                ],
                reply("", call("ask_user", {"question": "Another one?"})),
                "Done: 'Red' and nothing else.",
            ],
        ),
        "approve",
    )
    run = answer_interrupt(run, "deny", text="One is enough.")
    run = answer_interrupt(run, text="No, thanks")
    assert run.state == "succeeded"
    source = source_of(run.run)
    Group.objects.all().delete()

    assert played_again(source) == ([], ["Red"])
    assert SECRET not in source
    assert "reasoning(" in source
    assert "One is enough." in source
    # It fails if something else happens than in the run.
    failed, _groups = played_again(source.replace('"deny"', '"approve"'))
    assert "complete" in failed[0]


def test_copied_source_gives_its_user_the_same_permissions():
    eva = get_user_model().objects.create_user("eva", is_staff=True)
    names = ("view_assistant", "use_assistant", "view_group")
    eva.user_permissions.set(Permission.objects.filter(codename__in=names))
    found = call("search_objects", {"model": "auth.group"})
    run = run_assistant(
        eva, PAGE, "Which?", replies=[reply("", found, create("A")), "."]
    )
    source = source_of(run.run)

    assert played_again(source) == ([], [])
    assert "('create_object', 'failed')" in source or "denied" in source


def test_copied_source_has_no_secret_of_the_page_and_no_code_of_a_row(ada):
    replies = [reply("", create("Red")), "Done."]
    asked = run_assistant(ada, PAGE, "Make one.", replies=replies)
    run = answer_interrupt(asked, "approve").run
    rows = RowChange.objects.filter(change_set__run=run)
    rows.update(kind="update", object_id="1\nraise SystemExit")
    run.context = {"items": [{"id": "note", "value": f"key {SECRET}"}]}

    source = source_of(run)

    assert "1\\nraise SystemExit" in source
    assert "\n        raise SystemExit" not in source
    assert SECRET not in source
