"""What is understood on every site: help, search, count and change, in English."""

import json
import re
from collections.abc import Mapping
from typing import Any

from ai_assistant.providers.offline import answers
from ai_assistant.providers.offline.messages import Call, Outcome, Reply
from ai_assistant.providers.offline.page import Page
from ai_assistant.providers.offline.rules import Rules
from ai_assistant.providers.offline.sentences import (
    AGGREGATE,
    LIST,
    SENTENCES,
    call,
    count_all,
    known_models,
    model_of,
)

SEARCH, PAGES, TOUR = "search_objects", "find_pages", "show_tour"
ADD = "_add"  # the end of the name of such a page
MOST_NAMED = 10
NUMBER = re.compile(r"(?:number|no\.?|id|#)?\s*(\d+)\Z", re.IGNORECASE)
WHAT_I_AM = "I am the offline model, a small set of rules and not a language model."
HELP = """\
I am the **offline model**: a small set of rules, not a language model, and I understand \
English only. What I do to the data is real: the tools are those that a language model \
would call here, with your permissions.

| Say | What happens |
|---|---|
| `what can you look up here` | lists what you may see |
| `how many users` | counts what you name |
| `count the users by active` | counts by a field |
| `list users` | lists the first ones |
| `search users for ada` | lists what the search of their page finds |
| `change first name of user ada to Ada` | changes a field, once you have seen the \
difference and approved it |
| `how do I add a user` | leads you there, step by step |
| `take that back` | undoes what was changed last, once you have seen what that does |
| `what do you remember` | says what you have had me remember |
| `call list_models {}` | calls any tool by its name |

For all that is said in other words, set up a language model.
"""
# The tool that a wish of the help needs, by how it begins.
NEEDED: Mapping[str, str] = {
    "what can you": LIST,
    "how many": AGGREGATE,
    "count": AGGREGATE,
    "list": SEARCH,
    "search": SEARCH,
    "change": "change_object",
    "how do I": TOUR,
    "take that back": "undo_changes",
    "call": LIST,
}
TALK = Rules()
DATA = Rules()


def cleaned(words: str) -> str:
    """Return `words` without quotes and closing punctuation."""
    return words.strip().rstrip("?!.").strip(" \"'“”„`")


# --- talk ---


