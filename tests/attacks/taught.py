"""What a site teaches, written by somebody hostile: a file, a row, an instruction."""

from pathlib import Path
from typing import Any

from ai_assistant.configuration import files
from ai_assistant.models import configuration as rows
from ai_assistant.testing import call, reply

NAME = "guide"
KINDS = ("skill file", "skill row", "instruction row", "instruction")
SKILLS = KINDS[:2]


class Teacher:
    """Teaches hostile words, and gives the reply with which a model reads them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def teach(self, kind: str, text: str, *, tools: str = "*") -> list[Any]:
        """Return what the model has to reply first to have read `text`."""
        if kind == "skill file":
            self._file(text, tools)
        elif kind == "skill row":
            rows.Skill.objects.create(
                name=NAME, description="Read it first.", body=text, allowed_tools=tools
            )
        elif kind == "instruction row":
            rows.Instruction.objects.create(name=NAME, text=text)
        else:
            self._function(text)
        return [reply("", call("get_skill", {"name": NAME}))] if kind in SKILLS else []

    def _file(self, text: str, tools: str) -> None:
        path = self.folder / "skills" / NAME / files.SKILL_FILE
        path.parent.mkdir(parents=True)
        head = f'name: {NAME}\ndescription: Read it first.\nallowed-tools: "{tools}"'
        path.write_text(f"---\n{head}\n---\n{text}\n", encoding="utf-8")
        before = len(files.problems)
        files._register("skill", path, "shop", files._skill)
        assert files.problems[before:] == []

    def _function(self, text: str) -> None:
        import ai_assistant

        @ai_assistant.instructions(name=NAME)
        def guide(context: Any) -> str:
            return text
