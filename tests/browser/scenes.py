"""Every state of the panel, as scenes that a script can play."""

import json
from collections.abc import Callable
from typing import Any

from tests.browser import (
    agent_scenes,
    approval_scenes,
    page_scenes,
    panel_scenes,
    undo_scenes,
)
from tests.browser.panel import Panel
from tests.model_server.scripts import call, status, text

Missing = panel_scenes.Missing  # for who plays them
HANG = {"op": "hang"}
TABLE = """\
Three drafts could be published:

| Id | Title | Questions |
|---:|---|---:|
| 4 | Knee replacement: before surgery | 14 |
| 14 | Leadership feedback for team leads | 18 |
| 22 | Mobile app usability study | 12 |

The **second** has a section without questions. This shows it:

```python
for section in questionnaire.sections.all():
    if not section.questions.exists():
        print(section.title)  # Closing words
```

- Publish the first and the third.
- Leave the second until its [last section](/admin/questionnaires/section/) is done.
"""
PLAN = [
    {"text": "List the drafts", "status": "done"},
    {"text": "Count the questions of each of their sections", "status": "in_progress"},
    {"text": "Say which are ready", "status": "pending"},
]
FOLLOWUPS = [
    "Publish Knee replacement: before surgery",
    "Which questions does Leadership feedback for team leads have?",
    "Who wrote them?",
]
WRITTEN = [
    "Which of its questions do patients skip most often?",
    "Is the wording of the last section easy enough to understand?",
    "What is still missing before it can be published?",
]
SCRIPTS: dict[str, list[Any]] = {
    "empty-awaits": [[HANG]],
    "empty-written": [[text(json.dumps(WRITTEN))]],
    "thinking": [[HANG]],
    "reasoning": [
        [
            {
                "op": "reasoning",
                "text": "The wish asks for drafts that are ready. A draft is ready if "
                "it has at least one question in each section. The list of drafts "
                "comes first, then the number of questions of each.",
            },
            HANG,
        ]
    ],
    "streaming": [
        [
            {"op": "reasoning", "text": "The list of drafts tells which are ready."},
            call("list_questionnaires", {"status": "draft"}),
        ],
        [text(TABLE[:270]), HANG],
    ],
    "progress": [
        [
            text("The positions have gaps. Numbering them anew takes some seconds."),
            call("slow", {"seconds": 60}),
        ]
    ],
    "done": [
        [
            {"op": "reasoning", "text": "The list of drafts tells which are ready."},
            call("list_questionnaires", {"status": "draft"}),
        ],
        [call("count_questions")],
        [text(TABLE)],
    ],
    "shared-page": [
        [
            call("search_objects", {"model": "questionnaires.questionnaire"}),
            call("list_questionnaires", {"status": "draft"}, index=1),
        ],
        [
            call(
                "change_object",
                {
                    "model": "questionnaires.section",
                    "id": 3,
                    "values": {"title": "A few words"},
                },
            )
        ],
        [text(TABLE)],
    ],
    "plan": [
        [
            text("Three things have to be looked at."),
            call("update_plan", {"items": PLAN}),
            call("count_questions", index=1),
        ],
        [text("The second one has a section without questions."), HANG],
    ],
    "plan-twice": [
        [
            text("Three things have to be looked at."),
            call("update_plan", {"items": [{**PLAN[1]}, {**PLAN[2]}]}),
            call("count_questions", index=1),
            call("update_plan", {"items": PLAN}, index=2),
        ],
        [text("The second one has a section without questions."), HANG],
    ],
    "summary": [
        [text("Three drafts could be published; the **survey** has no questions.")]
    ],
    "followups": [[text(TABLE), call("suggest_followups", {"items": FOLLOWUPS})]],
    "approval": [
        [
            text("Section 3 is called “About you”. This gives it the new title."),
            call("rename_section", {"section_id": 3, "title": "A few words about you"}),
        ],
        [text("It was left as it is.")],
    ],
    "destructive": [
        [
            text("Deleting takes the questions of the section along."),
            call("delete_section", {"section_id": 3}),
        ],
        [text("It was left as it is.")],
    ],
    "question": [
        [call("archive_questionnaire", {"title": "survey"})],
        [text("It was left as it is.")],
    ],
    "stopped": [[text(TABLE[:250]), HANG]],
    "failed-call": [
        [call("count_questions", {"questionnaire_id": 999})],
        [text("There is no questionnaire 999. Which one is meant?")],
    ],
    "error": [
        [text("Three drafts could be published. The first of th"), {"op": "cut"}]
    ],
    "error-key": [[status(401, "Incorrect API key provided.")]],
    "limited": [
        [call("count_questions", {"questionnaire_id": n})] for n in range(1, 14)
    ],
}


SCRIPTS |= approval_scenes.SCRIPTS | undo_scenes.SCRIPTS
SCRIPTS |= agent_scenes.SCRIPTS | page_scenes.SCRIPTS


def empty(panel: Panel) -> None:
    panel.input.wait_for()


