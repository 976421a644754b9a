"""The configuration of a site, written to a file and made as a file says."""

import pytest
from django.core.management import CommandError, call_command

from ai_assistant.models import Instruction

pytestmark = [pytest.mark.django_db, pytest.mark.row("C11")]


@pytest.fixture
def file(tmp_path):
    Instruction.objects.create(name="tone", text="Be brief.")
    path = tmp_path / "config.yaml"
    call_command("assistant_config", "export", str(path))
    return path


def run(capsys, *arguments):
    call_command("assistant_config", *map(str, arguments))
    return capsys.readouterr().out


def test_file_makes_the_rows_of_another_site(file, capsys):
    Instruction.objects.all().delete()

    told = run(capsys, "import", file)

    assert told == "+ instructions tone\n1 rows were changed.\n"
    assert Instruction.objects.get().imported_from == "config.yaml"


def test_diff_tells_and_changes_nothing(file, capsys):
    Instruction.objects.update(text="Be long.")
    Instruction.objects.create(name="other", text="Other.")

    told = run(capsys, "diff", file, "--remove")

    assert told == (
        '- instructions other\n~ instructions tone\n    text: "Be long." -> "Be brief."\n'
    )
    assert Instruction.objects.count() == 2


def test_diff_may_fail_a_deployment(file, capsys):
    run(capsys, "diff", file, "--exit-code")
    Instruction.objects.update(text="Be long.")

    with pytest.raises(SystemExit, match="1"):
        run(capsys, "diff", file, "--exit-code")


def test_standard_output_is_a_file(file, capsys):
    assert run(capsys, "export", "-") == file.read_text()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("version: 99", "is refused. The file has version 99"),
        ("version: 1\nskills: [{name: a}]", "Nothing was changed."),
    ],
)
def test_wrong_file_is_refused(tmp_path, text, why):
    path = tmp_path / "x.yaml"
    path.write_text(text)

    with pytest.raises(CommandError, match=why):
        call_command("assistant_config", "import", str(path))


def test_file_that_is_not_there(tmp_path):
    with pytest.raises(CommandError, match="cannot be read: No such file"):
        call_command("assistant_config", "import", str(tmp_path / "no.yaml"))
