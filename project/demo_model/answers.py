"""From the result of a tool to a text for the person."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ai_assistant.providers.offline import answers
from ai_assistant.providers.offline.answers import table
from ai_assistant.providers.offline.messages import Outcome

HELP = Path(__file__).with_name("help.md").read_text(encoding="utf-8")
MARKDOWN = Path(__file__).with_name("markdown.md").read_text(encoding="utf-8")

WHAT_I_AM = (
    "I am the built-in offline demo model, a small set of rules and not a language "
    "model."
)
# The tool that a wish of the help needs, by how it begins.
NEEDED = {
    "list": "list_questionnaires",
    "how many sections": "read_questionnaire",
    "how many active schedules": "aggregate_objects",
    "how many": "count_questions",
    "change time zone of all": "change_objects",
    "change": "change_object",
    "create": "create_object",
    "delete wiki page": "delete_objects",
    "show": "read_questionnaire",
    "rename": "rename_section",
    "publish": "publish_questionnaire",
    "archive": "archive_questionnaire",
    "add question": "add_question",
    "search the wiki": "search_wiki",
    "search the logs": "execute_query",
    "delete": "delete_section",
    "take that back": "undo_changes",
    "recompute": "recompute_positions",
    "call": "list_questionnaires",
}
COUNTS = (
    "I count questionnaires, questions, schedules, question types, wiki pages, log "
    "lines, groups, users, and the sections of one questionnaire: "
    "`how many sections in Exit interview`."
)


def unknown(wish: str) -> str:
    return answers.unknown(WHAT_I_AM, wish)


def result(outcome: Outcome) -> str:
    """Show a result in words if its tool is known, else as it is."""
    describe = DESCRIBED.get(outcome.call.name)
    if describe is not None and isinstance(outcome.data, dict):
        return describe(outcome.data)
    return answers.result(outcome)


def found(data: dict[str, Any]) -> str:
    rows = data["questionnaires"]
    if not rows:
        return "No questionnaire matches."
    shown = f"The first {len(rows)} of {data['total']}" if _more(data) else "All"
    noun = "questionnaire" if data["total"] == 1 else "questionnaires"
    head = f"{data['total']} {noun}." + (f" {shown}:" if len(rows) > 1 else "")
    counted = table(
        ("Id", "Title", "Status", "Revision"),
        ((row["id"], row["title"], row["status"], row["revision"]) for row in rows),
    )
    return f"{head}\n\n{counted}"


def _added(data: dict[str, Any]) -> str:
    return (
        f"Done: question “{data['text']}” has the number {data['question_id']}. "
        "Load the page again to see it in the form."
    )


def _pages(data: dict[str, Any]) -> str:
    if not data["pages"]:
        return "No page of the wiki holds all of these words."
    return "\n".join(
        f"- [{page['title']}]({page['path']}): {page['excerpt']}"
        for page in data["pages"]
    )


def _procedure(data: dict[str, Any]) -> str:
    return f"This site has a procedure for that:\n\n{data['text']}"


def _queried(data: dict[str, Any]) -> str:
    if not data["executed"]:
        return f"The query `{data['query']}` is set. Press Run when you want it."
    noun = "line" if data["total"] == 1 else "lines"
    return f"`{data['query']}` finds **{data['total']}** {noun}."


def kept(data: dict[str, Any]) -> str:
    return f"From now on I remember: {data.get('remembered', '')}"


def total(data: dict[str, Any]) -> str:
    one = data["total"] == 1
    return f"There {'is' if one else 'are'} **{data['total']}** of them."


def ambiguous(data: dict[str, Any], reference: str) -> str:
    """Say that the user's words mean no one questionnaire."""
    if not data["questionnaires"]:
        return f"No questionnaire matches “{reference}”. Nothing was done."
    return (
        f"“{reference}” may mean any of {data['total']} questionnaires. "
        "Nothing was done: say it again with the id or the whole title.\n\n"
        + found(data)
    )


def _count(data: dict[str, Any]) -> str:
    where = data.get("questionnaire")
    head = f"**{where}** has" if where else "All questionnaires together have"
    counted = table(("Type", "Questions"), data["by_type"].items())
    return f"{head} **{data['questions']}** questions.\n\n{counted}"


def _outline(data: dict[str, Any]) -> str:
    lines = [
        f"### {data['title']}",
        f"{data['description']}",
        f"Id {data['id']}, {data['status']}, revision {data['revision']}, "
        f"languages: {', '.join(data['languages'])}.",
    ]
    for section in data.get("sections", ()):
        questions = [
            f"- {question['text']} *({question['type']})*"
            for question in section.get("questions", ())
        ]
        heading = f"**{section['title']}** (section {section['id']})"
        lines.append("\n".join([heading, "", *questions]))
    return "\n\n".join(line for line in lines if line)


def section_count(data: dict[str, Any]) -> str:
    if "sections" not in data:
        return f"You have no permission to see the sections of **{data['title']}**."
    number = len(data["sections"])
    noun = "section" if number == 1 else "sections"
    return f"**{data['title']}** has **{number}** {noun}."


def section_not_found(data: dict[str, Any], wanted: str, number: int) -> str:
    has = f"has {number} sections" if number else "has no section"
    return f"**{data['title']}** {has} named “{wanted}”. Nothing was done."


def _renamed(data: dict[str, Any]) -> str:
    return (
        f"Done: section {data['section_id']} of **{data['questionnaire']}** was called "
        f"“{data['before']}” and is now called “{data['after']}”."
    )


def _status(data: dict[str, Any]) -> str:
    return (
        f"Done: **{data['title']}** is now {data['status']}, "
        f"revision {data['revision']}."
    )


def _deleted(data: dict[str, Any]) -> str:
    return (
        f"Done: section “{data['title']}” of **{data['questionnaire']}** is deleted, "
        f"with {data['deleted_questions']} questions."
    )


def _recomputed(data: dict[str, Any]) -> str:
    number = data["questionnaires"]
    return (
        f"Done: the positions of {number} "
        f"questionnaire{'' if number == 1 else 's'} are numbered without gaps."
    )


def _more(data: dict[str, Any]) -> bool:
    return len(data["questionnaires"]) < int(data["total"])


DESCRIBED: dict[str, Callable[[dict[str, Any]], str]] = {
    "list_questionnaires": found,
    "count_questions": _count,
    "read_questionnaire": _outline,
    "rename_section": _renamed,
    "publish_questionnaire": _status,
    "archive_questionnaire": _status,
    "delete_section": _deleted,
    "recompute_positions": _recomputed,
    "add_question": _added,
    "search_wiki": _pages,
    "get_skill": _procedure,
    "execute_query": _queried,
    "save_memory": kept,
}
