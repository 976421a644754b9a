"""The sentences that an empty panel offers, on whatever page."""

import re
from datetime import timedelta
from typing import Any

from django.utils import timezone

from ai_assistant.providers.offline.answers import table
from ai_assistant.providers.offline.messages import Call, Outcome, Reply
from ai_assistant.providers.offline.page import Page
from ai_assistant.providers.offline.rules import Rules

PLAN = "update_plan"
CHECKS = (  # what a check does, and the tool that does it
    ("Look for empty fields", "get_object"),
    ("Read the history", "object_history"),
)
EMPTY: tuple[Any, ...] = ("", None, [])
AGGREGATE, DESCRIBE, LIST = "aggregate_objects", "describe_model", "list_models"
DATES = ("DateField", "DateTimeField")
SINCE = re.compile(r"created|added|joined|registered|(^|_)time|date")
MOST_SHOWN, VALUE_CHARS = 12, 80
SENTENCES = Rules()
sentence = SENTENCES.sentence


# --- counting ---


@sentence(r"how many (?P<many>.{1,100}?) are there")
def count_all(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    model = model_of(match["many"], done, page)
    if isinstance(model, Reply):
        return model
    if done[-1].call.name != AGGREGATE:
        return call(AGGREGATE, model=model)
    return counted(done[-1], match["many"], "")


@sentence(r"how many (?P<many>.{1,100}?) (?:joined|were added|are from) this week")
def count_recent(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    model = model_of(match["many"], done, page)
    if isinstance(model, Reply):
        return model
    fields = _fields(done)
    if fields is None:
        return call(DESCRIBE, model=model)
    name = _date_of(fields)
    if not name:
        return Reply(text="I see no date that would say which are from this week.")
    if done[-1].call.name != AGGREGATE:
        today = timezone.localdate()
        monday = today - timedelta(days=today.weekday())
        since = {f"{name}__gte": monday.isoformat()}
        return call(AGGREGATE, model=model, filters=since)
    return counted(done[-1], match["many"], " from this week")


@sentence(r"how many (?P<many>.{1,100}?) are on this list")
def count_listed(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    if not done:
        return call(
            AGGREGATE, model=page.model, filters=page.filters, search=page.search
        )
    return counted(done[-1], match["many"], " on this list")


@sentence(r"count the (?P<many>.{1,100}?) by (?P<field>.{1,60}?)")
def count_by(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    model = model_of(match["many"], done, page)
    if isinstance(model, Reply):
        return model
    fields = _fields(done)
    if fields is None:
        return call(DESCRIBE, model=model)
    field = _named(fields, match["field"])
    if not field:
        return Reply(text=f"There is no field “{match['field']}” to count by.")
    if done[-1].call.name != AGGREGATE:
        return call(AGGREGATE, model=model, group_by=[field["name"]])
    groups = done[-1].data["rows"]
    labels = {str(one["value"]): one["label"] for one in field.get("choices", ())}
    rows = [
        (labels.get(str(key), shown(key)), row["count"])
        for row in groups
        for key in row["group"].values()
    ]
    return Reply(text=table((match["field"].capitalize(), "Count"), rows))


def counted(outcome: Outcome, many: str, where: str) -> Reply:
    number = outcome.data["rows"][0]["count"]
    if number == 1:
        return Reply(text=f"There is **1** {_one_of(many)}{where}.")
    return Reply(text=f"There are **{number}** {many}{where}.")


# --- models ---


@sentence(r"what can you look up here")
def look_up(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    if not done:
        return call(LIST)
    rows = [(one["name"], ", ".join(one["may"])) for one in done[-1].data]
    return Reply(text="As you, I can reach:\n\n" + table(("What", "You may"), rows))


@sentence(r"what can i do on this page")
def can_do(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    may = f" You may {', '.join(page.may)} here." if page.may else ""
    about = page.is_about or "I was told nothing of this page."
    return Reply(text=f"{about}{may}\n\nSay `help` to see what I understand.")


@sentence(r"what (?:do i have to fill in here|does a new .{1,100}? need)")
def needed(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    if not done:
        return call(DESCRIBE, model=page.model)
    open_fields = [one for one in done[-1].data["fields"] if not one.get("readonly")]
    rows = [
        (one["label"], "yes" if one.get("required") else "", one.get("help", ""))
        for one in open_fields
    ]
    return Reply(text=table(("Field", "Needed", "Note"), rows))


@sentence(r"what can be done with selected .{1,100}?")
def actions(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    if not done:
        return call(DESCRIBE, model=page.model)
    named = done[-1].data.get("actions", {}).values()
    lines = "\n".join(f"- {label}" for label in named)
    return Reply(text=f"Tick rows of the list, then choose:\n\n{lines}")


# --- the opened object ---


@sentence(r"summari[sz]e this .{1,100}?")
def summarize(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    if not done:
        return _on_object("get_object", page)
    fields = done[-1].data["fields"]
    rows = [(name, shown(one)) for name, one in fields.items() if _is_filled(one)]
    head = f"**{done[-1].data['text']}**"
    return Reply(text=f"{head}\n\n" + table(("Field", "Value"), rows[:MOST_SHOWN]))


@sentence(r"what is still empty in this .{1,100}?")
def empty(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    if not done:
        return _on_object("get_object", page)
    fields = done[-1].data["fields"]
    names = [name.replace("_", " ") for name, one in fields.items() if one in ("", [])]
    names += [name.replace("_", " ") for name, one in fields.items() if one is None]
    text = f"Empty: {', '.join(names)}." if names else "Nothing: every field is filled."
    return Reply(text=text)


@sentence(r"check this .{1,100}?")
def check(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    """Read the object and its history, and tick off a plan meanwhile."""
    if page.object_id is None:
        return Reply(text="Nothing is opened on this page.")
    if len(done) % 2 == 0:
        return call(PLAN, items=_ticked(len(done) // 2))
    if len(done) < 2 * len(CHECKS):
        return _on_object(CHECKS[len(done) // 2][1], page)
    fields, entries = done[1].data["fields"], done[3].data["entries"]
    blank = [name.replace("_", " ") for name, one in fields.items() if one in EMPTY]
    found = f"is empty: {', '.join(blank)}" if blank else "nothing is empty"
    count = len(entries)
    times = {0: "no change", 1: "one change"}.get(count, f"{count} changes")
    return Reply(
        text=f"Of **{page.object_text}** {found}. Its history has {times} of it."
    )


def _ticked(done: int) -> list[dict[str, str]]:
    """Return the plan with its first items done, and the next one begun."""
    statuses = ["done"] * done + ["in_progress"] + ["pending"] * len(CHECKS)
    return [
        {"text": text, "status": status}
        for (text, _tool), status in zip(CHECKS, statuses, strict=False)
    ]


@sentence(r"who changed this .{1,100}?, and when")
def history(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    if not done:
        return _on_object("object_history", page)
    rows = [
        (one["time"][:16].replace("T", " "), one["user"], one["message"])
        for one in done[-1].data["entries"][:MOST_SHOWN]
    ]
    if not rows:
        return Reply(text="The history holds no change of it.")
    return Reply(text=table(("When", "Who", "What"), rows))


@sentence(r"change [“\"](?P<field>.{1,60}?)[”\"] of this .{1,100}?")
def change_field(match: re.Match[str], done: list[Outcome], page: Page) -> Reply:
    """Ask which value it is to have, then propose that."""
    if page.object_id is None:
        return Reply(text="Nothing is opened on this page.")
    fields = _fields(done)
    if fields is None:
        return call(DESCRIBE, model=page.model)
    field = _named(fields, match["field"])
    if not field:
        return Reply(text=f"“{match['field']}” cannot be changed here.")
    last = done[-1]
    if last.call.name == DESCRIBE:
        options = [
            {"id": str(one["value"]), "label": one["label"]}
            for one in field.get("choices", ())
        ]
        question = f"What should “{match['field']}” of {page.object_text} be?"
        return call("ask_user", question=question, options=options, kind="select")
    if last.call.name == "ask_user":
        values = {field["name"]: last.data["answer"]}
        return call("change_object", model=page.model, id=page.object_id, values=values)
    return Reply(text=str(last.data.get("message", "Done.")))


def _on_object(tool: str, page: Page) -> Reply:
    if page.object_id is None:
        return Reply(text="Nothing is opened on this page.")
    return call(tool, model=page.model, id=page.object_id)


# --- finding things ---


def model_of(many: str, done: list[Outcome], page: Page) -> str | Reply:
    """Return the model that is called so, or what to do or say instead."""
    known = known_models(done)
    if known is None:
        return call(LIST)
    said = " ".join(many.lower().split())
    named = [model for names, model in known if said in names]
    if page.model in named:
        return page.model
    return named[0] if named else Reply(text=f"I find no “{many}” that you may see.")


def known_models(done: list[Outcome]) -> list[tuple[set[str], str]] | None:
    """Return what the models are called, of many and of one; None: not looked up yet."""
    listed = next((one for one in done if one.call.name == LIST), None)
    if listed is None:
        return None
    return [(_names(one), one["model"]) for one in listed.data]


def _names(listed: dict[str, Any]) -> set[str]:
    many = listed["name"].lower()
    return {many, _one_of(many), listed["model"].rpartition(".")[2]}


def _one_of(many: str) -> str:
    """Return what one of many is called, as English mostly has it."""
    return f"{many[:-3]}y" if many.endswith("ies") else many.removesuffix("s")


def _fields(done: list[Outcome]) -> list[dict[str, Any]] | None:
    described = next((one for one in done if one.call.name == DESCRIBE), None)
    return described.data["fields"] if described else None


def _date_of(fields: list[dict[str, Any]]) -> str:
    dates = [one["name"] for one in fields if one["type"] in DATES]
    good = [name for name in dates if SINCE.search(name) and "last" not in name]
    return next(iter([*good, *dates]), "")


def _named(fields: list[dict[str, Any]], label: str) -> dict[str, Any] | None:
    wanted = label.lower()
    return next((one for one in fields if str(one["label"]).lower() == wanted), None)


def call(tool: str, **arguments: Any) -> Reply:
    """Return the call of a tool, without arguments that say nothing."""
    given = {name: value for name, value in arguments.items() if value not in ({}, "")}
    return Reply(call=Call(name=tool, arguments=given))


def _is_filled(value: Any) -> bool:
    return value not in ("", None, [], {})


def shown(value: Any) -> str:
    """Return a value of a row as a person reads it."""
    if isinstance(value, dict):
        value = value.get("text", value)
    if isinstance(value, list):
        value = ", ".join(map(shown, value))
    text = " ".join(str("-" if value is None else value).split())
    return text if len(text) <= VALUE_CHARS else f"{text[: VALUE_CHARS - 1]}…"
