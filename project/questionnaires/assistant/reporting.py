from typing import Literal

import ai_assistant
from ai_assistant import RunContext


@ai_assistant.prompt_command(
    "weekly-report", permission="questionnaires.view_questionnaire"
)
def weekly_report(status: Literal["draft", "published", "archived"]) -> str:
    """
    List what stands where, as the weekly meeting wants it.

    status: of the questionnaires in the report
    """
    return (
        f"List all {status} questionnaires. This is the weekly report: give the title "
        "and the revision of each, and say in a last line how many there are."
    )


READS = ["search_*", "get_*", "list_*", "describe_*", "read_*"]


@ai_assistant.agent(
    tools=[*READS, "count_*", "aggregate_*"],
    permission="questionnaires.view_questionnaire",
)
def analyst(context: RunContext) -> str:
    """Answers questions about the data, and changes nothing."""
    return (
        "You are asked for numbers. Count with the tools, say of which rows a number is, "
        "and change nothing."
    )


@ai_assistant.agent(
    tools=[*READS, "change_object", "rename_section"],
    permission="questionnaires.change_questionnaire",
)
def proofreader(context: RunContext) -> str:
    """Corrects the wording of titles and texts, and changes nothing else."""
    return (
        "You correct wording. Read what you are pointed at, change only words that are "
        "wrong or unclear, one change for each text, and name what you left alone."
    )
