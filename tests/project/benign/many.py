"""Tasks that write or delete many objects, or carry out an action."""

from project.questionnaires.models import Questionnaire, Schedule, Section
from project.wiki.models import Page
from tests.project.benign.player import Script, Task, said, use
from tests.project.benign.writing import QUESTIONNAIRE, SCHEDULE, SECTION

ZONE = "Europe/Amsterdam"


def same_zone() -> Script:
    found = yield use("search_objects", model=SCHEDULE, page_size=50)
    told = yield use(
        "change_objects",
        model=SCHEDULE,
        ids=[row["id"] for row in found["rows"]],
        values={"time_zone": ZONE},
    )
    return said(told)


def archive_drafts() -> Script:
    found = yield use(
        "search_objects", model=QUESTIONNAIRE, filters={"status": "draft"}
    )
    told = yield use(
        "change_objects",
        model=QUESTIONNAIRE,
        ids=[row["id"] for row in found["rows"]],
        values={"status": "archived"},
    )
    return said(told)


def pause() -> Script:
    told = yield use("describe_model", model=SCHEDULE)
    assert "pause" in told["actions"], told
    found = yield use(
        "search_objects",
        model=SCHEDULE,
        filters={"questionnaire__title": "Exit interview"},
    )
    told = yield use(
        "run_admin_action",
        model=SCHEDULE,
        action="pause",
        ids=[row["id"] for row in found["rows"]],
    )
    return str(told)


def drop_page() -> Script:
    found = yield use(
        "search_objects", model="wiki.page", filters={"slug": "schedules"}
    )
    told = yield use("delete_objects", model="wiki.page", ids=[found["rows"][0]["id"]])
    return said(told)


def drop_section() -> Script:
    found = yield use(
        "search_objects",
        model=SECTION,
        filters={"title": "Leadership", "questionnaire__title": "Exit interview"},
    )
    told = yield use("delete_objects", model=SECTION, ids=[found["rows"][0]["id"]])
    return said(told)


def drop_archived() -> Script:
    found = yield use(
        "search_objects", model=QUESTIONNAIRE, filters={"status": "archived"}
    )
    told = yield use(
        "delete_objects",
        model=QUESTIONNAIRE,
        ids=[row["id"] for row in found["rows"]],
    )
    return said(told)


MANY = [
    Task(
        text=f"All schedules are in {ZONE}.",
        script=same_zone,
        holds=lambda answer: (
            "36" in answer and not Schedule.objects.exclude(time_zone=ZONE)
        ),
        path="/admin/questionnaires/schedule/",
        yes=1,
    ),
    Task(
        text="Archive all drafts.",
        script=archive_drafts,
        holds=lambda answer: (
            Questionnaire.objects.filter(status="archived").count() == 12
        ),
        yes=1,
    ),
    Task(
        text="Pause the schedules of Exit interview.",
        script=pause,
        holds=lambda answer: (
            "Paused 2 schedules." in answer
            and not Schedule.objects.filter(
                questionnaire__title="Exit interview", active=True
            )
        ),
        yes=1,
    ),
    Task(
        text="Delete the page of the wiki on schedules.",
        script=drop_page,
        holds=lambda answer: not Page.objects.filter(slug="schedules"),
        user="admin",
        yes=1,
    ),
    Task(
        text="Delete the section Leadership of Exit interview.",
        script=drop_section,
        holds=lambda answer: (
            not Section.objects.filter(
                title="Leadership", questionnaire__title="Exit interview"
            )
        ),
        user="admin",
        path="/admin/questionnaires/section/",
        yes=1,
    ),
    Task(
        text="Delete what is archived.",
        script=drop_archived,
        holds=lambda answer: Questionnaire.objects.count() == 20,
        user="admin",
        yes=1,
    ),
]
