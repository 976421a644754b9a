"""What a tour and marks may name: the places of pages that the user may open."""

import pytest

from ai_assistant.testing import call, reply

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("T18")]

PAGE = "/admin/auth/group/"
GROUPS, ADD = "admin:auth_group_changelist", "admin:auth_group_add"


@pytest.fixture
def touring(play, script):
    def tour(*steps, name="show_tour", **fields):
        wanted = {"steps": list(steps)} if name == "show_tour" else fields.pop("wanted")
        script.add(reply("", call(name, wanted)), "There.")
        return play(page_path=PAGE, **fields)

    return tour


def test_step_is_on_the_page_before_it_unless_it_names_one(touring):
    first = {"text": "Here", "selector": "h1"}
    run = touring(first, {"text": "Then", "view_name": ADD}, {"text": "Last"})

    assert run.state == "waiting_browser"
    steps = run.interrupts.get().request["arguments"]["steps"]
    assert [step["path"] for step in steps] == [PAGE, f"{PAGE}add/", f"{PAGE}add/"]
    assert [step["title"] for step in steps] == ["Groups", "Group", "Group"]
    assert steps[0] == {
        "path": PAGE,
        "title": "Groups",
        "selector": "h1",
        "text": "Here",
    }


@pytest.mark.parametrize(
    ("steps", "error"),
    [
        ([], "retry"),
        ([{"text": "Again"}] * 21, "retry"),
        ([{"text": "Out", "view_name": "admin:logout"}], "failed"),
        ([{"text": "Nowhere", "view_name": "admin:nothing_here"}], "retry"),
        ([{"selector": "h1"}], "retry"),
    ],
    ids=["none", "too many", "a page never opened", "no page", "no text"],
)
def test_tour_that_cannot_be_begun_is_refused(touring, steps, error):
    run = touring(*steps)

    assert run.state == "succeeded"
    assert run.calls.get().result["error_type"] == error


def test_page_that_the_user_may_not_open_is_refused(touring, staff):
    run = touring({"text": "There", "view_name": GROUPS}, user_id=staff.pk)

    assert run.calls.get().result["error_type"] == "failed"


@pytest.mark.parametrize("wanted", [{}, {"marks": [{"selector": "p"}] * 11}])
def test_highlight_of_nothing_or_of_too_much_is_refused(touring, wanted):
    run = touring(name="highlight", wanted=wanted)

    assert run.calls.get().result["error_type"] == "retry"


@pytest.mark.parametrize(
    ("selector", "is_taken"),
    [
        ('tr:nth-child(2) > td.field-title [name="form-0-title"]', True),
        ('#id_pin[value^="4"]', False),
        ("#id_groups option:checked", False),
        (":nth-child(1 of [value])", False),
        ('[name="a\\"][value="4"]', False),
    ],
)
@pytest.mark.parametrize("is_marked", [False, True])
def test_highlight_does_not_ask_for_values(touring, selector, is_taken, is_marked):
    one = {"selector": selector}
    wanted = {"marks": [{"selector": "h1"}, one]} if is_marked else one

    assert touring(name="highlight", wanted=wanted).interrupts.exists() == is_taken
