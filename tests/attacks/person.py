"""A person at a browser: what she does are requests to the real views."""

import uuid
from typing import Any

from django.test import Client
from django.urls import reverse

from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import Run
from tests.engine.conftest import resume

SCRIPT = {"HX-Request": "true"}


class Person:
    def __init__(self, user: Any, **options: Any) -> None:
        self.user = user
        self.client = Client(**options)
        self.client.force_login(user)

    def post(self, name: str, fields: dict[str, Any], **options: Any) -> Any:
        address = reverse(f"ai_assistant:{name}")
        return self.client.post(address, fields, headers=SCRIPT, **options)

    def say(self, text: str = "Hello", run: Run | None = None, **fields: Any) -> Any:
        """Send a message, in the conversation of `run` or a new one."""
        own = {
            "conversation": str(run.conversation_id if run else uuid.uuid4()),
            "key": uuid.uuid4().hex,
            "text": text,
            "path": "/admin/",
        }
        return self.post("send", {**own, **fields})

    def ask(self, text: str = "Hello", run: Run | None = None, **fields: Any) -> Run:
        """Send a message and have its run executed until it ends or waits."""
        response = self.say(text, run, **fields)
        assert response.status_code == 204, response.content
        return resume(Run.objects.filter(user=self.user).latest("created_at"))

    def answer(
        self, interrupt: Interrupt, decision: str = "approve", **fields: Any
    ) -> Any:
        own = {
            "interrupt": interrupt.pk,
            "nonce": interrupt.nonce,
            "decision": decision,
        }
        return self.post("answer", {**own, **fields})

    def answer_all(self, run: Run, decision: str = "approve", **fields: Any) -> None:
        """Answer whatever is open."""
        for interrupt in open_of(run):
            self.answer(interrupt, decision, **fields)


def open_of(run: Run) -> list[Interrupt]:
    return list(run.interrupts.filter(status="open"))


def card(run: Run) -> Interrupt:
    """Return the only open approval of `run`."""
    return run.interrupts.get(status="open", kind="approval")


def go_on(run: Run) -> Run:
    """Execute the run if it can go on."""
    run.refresh_from_db()
    return resume(run) if run.state == "queued" else run
