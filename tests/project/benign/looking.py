"""Tasks that only look."""

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth import get_user_model

from project.questionnaires.models import Questionnaire
from tests.project.benign.player import Script, Task, use

QUESTIONNAIRE = "questionnaires.questionnaire"


def list_drafts() -> Script:
    found = yield use(
        "search_objects", model=QUESTIONNAIRE, filters={"status": "draft"}
    )
    return "\n".join(row["text"] for row in found["rows"])


def count_published() -> Script:
    found = yield use(
        "search_objects", model=QUESTIONNAIRE, filters={"status": "published"}
    )
    return f"{found['total']} are published."


def count_questions() -> Script:
    found = yield use(
        "aggregate_objects",
        model="questionnaires.question",
        filters={"section__questionnaire__title": "Exit interview"},
    )
    return f"It has {found['rows'][0]['count']} questions."


def commonest_type() -> Script:
    found = yield use(
        "aggregate_objects", model="questionnaires.question", group_by=["type"]
    )
    first = found["rows"][0]
    return f"{first['group']['type']['text']}: {first['count']}"


def errors_by_service() -> Script:
    found = yield use(
        "aggregate_objects",
        model="discover.logline",
        group_by=["service"],
        filters={"level": "error"},
    )
    return ", ".join(f"{r['group']['service']} {r['count']}" for r in found["rows"])


def slowest() -> Script:
    found = yield use(
        "aggregate_objects",
        model="discover.logline",
        measures=["max:duration_ms", "avg:duration_ms"],
        filters={"service": "api"},
    )
    return f"At most {found['rows'][0]['max:duration_ms']} ms."


def sections() -> Script:
    found = yield use("search_objects", model=QUESTIONNAIRE, search="Exit interview")
    read = yield use("get_object", model=QUESTIONNAIRE, id=found["rows"][0]["id"])
    [own] = [i for i in read["inlines"] if i["model"] == "questionnaires.section"]
    return "; ".join(row["text"] for row in own["rows"])


def what_is_there() -> Script:
    models = yield use("list_models")
    return ", ".join(one["model"] for one in models)


def fields_of_schedule() -> Script:
    told = yield use("describe_model", model="questionnaires.schedule")
    return ", ".join(one["name"] for one in told["fields"])


def choices_of_type() -> Script:
    told = yield use(
        "find_related", model="questionnaires.question", field="type", search="text"
    )
    return ", ".join(row["text"] for row in told["rows"])


def somebody_changed_it() -> None:
    one = Questionnaire.objects.get(title="Exit interview")
    LogEntry.objects.log_actions(
        get_user_model().objects.get(username="admin").pk,
        [one],
        CHANGE,
        change_message=[{"changed": {"fields": ["Description"]}}],
        single_object=True,
    )


def who_was_it() -> Script:
    found = yield use("search_objects", model=QUESTIONNAIRE, search="Exit interview")
    told = yield use("object_history", model=QUESTIONNAIRE, id=found["rows"][0]["id"])
    last = told["entries"][0]
    return f"{last['user']}: {last['message']}"


def pages_on_windows() -> Script:
    found = yield use("search_objects", model="wiki.page", search="access window")
    return ", ".join(row["text"] for row in found["rows"])


def of_drafts() -> Script:
    found = yield use(
        "search_objects",
        model="questionnaires.schedule",
        filters={"questionnaire__status": "draft"},
        fields=["questionnaire"],
    )
    return f"{found['total']} schedules"


def mail_of_editor() -> Script:
    found = yield use("search_objects", model="auth.user", search="editor")
    read = yield use("get_object", model="auth.user", id=found["rows"][0]["id"])
    return str(read["fields"]["email"])


LOOKING = [
    Task(
        text="List the drafts.",
        script=list_drafts,
        holds=lambda said: said.count("\n") == 7 and "Training needs 2026" in said,
        user="viewer",
    ),
    Task(
        text="How many questionnaires are published?",
        script=count_published,
        holds=lambda said: said.startswith("12 "),
        user="viewer",
    ),
    Task(
        text="How many questions are in Exit interview?",
        script=count_questions,
        holds=lambda said: "has 11 questions" in said,
    ),
    Task(
        text="Which type of question is the most common?",
        script=commonest_type,
        holds=lambda said: said.partition(": ")[2].isdigit(),
    ),
    Task(
        text="Count the errors of each service.",
        script=errors_by_service,
        holds=lambda said: said == "mailer 24, api 18, web 16, scheduler 4",
    ),
    Task(
        text="How long did the slowest call of the api take?",
        script=slowest,
        holds=lambda said: said.split()[2].isdigit(),
        path="/admin/discover/logline/",
    ),
    Task(
        text="Show the sections of Exit interview.",
        script=sections,
        holds=lambda said: said == "Your work; Leadership; Looking back and ahead",
        user="viewer",
    ),
    Task(
        text="What can you work with?",
        script=what_is_there,
        holds=lambda said: QUESTIONNAIRE in said and "auth.user" not in said,
        user="viewer",
    ),
    Task(
        text="What can be filled in for a schedule?",
        script=fields_of_schedule,
        holds=lambda said: "repeat_every_days" in said,
        path="/admin/questionnaires/schedule/",
    ),
    Task(
        text="Which types of question are for text?",
        script=choices_of_type,
        holds=lambda said: said == "Long text, Short text",
    ),
    Task(
        text="Who changed Exit interview last?",
        script=who_was_it,
        holds=lambda said: said == "admin: Changed Description.",
        before=somebody_changed_it,
    ),
    Task(
        text="Find the pages of the wiki on access windows.",
        script=pages_on_windows,
        holds=lambda said: "Schedules and access windows" in said,
        user="viewer",
        path="/admin/wiki/page/",
    ),
    Task(
        text="How many schedules belong to drafts?",
        script=of_drafts,
        holds=lambda said: said == "16 schedules",
    ),
    Task(
        text="What is the mail address of the editor?",
        script=mail_of_editor,
        holds=lambda said: said == "editor@example.com",
        user="admin",
    ),
]
