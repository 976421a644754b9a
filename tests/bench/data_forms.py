"""CPU of the writes of the demo's forms, by their pages and by the tools."""

from django.test import Client

from project.questionnaires.models import Question, Questionnaire, QuestionType, Section
from tests.bench.data_rows import PAGE, Rows
from tests.bench.form_writes import REPEATS, measured
from tests.bench.report import emit, median
from tests.hosts.packages.cases import Case, add, change

TYPE, QUESTION = "questionnaires.questiontype", "questionnaires.question"
SECTION, WHOLE = "questionnaires.section", "questionnaires.questionnaire"


def measure(rows: Rows) -> None:
    """Print what each form takes over the POST of its page, and the medians."""
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(rows.user)
    writes = list(measured(_cases(rows), client, rows.user))
    assert all(one.is_direct for one in writes)
    for one in writes:
        over = one.tool_ms - one.page_ms
        note = f"{over / one.page_ms:.0%} of the page's {one.page_ms:.1f} ms"
        emit(f"form_cpu_{one.name}", over, "ms", n=REPEATS, note=note)
    over = median([one.tool_ms - one.page_ms for one in writes])
    share = median([one.tool_ms / one.page_ms - 1 for one in writes])
    note = f"at most 5 or 60 %; the median of the shares is {share:.0%}"
    emit("form_cpu_median", over, "ms", n=len(writes), note=note)


def _cases(rows: Rows) -> dict[str, Case]:
    page = rows.pages[0].pk
    section = Section.objects.filter(questions__isnull=False).order_by("pk")[0]
    question = section.questions.all()[0]
    return {
        "page_added": add(
            PAGE,
            {"title": "New", "text": "Words"},
            {"title": "New", "slug": "new", "text": "Words"},
        ),
        "page_changed": change(PAGE, page, {"title": "B"}, {"title": "B"}),
        "type_changed": change(
            TYPE, QuestionType.objects.all()[0].pk, {"label": "B"}, {"label": "B"}
        ),
        "question_changed": change(
            QUESTION, Question.objects.all()[0].pk, {"text": "B?"}, {"text": "B?"}
        ),
        "row_changed": change(
            SECTION,
            section.pk,
            {},
            {"questions-0-text": "How?"},
            more={"inlines": {"questions": [{"id": question.pk, "text": "How?"}]}},
        ),
        "three_inlines": change(
            WHOLE, Questionnaire.objects.all()[0].pk, {"title": "B"}, {"title": "B"}
        ),
    }