def empty_awaits(panel: Panel) -> None:
    panel.goto("/admin/questionnaires/questionnaire/5/change/")
    panel.page.locator(".aia-awaits").wait_for()


def empty_written(panel: Panel) -> None:
    panel.goto("/admin/questionnaires/questionnaire/4/change/")
    panel.page.get_by_text(WRITTEN[-1]).wait_for()


def thinking(panel: Panel) -> None:
    panel.ask("Which drafts could be published?")
    panel.wait_state("thinking")


def reasoning(panel: Panel) -> None:
    panel.ask("Which drafts could be published?")
    panel.log.get_by_text("The wish asks for drafts").wait_for()


def streaming(panel: Panel) -> None:
    panel.ask("Which drafts could be published?")
    panel.wait_text("Leadership")


def progress(panel: Panel) -> None:
    panel.ask("Number all positions anew, please.")
    panel.card("slow").locator("progress").wait_for()
    clock = panel.card("slow").locator("[data-clock]")
    panel.wait(clock.inner_text, "the seconds")


def done(panel: Panel) -> None:
    panel.ask("Which drafts could be published?")
    panel.wait_done()


def plan(panel: Panel) -> None:
    panel.ask("Check all drafts.")
    panel.wait_text("The second")


def plan_twice(panel: Panel) -> None:
    """Two plans in one reply, with a card between: one list, as the later one says."""
    plan(panel)


def followups(panel: Panel) -> None:
    panel.ask("Which drafts could be published?")
    panel.page.locator(".aia-followups").wait_for()


def failed_call(panel: Panel) -> None:
    panel.ask("How many questions has number 999?")
    panel.wait_done()


def approval(panel: Panel) -> None:
    panel.ask("Call section 3 “A few words about you”.")
    panel.wait_state("waiting-approval")


def destructive(panel: Panel) -> None:
    panel.ask("Delete section 3.")
    panel.wait_state("waiting-approval")


def denied(panel: Panel) -> None:
    approval(panel)
    panel.deny("The old title is better.")
    panel.wait_done()


def question(panel: Panel) -> None:
    panel.ask("Archive the survey.")
    panel.wait_state("waiting-approval", "waiting-answer")
    if panel.state == "waiting-approval":
        panel.approve()
    panel.wait_state("waiting-answer")


def stopped(panel: Panel) -> None:
    panel.ask("Which drafts could be published?")
    panel.wait_text("Leadership")
    panel.stop()
    panel.wait_done()


def error(panel: Panel) -> None:
    panel.ask("Which drafts could be published?")
    panel.wait_done()


def error_key(panel: Panel) -> None:
    panel.ask("Which drafts could be published?")
    panel.wait_done()


def limited(panel: Panel) -> None:
    panel.ask("Count the questions of every questionnaire, one by one.")
    panel.wait_done()


def offline(panel: Panel) -> None:
    streaming(panel)
    panel.page.context.set_offline(True)
    panel.wait_state("offline")


def unsent(panel: Panel) -> None:
    done(panel)
    panel.page.context.set_offline(True)
    panel.wait_state("offline")
    panel.ask("Then publish the first one.")
    panel.page.wait_for_timeout(300)


def signed_out(panel: Panel) -> None:
    done(panel)
    panel.page.context.clear_cookies(name="sessionid")
    panel.ask("Then publish the first one.")
    panel.wait_state("signed-out")


def conversations(panel: Panel) -> None:
    panel.list_conversations()


def closed_at_work(panel: Panel) -> None:
    streaming(panel)
    closed(panel)


def closed(panel: Panel) -> None:
    panel.page.locator("#aia-close").click()


Scene = Callable[[Panel], None]
SAME_SCRIPT = {
    "denied": "approval",
    "closed-at-work": "streaming",
    "offline": "streaming",
    "unsent": "done",
    "signed-out": "done",
    **approval_scenes.SAME,
    **panel_scenes.SAME,
    **page_scenes.SAME,
}
SCENES: tuple[Scene, ...] = (
    *(empty, empty_awaits, empty_written, thinking, reasoning, streaming, progress),
    *(done, failed_call, approval),
    *(destructive, denied, question, stopped, error, error_key, limited, offline),
    *(unsent, conversations, closed, closed_at_work, signed_out, plan, plan_twice),
    followups,
    *approval_scenes.SCENES,
    *panel_scenes.SCENES,
    *undo_scenes.SCENES,
    *agent_scenes.SCENES,
    *page_scenes.SCENES,
)

SIGNED_IN_ANEW = (signed_out,)  # which ends a session: not that of the others
OPTIONS = panel_scenes.OPTIONS  # of a scene's browser
SETTINGS = panel_scenes.SETTINGS  # of a scene's server
BESIDE = agent_scenes.BESIDE  # what other models say in a scene


def name_of(scene: Scene) -> str:
    return scene.__name__.replace("_", "-")


def script_of(scene: Scene) -> list[Any]:
    """Return what the model says in a scene."""
    name = name_of(scene)
    return SCRIPTS.get(SAME_SCRIPT.get(name, name), [[text("Nothing is asked.")]])
