"""A tool that changes hundreds of rows, and a site that is slow, or refuses, later."""

import time
from typing import Any, Literal

from django.db.models.signals import pre_save

import ai_assistant
from project.questionnaires.models import Question

MARK = "Please answer: "
MANY = 260
REFUSED = 70  # of them, the oldest first: the newest are undone first
SLOW_S = 0.02

fault: dict[str, Any] = {}


@ai_assistant.tool(effect="write", policy="allow", label="Word questions anew")
def word_anew(then: Literal["", "slow", "refuse"] = "") -> str:
    """Give many questions another text; `then`: what the site does when it is undone."""
    questions = list(Question.objects.order_by("pk")[:MANY])
    fault.clear()
    for one in questions:
        is_marked = one.text.startswith(MARK)
        one.text = one.text.removeprefix(MARK) if is_marked else f"{MARK}{one.text}"
        one.save()
    fault.update(then=then, key=questions[REFUSED].pk)
    return f"{len(questions)} questions have another text."


def go_wrong(instance: Question, **_: Any) -> None:
    if fault.get("then") == "slow":
        time.sleep(SLOW_S)
    if fault.get("then") == "refuse" and instance.pk == fault["key"]:
        raise RuntimeError("The site refuses this question.")


pre_save.connect(go_wrong, sender=Question)
