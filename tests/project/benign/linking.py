"""Tasks that write what belongs to an object: rows of inlines, many-to-many fields."""

from project.questionnaires.models import ScheduleSection, Section
from project.wiki.models import Page
from tests.project.benign.player import Script, Task, said, use
from tests.project.benign.writing import (
    MINE,
    QUESTION,
    QUESTIONNAIRE,
    SCHEDULE,
    SECTION,
    exit_interview,
    mine,
)


def rename_section() -> Script:
    found = yield use("search_objects", model=QUESTIONNAIRE, search="Exit interview")
    one = found["rows"][0]["id"]
    read = yield use("get_object", model=QUESTIONNAIRE, id=one)
    rows = {row["text"]: row["id"] for row in read["inlines"][0]["rows"]}
    told = yield use(
        "change_object",
        model=QUESTIONNAIRE,
        id=one,
        values={},
        inlines={SECTION: [{"id": rows["Your work"], "title": "Your job"}]},
    )
    return said(told)


def section_and_variable() -> Script:
    found = yield use("search_objects", model=QUESTIONNAIRE, search="Exit interview")
    told = yield use(
        "change_object",
        model=QUESTIONNAIRE,
        id=found["rows"][0]["id"],
        values={},
        inlines={
            SECTION: [{"title": "Thanks", "position": 9}],
            "questionnaires.scoringvariable": [
                {"name": "mood", "label": "Mood", "type": "number", "default": 0}
            ],
        },
    )
    return said(told)


def without_translation() -> Script:
    found = yield use("search_objects", model=QUESTION, filters=MINE)
    one = found["rows"][0]["id"]
    read = yield use("get_object", model=QUESTION, id=one)
    [rows] = [i["rows"] for i in read["inlines"] if i["model"].endswith("translation")]
    told = yield use(
        "change_object",
        model=QUESTION,
        id=one,
        values={},
        inlines={
            "questionnaires.questiontranslation": [
                {"id": rows[0]["id"], "DELETE": True}
            ]
        },
    )
    return said(told)


def with_translation() -> None:
    mine().translations.create(language="nl", text="Hoe waarschijnlijk is het?")


def sections_of_schedule() -> Script:
    found = yield use("search_objects", model=SCHEDULE, search="Exit interview")
    [first, *_rest] = found["rows"]
    there = yield use(
        "find_related",
        model=SCHEDULE,
        field="questionnaires.schedulesection.section",
        search="Leadership",
    )
    mine = yield use(
        "search_objects",
        model=SECTION,
        filters={"title": "Leadership", "questionnaire__title": "Exit interview"},
    )
    ids = {row["id"] for row in there["rows"]}
    assert mine["rows"][0]["id"] in {*map(int, ids)}
    told = yield use(
        "change_object",
        model=SCHEDULE,
        id=first["id"],
        values={},
        inlines={
            "questionnaires.schedulesection": [
                {"section": mine["rows"][0]["id"], "position": 5}
            ]
        },
    )
    return said(told)


def see_also() -> Script:
    pages = yield use("search_objects", model="wiki.page", fields=["slug"])
    ids = {row["fields"]["slug"]: row["id"] for row in pages["rows"]}
    told = yield use(
        "change_object",
        model="wiki.page",
        id=ids["publishing"],
        values={"see_also": [ids["schedules"], ids["translations"]]},
    )
    return said(told)


def two_seen() -> None:
    page = Page.objects.get(slug="publishing")
    page.see_also.set(Page.objects.filter(slug__in=["schedules", "translations"]))


def see_one_less() -> Script:
    found = yield use(
        "search_objects", model="wiki.page", filters={"slug": "publishing"}
    )
    one = found["rows"][0]["id"]
    read = yield use("get_object", model="wiki.page", id=one)
    left = [
        seen["id"]
        for seen in read["fields"]["see_also"]
        if seen["text"] != "Translating questions"
    ]
    told = yield use(
        "change_object", model="wiki.page", id=one, values={"see_also": left}
    )
    return said(told)


LINKING = [
    Task(
        text="Drop the Dutch translation of “How likely are you to recommend us”.",
        script=without_translation,
        before=with_translation,
        holds=lambda _said: not mine().translations.filter(language="nl"),
        user="admin",
        yes=1,
    ),
    Task(
        text="The first schedule of Exit interview asks Leadership as well.",
        script=sections_of_schedule,
        holds=lambda _said: ScheduleSection.objects.filter(
            section=Section.objects.get(
                title="Leadership", questionnaire=exit_interview()
            ),
            position=5,
        ).exists(),
        yes=1,
    ),
    Task(
        text="Publishing is to point to schedules and translations.",
        script=see_also,
        holds=lambda _said: Page.objects.get(slug="publishing").see_also.count() == 2,
        path="/admin/wiki/page/",
        yes=1,
    ),
    Task(
        text="Publishing is not to point to translations any more.",
        script=see_one_less,
        before=two_seen,
        holds=lambda _said: (
            Page.objects.get(slug="publishing").see_also.get().slug == "schedules"
        ),
        yes=1,
    ),
]
INLINES_ONLY = [
    Task(
        text="Call the section Your work of Exit interview Your job.",
        script=rename_section,
        holds=lambda _said: exit_interview().sections.first().title == "Your job",
        yes=1,
    ),
    Task(
        text="Add a section Thanks and a number mood to Exit interview.",
        script=section_and_variable,
        holds=lambda _said: (
            exit_interview().sections.last().title == "Thanks"
            and exit_interview().variables.filter(name="mood").exists()
        ),
        yes=1,
    ),
]
