import pytest
from django.utils import timezone

from ai_assistant.models import Conversation, ToolCall
from ai_assistant.models.change import ChangeSet, RowChange
from tests.web.conftest import asked_to_approve
from tests.web.rest.program import code

USER = "auth.user"


@pytest.fixture
def change(people):
    """A change of 60 rows; the last names what nobody is to see."""
    call = asked_to_approve(people["ada"]).call
    made = ChangeSet.objects.create(
        run=call.run,
        call=call,
        user=people["ada"],
        tool=call.name,
        is_partial=True,
        gaps=[{"table": "log", "kind": "other"}],
    )
    RowChange.objects.bulk_create(
        RowChange(
            change_set=made,
            order=order,
            model=USER,
            object_id=str(order),
            text=f"User {order}",
            kind="update",
            before={"first_name": "Old"},
            after={"first_name": "New"},
            fields=["first_name"],
        )
        for order in range(60)
    )
    return made


class TestChange:
    def test_change_has_the_first_of_its_rows(self, program, change):
        told = program().get(f"changes/{change.pk}/").json()

        assert (told["row_count"], len(told["rows"])) == (60, 50)
        (field,) = told["rows"][0]["fields"]
        assert (field["before"], field["after"]) == ("Old", "New")
        assert "log" in told["gaps"][0]

    def test_rows_in_pages(self, program, change):
        ada = program()

        first = ada.get(f"changes/{change.pk}/rows/", page_size=40).json()
        rest = ada.http.get(first["next"]).json()

        orders = [one["order"] for one in first["results"] + rest["results"]]
        assert orders == list(range(60))
        assert rest["next"] is None

    def test_change_of_another_user(self, program, change):
        bob = program("bob")

        for path in ("", "rows/"):
            assert code(bob.get(f"changes/{change.pk}/{path}")) == "not_found"
        assert bob.get("changes/", run=change.run_id).json()["results"] == []

    def test_sealed_values_are_hidden(self, program, change):
        secret = {"$sealed": "x" * 40, "mac": "y"}
        RowChange.objects.filter(order=0).update(
            before={"password": secret}, after={"password": secret}, fields=["password"]
        )

        response = program().get(f"changes/{change.pk}/")

        (field,) = response.json()["rows"][0]["fields"]
        assert field["before"] == field["after"] == "hidden"

    def test_list(self, program, change):
        ada = program()

        (found,) = ada.get("changes/", call=change.call_id).json()["results"]

        assert (found["id"], found["row_count"]) == (str(change.pk), 60)
        assert "rows" not in found


class TestDeleted:
    """The conversation is gone, and what it changed is not."""

    @pytest.fixture(params=["a moment ago", "for good"])
    def left(self, request, change):
        conversation = Conversation.objects.filter(runs=change.run)
        if request.param == "for good":
            conversation.delete()
        else:
            conversation.update(deleted_at=timezone.now())
        return change

    def test_still_told_to_its_user(self, program, left):
        ada = program()

        (found,) = ada.get("changes/").json()["results"]

        assert found["id"] == str(left.pk)
        assert (found["tool"], found["row_count"]) == ("needs_approval", 60)
        assert (found["run"], found["conversation"], found["call"]) == (None,) * 3
        whole = ada.get(f"changes/{left.pk}/").json()
        assert whole["rows"][0]["fields"][0]["before"] == "Old"

    def test_deleted_not_to_others_and_not_by_what_is_gone(self, program, left):
        assert code(program("bob").get(f"changes/{left.pk}/")) == "not_found"
        for name in ("run", "call"):
            asked = {name: str(getattr(left, f"{name}_id"))}
            assert program().get("changes/", **asked).json()["results"] == []


class TestCalls:
    def test_result_of_one(self, program, change):
        ToolCall.objects.filter(pk=change.call_id).update(
            status="complete", result={"ok": True, "data": {"n": 1}}
        )
        ada = program()

        (listed,) = ada.get("calls/", run=change.run_id, status="complete").json()[
            "results"
        ]
        told = ada.get(f"calls/{change.call_id}/").json()

        assert "result" not in listed
        assert told["result"]["data"] == {"n": 1}
        assert ada.get("calls/", tool="other").json()["results"] == []
