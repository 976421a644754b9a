from tests.hosts.packages.cases import change
from tests.hosts.packages.polls import POLL, POLLS, make_polls

OF_THE_PAGE = {"text"}  # the editor writes an empty paragraph into it
CASES = POLLS | {
    "change a row": change(
        POLL,
        1,
        {"text": "<p>More</p>"},
        {"text": "<p>More</p>", "choices-0-label": "No"},
        more={"inlines": {"choices": [{"id": 1, "label": "No"}]}},
    )
}
make = make_polls
