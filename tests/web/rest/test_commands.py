"""The prompt commands of the caller."""

import pytest

import ai_assistant
from ai_assistant.models import Message
from ai_assistant.models import configuration as rows
from ai_assistant.registry import registry
from tests.web.rest.program import code

pytestmark = pytest.mark.row("P01")


@pytest.fixture(autouse=True)
def commands():
    with registry.restored():

        @ai_assistant.prompt_command("sales-report", model="auth.group")
        def sales_report(period: str) -> str:
            """Sum up a period."""
            return f"Sum up {period}."

        yield


def listed(program):
    answer = program.get("commands/").json()["commands"]
    return {command["name"]: command for command in answer}


class TestRegistry:
    @pytest.mark.row("C11")
    def test_registry_tells_source_and_place_of_each_kind(self, program, people):
        admin = {"module": "admin", "language": "de"}

        @ai_assistant.instructions(name="brief", **admin)
        def brief(context):
            return "Say it briefly."

        @ai_assistant.agent(permission="auth.add_user")
        def checker(context):
            return "Check it."

        rows.Skill.objects.create(
            name="refund", description="How to refund", body="Do it."
        )

        @ai_assistant.hook("before_tool", name="watch", tools="delete_*")
        def watch(context, call):
            """Watch."""

        plain = program("ada").get("registry/").json()
        people["ada"].is_superuser = True
        people["ada"].save()
        whole = program("ada").get("registry/").json()
        found = {
            kind: {part["name"]: part for part in whole[kind]}
            for kind in ("commands", "skills", "instructions", "agents", "hooks")
        }

        assert found["commands"]["sales-report"]["where"] == {"model": "auth.group"}
        assert found["commands"]["sales-report"]["source"] == __name__
        assert found["skills"]["refund"]["source"] == "row"
        assert found["instructions"]["brief"]["where"] == admin
        assert found["agents"]["checker"]["where"] == {"permission": "auth.add_user"}
        assert found["hooks"]["watch"]["origin"] == __name__
        assert "delete_*" in found["hooks"]["watch"]["where"]
        assert "checker" not in {part["name"] for part in plain["agents"]}
        assert {part["source"] for part in plain["instructions"]} == {""}


class TestCommands:
    def test_list_tells_source_and_place(self, program):
        found = listed(program("ada"))["sales-report"]

        assert found["source"] == __name__
        assert found["where"] == {"model": "auth.group"}
        assert found["description"] == "Sum up a period."
        assert found["arguments"]["required"] == ["period"]
        assert found["is_own"] is False

    def test_own_one_is_saved_sent_and_deleted(self, program, quiet):
        ada, bob = program("ada"), program("bob")
        body = {"name": "report", "text": "Sum up {{ arguments }}."}

        assert ada.post("commands/", body).status_code == 200
        assert listed(ada)["report"]["is_own"] is True
        assert "report" not in listed(bob)
        assert ada.start("/report May", key="k").status_code == 201
        assert Message.objects.get().text == "Sum up May."
        assert ada.start("/report May", key="k").status_code == 200
        gone = {"method": "delete"}
        assert code(bob.post("commands/?name=report", **gone)) == "not_found"
        assert ada.post("commands/?name=report", **gone).status_code == 204
        assert "report" not in listed(ada)

    @pytest.mark.parametrize(
        ("body", "expected"),
        [
            ({"name": "No", "text": "Hi {{ x }}."}, "command_text"),
            ({"name": "no good", "text": "Hi."}, "command_name"),
            ({"name": "help", "text": "Hi."}, "command_name"),
        ],
    )
    def test_bad_one_is_refused(self, program, body, expected):
        assert code(program("ada").post("commands/", body)) == expected
        assert not rows.PromptCommand.objects.exists()

    def test_missing_argument_is_a_problem_that_names_it(self, program, people):
        people["ada"].is_superuser = True
        people["ada"].save()
        rows.PromptCommand.objects.create(
            name="one",
            text="Do {{ what }}.",
            arguments={
                "type": "object",
                "properties": {"what": {"type": "string"}},
                "required": ["what"],
            },
        )

        response = program("ada").start("/one")

        assert code(response) == "arguments"
        assert response.json()["detail"] == "The command “/one” needs: What."

    def test_answer_of_its_own_is_a_problem_with_its_text(self, program):
        response = program("ada").start("/model")

        assert code(response) == "answered"
        assert "/model default" in response.json()["detail"]
        assert not Message.objects.exists()
