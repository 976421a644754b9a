"""Tasks that write one object or what belongs to it."""

from datetime import date

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group

from project.questionnaires.models import Question, Questionnaire, Schedule
from project.wiki.models import Page
from tests.project.benign.player import Script, Task, said, use

QUESTIONNAIRE = "questionnaires.questionnaire"
QUESTION = "questionnaires.question"
SCHEDULE = "questionnaires.schedule"
SECTION = "questionnaires.section"
MINE = {"name": "end_recommend", "section__questionnaire__title": "Exit interview"}


def exit_interview() -> Questionnaire:
    return Questionnaire.objects.get(title="Exit interview")


def mine() -> Question:
    return Question.objects.get(**MINE)


def describe_it() -> Script:
    found = yield use("search_objects", model=QUESTIONNAIRE, search="Exit interview")
    [row] = found["rows"]
    told = yield use(
        "change_object",
        model=QUESTIONNAIRE,
        id=row["id"],
        values={"description": "Asked in the last week of work."},
        version=row["version"],
    )
    return said(told)


def new_page() -> Script:
    told = yield use(
        "create_object",
        model="wiki.page",
        values={"title": "Holidays", "slug": "holidays", "text": "Ask your lead."},
    )
    return said(told)


def new_group() -> Script:
    told = yield use("create_object", model="auth.group", values={"name": "Editors"})
    return said(told)


def name_the_editor() -> Script:
    found = yield use(
        "search_objects", model="auth.user", filters={"username": "editor"}
    )
    told = yield use(
        "change_object",
        model="auth.user",
        id=found["rows"][0]["id"],
        values={"first_name": "Edda", "last_name": "Itor"},
    )
    return said(told)


def other_type() -> Script:
    found = yield use("search_objects", model=QUESTION, filters=MINE)
    types = yield use("find_related", model=QUESTION, field="type", search="agreement")
    told = yield use(
        "change_object",
        model=QUESTION,
        id=found["rows"][0]["id"],
        values={"type": types["rows"][0]["id"]},
    )
    return said(told)


def new_schedule() -> Script:
    """The first try misses the date; the form says so before anybody is asked."""
    found = yield use("search_objects", model=QUESTIONNAIRE, search="Exit interview")
    values = {
        "questionnaire": found["rows"][0]["id"],
        "name": "Once",
        "anchor": "fixed_date",
    }
    told = yield use("create_object", model=SCHEDULE, values=values)
    missing = told["data"]["fields"]
    assert list(missing) == ["anchor_date"], missing
    values["anchor_date"] = "2026-03-01"
    told = yield use("create_object", model=SCHEDULE, values=values)
    return said(told)


def add_language() -> Script:
    found = yield use(
        "search_objects",
        model=QUESTIONNAIRE,
        search="Exit interview",
        fields=["languages"],
    )
    [row] = found["rows"]
    told = yield use(
        "change_object",
        model=QUESTIONNAIRE,
        id=row["id"],
        values={"languages": [*row["fields"]["languages"], "nl"]},
    )
    return said(told)


WRITING = [
    Task(
        text="Describe Exit interview as: Asked in the last week of work.",
        script=describe_it,
        holds=lambda _said: exit_interview().description.startswith(
            "Asked in the last"
        ),
        yes=1,
    ),
    Task(
        text="Make a page Holidays in the wiki: Ask your lead.",
        script=new_page,
        holds=lambda _said: Page.objects.get(slug="holidays").text == "Ask your lead.",
        path="/admin/wiki/page/",
        yes=1,
    ),
    Task(
        text="Make a group Editors.",
        script=new_group,
        holds=lambda _said: Group.objects.filter(name="Editors").exists(),
        user="admin",
        yes=1,
    ),
    Task(
        text="The editor is called Edda Itor.",
        script=name_the_editor,
        holds=lambda _said: (
            get_user_model().objects.get(username="editor").get_full_name()
            == "Edda Itor"
        ),
        user="admin",
        yes=1,
    ),
    Task(
        text="Let “How likely are you to recommend us” be answered by agreement.",
        script=other_type,
        holds=lambda _said: mine().type.slug == "agreement",
        yes=1,
    ),
    Task(
        text="Schedule Exit interview once, on the first of March 2026.",
        script=new_schedule,
        holds=lambda _said: (
            Schedule.objects.get(name="Once").anchor_date == date(2026, 3, 1)
        ),
        yes=1,
    ),
    Task(
        text="Exit interview is to be in Dutch too.",
        script=add_language,
        holds=lambda _said: exit_interview().languages[-1] == "nl",
        yes=1,
    ),
]
