import json
import re

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from ai_assistant.models import AuditEntry, ChangeSet, Run
from ai_assistant.safety.audit import seal_all

pytestmark = [pytest.mark.django_db, pytest.mark.row("X03")]


def audit(capsys, *arguments):
    """Return the exit code and the lines of the command."""
    code = 0
    try:
        call_command("assistant_audit", *arguments)
    except SystemExit as ended:
        code = ended.code
    return code, capsys.readouterr().out.splitlines()


def sql(statement):
    with connection.cursor() as cursor:
        cursor.execute(statement.replace("LOG", AuditEntry._meta.db_table))


@pytest.fixture
def log(told):
    for name in ("ada", "bob", "ada", "bob", "ada"):
        told(name)
    seal_all()


class TestVerify:
    def test_whole(self, log, capsys):
        code, lines = audit(capsys, "verify")

        last = AuditEntry.objects.get(n=5)
        assert code == 0
        assert lines == [
            "All 5 entries are as they were written.",
            f"Anchor: 5:{last.hash}",
        ]

    def test_empty_log_verifies(self, capsys):
        assert audit(capsys, "verify") == (
            0,
            ["All 0 entries are as they were written."],
        )

    def test_emptied(self, log, capsys):
        ChangeSet.objects.all().delete()
        sql("DELETE FROM LOG")
        sql("DELETE FROM ai_assistant_audithead")

        code, lines = audit(capsys, "verify")

        assert code == 1
        assert lines[0].startswith("The log is empty, but there are runs.")

    def test_verify_not_sealed_yet(self, log, capsys, told):
        told("ada")

        code, lines = audit(capsys, "verify")

        assert code == 0
        assert lines[0] == "All 6 entries are as they were written."
        assert re.fullmatch(
            r"1 of them is not sealed yet; the oldest is \d+ s old.", lines[1]
        )
        assert lines[2].startswith("Anchor: 5:")

    @pytest.mark.parametrize(
        ("statements", "says"),
        [
            (["UPDATE LOG SET user_name = 'x' WHERE n = 3"], "3: Entry 3 was altered."),
            (["DELETE FROM LOG WHERE n = 3"], "3: Entry 3 is missing."),
            (
                [
                    "UPDATE LOG SET n = 99 WHERE n = 2",
                    "UPDATE LOG SET n = 2 WHERE n = 3",
                    "UPDATE LOG SET n = 3 WHERE n = 99",
                ],
                "2: Entry 2 was moved: it was written as entry 3.",
            ),
            (["DELETE FROM LOG WHERE n = 5"], "5: Entry 5 is missing."),
        ],
        ids=["altered", "deleted", "reordered", "truncated"],
    )
    def test_verify_names_the_broken_place(self, log, capsys, statements, says):
        for statement in statements:
            sql(statement)

        code, lines = audit(capsys, "verify")

        assert code == 1
        assert lines[0] == says
        assert lines[-1].endswith("entries is not intact.")

    def test_anchor_of_before(self, log, capsys, told):
        anchor = audit(capsys, "verify")[1][-1].removeprefix("Anchor: ")
        sql("DELETE FROM LOG")
        sql("DELETE FROM ai_assistant_audithead")

        told("ada")
        seal_all()

        assert audit(capsys, "verify")[0] == 0
        assert audit(capsys, "verify", "--anchor", anchor)[0] == 1

    def test_anchor_in_the_wrong_form(self):
        with pytest.raises(CommandError, match="not a number and a hash"):
            call_command("assistant_audit", "verify", "--anchor", "x")


class TestSeal:
    def test_what_is_not_sealed(self, told, capsys):
        told("ada")
        told("bob")

        assert audit(capsys, "seal") == (0, ["2 entries sealed."])
        assert audit(capsys, "seal") == (0, ["0 entries sealed."])
        assert audit(capsys, "verify")[1][0].startswith("All 2 entries")


class TestShow:
    def test_show_of_a_run(self, log, capsys):
        run = Run.objects.filter(user__username="bob")[0]

        _code, lines = audit(capsys, "show", "--run", str(run.pk))

        (entry,) = map(json.loads, lines)
        assert (entry["action"], entry["user"]) == ("run.started", "bob")
        assert entry["run"] == str(run.pk)

    def test_show_of_a_user_the_last_ones(self, log, capsys):
        _code, lines = audit(capsys, "show", "--user", "ada", "--last", "2")

        assert [json.loads(line)["n"] for line in lines] == [3, 5]

    def test_nothing_is_said(self, log, capsys):
        call_command("assistant_audit", "show", "--user", "nobody")

        said = capsys.readouterr()
        assert said.out == ""
        assert said.err == "The audit log has no entry of user 'nobody'.\n"


def test_what_to_do_has_to_be_said():
    with pytest.raises(
        CommandError, match="Give a subcommand: `assistant_audit verify`"
    ):
        call_command("assistant_audit")