@TALK.rule(r"call\s+(?P<name>\w+)\s*(?P<arguments>\{.*\})?\s*$")
def call_by_name(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    if done:
        return Reply(text=answers.result(done[-1]))
    try:
        arguments = json.loads(match["arguments"] or "{}")
    except ValueError as error:
        return Reply(text=f"The arguments are not JSON: {error}. Nothing was called.")
    return Reply(call=Call(name=match["name"], arguments=arguments))


@TALK.rule(r"call the tool (?P<name>\w+)\b")
def call_that_tool(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    if done:
        return Reply(text=answers.result(done[-1]))
    return call(match["name"])


@TALK.rule(r"reply with the word (?P<word>\w{1,20})\b")
def reply_with(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    return Reply(text=match["word"])


@TALK.rule(
    r"(?:$|hi\b|hello\b|hey\b|good (?:morning|day|evening)\b|help\b"
    r"|what can you do|what are you|who are you)"
)
def introduce(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    return Reply(is_help=True)


@TALK.rule(r"(?:thanks|thank you)\b")
def thanked(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    return Reply(text="You are welcome.")


@TALK.rule(r"undo\b|(?:take|put)\s+(?:that|it|this|them)\s+back\b")
def undo(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    """Take back what was changed last in this conversation."""
    return Reply(text=written(done[-1].data)) if done else call("undo_changes")


# --- rows of any model ---


@DATA.sentence(
    r"(?:search|find|look up)\s+(?:the\s+|all\s+)?(?P<many>.{1,100}?)\s+"
    r"(?:for|named|called|about|with)\s+(?P<words>.{1,200}?)"
)
def search(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    return _rows(match["many"], cleaned(match["words"]), done, page)


@DATA.sentence(r"(?:list|show(?: me)?)\s+(?:the\s+|all\s+)*(?P<many>.{1,100}?)")
def list_rows(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    return _rows(match["many"], "", done, page)


DATA.sentence(r"(?:how many|count)\s+(?:of\s+|the\s+|all\s+)*(?P<many>.{1,100}?)")(
    count_all
)


@DATA.sentence(
    r"(?:how (?:do|can) i|show me how to)\s+(?:add|create|make)\s+"
    r"(?:an?\s+|new\s+)*(?P<what>.{1,100}?)"
)
def lead(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    """Lead the user from the list to the form that adds one."""
    if not done:
        return call(PAGES, text=f"add {match['what']}")
    if done[-1].call.name != PAGES:
        return Reply(
            text="Press **Next** to go on. Nothing is saved until you save it."
        )
    names = [one["view_name"] for one in done[-1].data["pages"]]
    form = next((name for name in names if name.endswith(ADD)), "")
    if not form:
        return Reply(text=f"I find no page on which you may add a “{match['what']}”.")
    steps = [
        {
            "text": "Here are those that there are. This adds another one.",
            "view_name": f"{form.removesuffix(ADD)}_changelist",
            "selector": ".addlink",
        },
        {
            "text": "Fill in the form.",
            "view_name": form,
            "selector": "#content .form-row",
        },
        {"text": "Save it.", "selector": "[name=_save]"},
    ]
    return call(TOUR, steps=steps)


@DATA.rule(
    r"change\s+(?:the\s+)?(?P<field>\w[\w ]{0,59}?)\s+of\s+(?:the\s+)?"
    r"(?P<what>\S.{1,300}?)\s+(?:to|into)\s+(?P<value>.+)$"
)
def change(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    """Find the object that is named, and give one field another value."""
    known = known_models(done)
    if known is None:
        return call(LIST)
    named = [
        (name, model)
        for names, model in known
        for name in names
        if match["what"].lower().startswith(f"{name} ")
    ]
    if not named:
        return Reply(text=f"I find nothing called “{match['what']}” that you may see.")
    name, model = max(named, key=lambda one: (len(one[0]), one[1] == page.model))
    found = find(model, name, match["what"][len(name) :], done[1:])
    if isinstance(found, Reply):
        return found
    values = values_of(match)
    arguments = {"model": model, "id": found, "values": values}
    return Reply(call=Call(name="change_object", arguments=arguments))


def _rows(many: str, words: str, done: list[Outcome], page: Page) -> Reply:
    model = model_of(many, done, page)
    if isinstance(model, Reply):
        return model
    if done[-1].call.name != SEARCH:
        return call(SEARCH, model=model, search=words)
    data = done[-1].data
    if not isinstance(data, dict):  # cut: too long for a model
        return Reply(text=answers.result(done[-1]))
    rows, total = data["rows"], data["total"]
    if not rows:
        return Reply(text=f"There are no {many} of that kind.")
    head = f"The first {len(rows)} of {total}:" if total > len(rows) else f"{total}:"
    shown = answers.table(("Id", "Name"), ((row["id"], row["text"]) for row in rows))
    return Reply(text=f"{head}\n\n{shown}")


def find(
    model: str, one: str, words: str, done: list[Outcome], *, many: str = ""
) -> Any:
    """
    Return the id of the object that `words` mean, or what to do or say instead.

    `one` and `many` are what objects of the model are called.
    """
    title = cleaned(words)
    if not done:
        if number := NUMBER.match(title):
            return int(number[1])
        arguments = {"model": model, "search": title, "page_size": MOST_NAMED}
        return Reply(
            reasoning=f"“{title}” is no number, so its id has to be looked up first.",
            call=Call(name=SEARCH, arguments=arguments),
        )
    last = done[-1]
    if last.call.name != SEARCH:
        return Reply(text=written(last.data))
    rows = last.data["rows"]
    same = [row for row in rows if row["text"].lower() == title.lower()]
    fitting = same or rows
    if len(fitting) == 1:
        return fitting[0]["id"]
    return Reply(text=_ambiguous(one, many, title, fitting))


def _ambiguous(one: str, many: str, title: str, rows: list[dict[str, Any]]) -> str:
    if not rows:
        return f"No {one} matches “{title}”. Nothing was done."
    named = "\n".join(f"- {row['text']} (id {row['id']})" for row in rows)
    return (
        f"“{title}” may mean any of {f'these {many}' if many else 'these'}. Nothing was "
        f"done: say it again with the id or the whole name.\n\n{named}"
    )


def values_of(match: re.Match[str]) -> dict[str, str]:
    """Return the field and the value of a wish to change them."""
    name = re.sub(r"\s+", "_", match["field"].strip().lower())
    return {name: cleaned(match["value"])}


def written(data: Any) -> str:
    """Tell what a tool has written, by the names of the objects."""
    if not isinstance(data, dict) or not data.get("changed"):
        return str(data.get("message", data) if isinstance(data, dict) else data)
    texts = [f"“{one['text']}”" for one in data["changed"]]
    more = f" and {len(texts) - MOST_NAMED} more" if len(texts) > MOST_NAMED else ""
    said = data["message"].rstrip(".")
    return f"{said}: {', '.join(texts[:MOST_NAMED])}{more}."


RULES = Rules(SENTENCES, TALK, DATA)
