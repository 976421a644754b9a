"""The sentences that the modules of the demo offer in an empty panel."""

import re
from typing import Any

from ai_assistant.providers.offline.answers import table
from ai_assistant.providers.offline.messages import Call, Outcome, Reply
from ai_assistant.providers.offline.page import Page
from ai_assistant.providers.offline.rules import Rules
from ai_assistant.providers.offline.sentences import AGGREGATE, call, shown
from project.demo_model.naming import on_questionnaire

OFFERED = Rules()
sentence = OFFERED.sentence


@sentence(r"what does this questionnaire ask")
def asks(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    questionnaire = _outlined(page, "questionnaire")
    if questionnaire is None:
        return Reply(text="No questionnaire is opened on this page.")
    return on_questionnaire(str(questionnaire), done, tool="read_questionnaire")


@sentence(r"add a question about (?P<topic>.{1,60}?)")
def add_question(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    section = _outlined(page, "section")
    if section is None:
        return Reply(text="There is no section to add it to. Add one first.")
    if done:
        text = done[-1].call.arguments["question_text"]
        return Reply(text=f"Done: “{text}” is the last question of the first section.")
    topic = match["topic"].strip()
    return Reply(
        reasoning="The first section of the outline takes it; a text is a safe type.",
        call=Call(
            name="add_question",
            arguments={
                "section_id": section,
                "question_type_id": "text",
                "question_text": f"How was your {topic} in the last 7 days?",
            },
        ),
    )


@sentence(r"when is each questionnaire asked")
def schedules(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    columns = ["questionnaire", "name", "anchor", "offset_days", "active"]
    if not done:
        return call(
            "search_objects",
            model="questionnaires.schedule",
            fields=columns,
            ordering=["questionnaire"],
            page_size=50,
        )
    rows = [
        [shown(row["fields"].get(name)) for name in columns]
        for row in done[-1].data["rows"]
    ]
    heads = ("Questionnaire", "Schedule", "From", "Days after", "Active")
    return Reply(text=table(heads, rows))


@sentence(r"which services report errors")
def services(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    if not done:
        return call(
            AGGREGATE,
            model="discover.logline",
            group_by=["service"],
            filters={"level": "error"},
        )
    rows = [(row["group"]["service"], row["count"]) for row in done[-1].data["rows"]]
    return Reply(text=table(("Service", "Errors"), rows))


def _outlined(page: Page, kind: str) -> Any:
    """Return the id of the first questionnaire or section of the designer's outline."""
    return next((row[kind] for row in page.others if kind in row), None)
