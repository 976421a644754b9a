"""The page about prompt commands: its code is carried out."""

import re

import pytest

from ai_assistant.configuration.command_arguments import read_arguments
from ai_assistant.configuration.commands import expanded
from ai_assistant.exceptions import CommandAnswered
from ai_assistant.modules.resolve import NO_RUN
from ai_assistant.registry import registry
from ai_assistant.types import RunContext
from tests.docs.blocks import blocks, page, section

TEXT = page("docs/prompt-commands.md")


@pytest.fixture
def commands():
    with registry.restored():
        for block in blocks(TEXT):
            exec(block.code, {"__name__": "shop.assistant"})  # noqa: S102 - of the page
        yield registry.parts("command")


def text_of(command, rest):
    context = RunContext(user=None, run_id=NO_RUN, conversation_id=NO_RUN)
    return expanded(command, read_arguments(command, rest, {}), context)


@pytest.mark.parametrize("rest", ["north days=3", "days=3 north"])
def test_lines_of_the_page_are_the_same(commands, rest):
    assert f"/stock-report {rest}" in TEXT
    assert text_of(commands["stock-report"], rest) == (
        "Sum up what has left the north shelf within 3 days, by product."
    )


def test_command_that_answers_itself(commands):
    with pytest.raises(CommandAnswered, match="Monday to Friday"):
        text_of(commands["opening-hours"], "")


def test_every_built_in_one_is_told():
    told = set(re.findall(r"^\| `/(\w+)", section(TEXT, "Built in"), re.M))
    own = "ai_assistant.engine.intake.built_in_commands"
    parts = registry.parts("command")

    assert told == {name for name, part in parts.items() if part.origin == own}
