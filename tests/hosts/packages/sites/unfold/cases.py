from tests.hosts.packages.cases import change
from tests.hosts.packages.polls import POLLS, make_polls
from tests.hosts.packages.sites.unfold.models import Option, Question, Survey

PAGES = ["/admin/host/poll/"]
SURVEY = "host.survey"
# A new row of a table has no input there for what it belongs to.
OF_THE_PAGE = {"questions-0-options-1-question"}
NESTED = {
    "change the title above nested rows": change(
        SURVEY, 1, {"title": "B"}, {"title": "B"}
    ),
    "change a nested row": change(
        SURVEY,
        1,
        {},
        {"questions-0-options-0-label": "Other"},
        more={
            "inlines": {
                "questions": [{"id": 1, "options": [{"id": 1, "label": "Other"}]}]
            }
        },
    ),
    "add a nested row": change(
        SURVEY,
        1,
        {},
        {"questions-0-options-1-label": "New"},
        more={"inlines": {"questions": [{"id": 1, "options": [{"label": "New"}]}]}},
        rows=["questions-0-options"],
    ),
    "remove a nested row": change(
        SURVEY,
        1,
        {},
        {"questions-0-options-0-DELETE": "on"},
        more={
            "inlines": {
                "questions": [{"id": 1, "options": [{"id": 1, "DELETE": True}]}]
            }
        },
    ),
}
CASES = NESTED | POLLS
# What a person does with several clicks: the form is filled in, and looked at.
FILLED = {
    "add a row with rows in it": change(
        SURVEY,
        1,
        {},
        {},
        more={
            "inlines": {
                "questions": [
                    {"text": "New", "options": [{"label": "One"}, {"label": "Two"}]}
                ]
            }
        },
    ),
}


def make() -> None:
    make_polls()
    survey = Survey.objects.create(pk=1, title="A")
    question = Question.objects.create(pk=1, survey=survey, text="Q")
    Option.objects.create(pk=1, question=question, label="O")
