"""Skills and prompt commands that apps have as files; wrong ones are named, not fatal."""

from itertools import pairwise
from types import SimpleNamespace

import pytest
from django.apps import apps

from ai_assistant.checks import check_assistant
from ai_assistant.configuration import files
from ai_assistant.registry import registry
from tests.docs.blocks import blocks, page

BOMB = "metadata:\n  a: &a [x, x, x, x, x, x, x, x]\n" + "".join(
    f"  {one}: &{one} [{', '.join([f'*{before}'] * 8)}]\n"
    for before, one in pairwise("abcdefghi")
)
GOOD = "---\nname: refund\ndescription: Money back.\n---\nFirst ask.\n"


@pytest.fixture
def app(tmp_path, monkeypatch):
    """Return the folder of an app, which is looked at alone."""
    config = apps.get_app_config("wiki")
    monkeypatch.setattr(config, "path", str(tmp_path))
    monkeypatch.setattr(
        files, "apps", SimpleNamespace(get_app_configs=lambda: [config])
    )
    before = list(files.problems)
    yield tmp_path
    files.problems[:] = before


def write(folder, path, text):
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text if isinstance(text, bytes) else text.encode())
    return target


def discovered():
    files.discover_files()
    return [str(problem) for problem in files.problems]


@pytest.mark.row("Y01")
class TestSkill:
    def test_skill_of_the_docs(self, app):
        (example,) = [
            b for b in blocks(page("docs/skills.md")) if b.language == "markdown"
        ]
        write(app, "skills/refund/SKILL.md", example.code)
        write(app, "skills/refund/references/letter.md", "Dear {name}")
        write(app, "skills/refund/scripts/pay.py", "print('never run')")

        assert discovered() == []
        skill = registry.parts("skill")["refund"]
        assert skill.description.startswith("How an order is refunded.")
        assert skill.body.startswith("# Refund an order")
        assert skill.allowed_tools == ("get_object", "search_objects")
        assert skill.placement.permission == "shop.view_order"
        assert dict(skill.files) == {"references/letter.md": "Dear {name}"}
        assert skill.scripts == ("scripts/pay.py",)

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("First ask.", "does not begin with front matter"),
            ("---\nname: refund\n", "without an end"),
            ("---\nname: [\n---\nx", "not YAML"),
            ("---\n- a\n---\nx", "without keys"),
            ("---\nname: other\ndescription: d\n---\nx", "Give both the same name"),
            ("---\nname: refund\n---\nx", "has no 'description'"),
            ("---\nname: refund\ndescription: [1]\n---\nx", "'description'"),
            (f"---\nname: refund\ndescription: {'d' * 1025}\n---\nx", "at most 1024"),
            ("---\nname: refund\ndescription: d\nmodule: a\n---\nx", "'module', which"),
            (GOOD + "x" * 50_001, "characters (at most 50000)"),
            (GOOD + "x" * 1_000_000, "too large"),
            (b"---\nname: refund\n\xff---\n", "not UTF-8"),
            (GOOD.replace("---\nFirst", "metadata: 1\n---\nFirst"), "'metadata'"),
            (
                GOOD.replace("---\nFirst", "metadata: {view: [1]}\n---\nFirst"),
                "the view [1]",
            ),
            (GOOD.replace("---\nFirst", "allowed-tools: 3\n---\nFirst"), "not names"),
            (f"---\n{BOMB}name: *i\ndescription: d\n---\nx", "has an alias"),
        ],
    )
    def test_wrong_file_is_left_out_and_named(self, app, text, said):
        path = write(app, "skills/refund/SKILL.md", text)

        (problem,) = discovered()

        assert (said in problem, str(path) in problem) == (True, True)
        assert registry.parts("skill") == {}
        assert "ai_assistant.E114" in [message.id for message in check_assistant()]

    def test_folder_with_a_name_of_its_own_kind(self, app):
        write(app, "skills/Refund_1/SKILL.md", GOOD.replace("refund", "Refund_1"))

        assert "Use lower-case letters" in discovered()[0]

    def test_second_of_a_name_is_named(self, app):
        write(app, "skills/refund/SKILL.md", GOOD)
        assert discovered() == []
        assert discovered() == []  # it is the same
        write(app, "skills/refund/SKILL.md", GOOD + "Another.")

        assert "has a name that is taken" in discovered()[0]

    @pytest.mark.parametrize("target", ["secret", "secret/deep.txt"])
    def test_link_out_of_the_folder_is_not_read(self, app, target):
        write(app, "skills/refund/SKILL.md", GOOD)
        write(app, "secret/deep.txt", "secret")
        (app / "skills/refund/link.txt").symlink_to(app / target)

        assert discovered() == []
        assert dict(registry.parts("skill")["refund"].files) == {}


class TestCommand:
    def test_command(self, app):
        text = (
            "---\ndescription: Report.\narguments:\n  period: {enum: [week, month]}\n"
            "  note: {default: ''}\nmetadata: {model: shop.order}\n---\n"
            "Report of the {{ period }}."
        )
        write(app, "prompt_commands/weekly-report.md", text)

        assert discovered() == []
        command = registry.parts("command")["weekly-report"]
        assert (command.description, command.text) == (
            "Report.",
            "Report of the {{ period }}.",
        )
        assert command.placement.model == "shop.order"
        assert command.schema["required"] == ["period"]
        assert command.schema["properties"]["period"] == {
            "type": "string",
            "enum": ["week", "month"],
        }

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("---\ndescription: d\n---\n", "no prompt below"),
            ("---\narguments: 3\n---\nx", "without names"),
            ("---\narguments: {a: {type: 3}}\n---\nx", "no JSON schema"),
        ],
    )
    def test_wrong_file(self, app, text, said):
        write(app, "prompt_commands/report.md", text)

        assert said in discovered()[0]


def test_skill_of_the_demo_is_there_without_fault():
    files.discover_files()

    assert files.problems == []
    assert "references/letter.md" in registry.parts("skill")["refund"].files
