"""What the scripted model says in the browser tests."""

from typing import Any

from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, status, text

RATE = 40  # tokens a second: about three seconds for the report

REPORT = """\
Here is **what was found**, in four parts.

1. The first point has *emphasis* and `code`.
2. The second point has a [link](/admin/questionnaires/) in it.
   - and a point below it

| Section | Questions | Share |
|---|---:|---|
| Welcome | 4 | a small one |
| Habits | 17 | most of all |

```python
def total(sections):
    # the fence closes late
    return sum(len(section.questions) for section in sections)
```

> A quotation of two lines,
> the second of which is this one.

The last paragraph says that the report ends here.
"""


COLOURS = [
    {"id": "r", "label": "Red", "description": "warm, and easy to see"},
    {"id": "g", "label": "Green"},
    {"id": "b", "label": "Blue"},
]


def reasoning(words: str, **more: Any) -> dict[str, Any]:
    return {"op": "reasoning", "text": words, **more}


SCRIPTS: dict[str, list[Any]] = {
    # reasoning, a call, then a text with every kind of block
    "report": [
        [
            reasoning("The person wants a report. First comes a look.", rate=RATE),
            text("One look first, then the report.", rate=RATE),
            call("echo", {"text": "a look"}),
        ],
        [text(REPORT, rate=RATE)],
    ],
    # the same at once
    "quick-report": [
        [
            reasoning("The person wants a report. First comes a look."),
            text("One look first, then the report."),
            call("echo", {"text": "a look"}),
        ],
        [text(REPORT, rate=200)],
    ],
    # another text each time that it is told, after a call
    "approval": [
        [text("This needs a yes."), call("needs_approval", {"text": "a wish"})],
        [text("That is settled.")],
    ],
    "question": [
        [call("archive_questionnaire", {"title": "a"})],
        [text("That was the question.")],
    ],
    "ask-select": [
        [call("ask_user", {"question": "Which colour?", "options": COLOURS})],
        [text("That was the question.")],
    ],
    "ask-several": [
        [
            call(
                "ask_user",
                {
                    "question": "Which colours?",
                    "kind": "multi_select",
                    "options": COLOURS,
                    "strict": True,
                },
            )
        ],
        [text("That was the question.")],
    ],
    "ask-confirm": [
        [call("ask_user", {"question": "Shall it be red?", "kind": "confirm"})],
        [text("That was the question.")],
    ],
    "delete": [
        [call("delete_section", {"section_id": 3})],
        [text("That is settled.")],
    ],
    "progress": [
        [call("slow", {"seconds": 3})],
        [text("The long task is done.")],
    ],
    "long-progress": [
        [call("slow", {"seconds": 60})],
        [text("The long task is done.")],
    ],
    # goes on until somebody stops it
    "endless": [[text("It begins with these words."), {"op": "hang"}]],
    "slow-failure": [
        [text("This takes a while and then ends badly.", rate=8), {"op": "cut"}],
    ],
    "fails-once": [[status(500, "Try later.", times=2), text("At last.")]],
    "think-and-call": [
        [reasoning("First comes a look."), call("echo", {"text": "a look"})],
        [text("Looked.")],
    ],
    "rename": [
        [call("rename_section", {"section_id": 2, "title": "Welcome"})],
        [text("Renaming was tried.")],
    ],
    # thinks until the test lets it answer
    "think": [
        [
            reasoning("Weighing one thing against another."),
            {"op": "hold", "name": "thought"},
            text("The answer is short."),
        ]
    ],
    "held-progress": [
        [call("held_task", {"name": "progress", "pieces": 3})],
        [text("The long task is done.")],
    ],
    "held-elsewhere": [
        [call("held_task", {"name": "elsewhere", "pieces": 1})],
        [text("The long task is done.")],
    ],
    # fails once the test lets it
    "held-failure": [
        [
            text("This takes a while"),
            {"op": "hold", "name": "failure"},
            text(" and then ends badly."),
            {"op": "cut"},
        ]
    ],
    # the report, of which the most comes when the test lets it
    "held-report": [
        [
            reasoning("The person wants a report. First comes a look."),
            text("One look first, then the report."),
            call("echo", {"text": "a look"}),
        ],
        [
            text("This was found.\n\n"),
            {"op": "hold", "name": "found"},
            text(REPORT, rate=RATE),
        ],
    ],
}


def register(model: ModelServerProcess) -> None:
    for name, steps in SCRIPTS.items():
        model.script(name, steps)
