"""Talks to the model without a key, in the site of the tutorial."""

import asyncio
import json
import os
import sys
import uuid

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "mysite.settings"
django.setup()

from django.contrib.auth import get_user_model  # noqa: E402
from shop.models import Order  # noqa: E402

from ai_assistant.engine.execution.runner import execute  # noqa: E402
from ai_assistant.engine.execution.sweep import claim_runs  # noqa: E402
from ai_assistant.engine.intake.submission import accept  # noqa: E402
from ai_assistant.engine.intake.values import Submission  # noqa: E402
from ai_assistant.engine.interrupts.answers import answer  # noqa: E402
from ai_assistant.engine.interrupts.base import Answer  # noqa: E402
from ai_assistant.engine.lifecycle.writer import Flusher  # noqa: E402
from ai_assistant.engine.storage.lease import this_process  # noqa: E402
from ai_assistant.models import Run  # noqa: E402

user = get_user_model().objects.create_superuser("bert", password="x")


def carry_on(hold):
    asyncio.run(execute(hold, Flusher()))
    return Run.objects.get(pk=hold.run_id)


def say(text):
    """Send a message and approve what it asks; return states and the last text."""
    submission = Submission(
        user_id=user.pk, conversation_id=uuid.uuid4(), key=uuid.uuid4().hex, text=text
    )
    run = carry_on(accept(submission, owner=this_process()).hold)
    states = [run.state]
    for asked in run.interrupts.filter(status="open"):
        answer(
            Answer(
                user_id=user.pk,
                interrupt_id=asked.pk,
                nonce=asked.nonce,
                decision="approve",
            )
        )
        (hold,) = claim_runs(this_process(), 1)
        run = carry_on(hold)
        states.append(run.state)
    said = run.messages.filter(role="assistant").order_by("position")
    return states, said.last().text


order = Order.objects.create(customer="Ada", total="100.00")
told = {
    "called": say(f'mark_paid {{"order_id": {order.pk}}}'),
    "lost": say("Give me a list"),
}
sys.stdout.write(json.dumps(told))
