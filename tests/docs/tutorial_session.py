"""
Talks in the site of the tutorial, as its text says, and tells what came of it.

The engine is the real one; the model plays a script.
"""

import asyncio
import json
import os
import sys
import uuid

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "mysite.settings"
django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth import get_user_model  # noqa: E402
from shop.models import Order  # noqa: E402

from ai_assistant.engine import service  # noqa: E402
from ai_assistant.engine.intake.values import Submission  # noqa: E402
from ai_assistant.engine.interrupts.base import Answer  # noqa: E402
from ai_assistant.engine.storage.units import in_db  # noqa: E402
from ai_assistant.models import Interrupt, Run  # noqa: E402
from ai_assistant.testing import ScriptedProvider, call, reply  # noqa: E402

script = ScriptedProvider()
settings.AI_ASSISTANT["PROFILES"]["default"] = {
    "PROVIDER": "ai_assistant.testing.ScriptedProvider",
    "MODEL": "scripted",
    "SCRIPT": script,
}
user = get_user_model().objects.create_superuser("tutor", password="x")


def waiting(run_id):
    """Return what the run waits for: a kind, and the means to answer it."""
    run = Run.objects.get(pk=run_id)
    if run.is_final:
        return run.state, None
    if run.state not in ("waiting_approval", "waiting_answer"):
        return "", None
    return run.state, run.interrupts.get(
        status=Interrupt.Status.OPEN, kind__in=["approval", "question"]
    )


async def talk(tool, arguments, **answers):
    """Let the model call `tool`; return the states of the run and the result."""
    script.add(reply("", call(tool, arguments)), reply("Done."))
    accepted = await service.send(
        Submission(
            user_id=user.pk,
            conversation_id=uuid.uuid4(),
            key=uuid.uuid4().hex,
            text="Please",
        )
    )
    states = []
    while True:
        state, interrupt = await in_db(waiting, accepted.run_id)
        if state:
            states.append(state)
        if interrupt is not None:
            given = Answer(
                user_id=user.pk,
                interrupt_id=interrupt.pk,
                nonce=interrupt.nonce,
                **answers[interrupt.kind],
            )
            await service.answer(given)
        elif state:
            return states, await in_db(result, accepted.run_id)
        await asyncio.sleep(0.02)


def result(run_id):
    one = Run.objects.get(pk=run_id).calls.get()
    asked = one.run.interrupts.filter(kind="question").first()
    options = asked.options if asked else []
    return {
        "status": one.status,
        "progress": one.progress,
        "options": options,
        **one.result,
    }


def rows():
    return [
        [one.customer, str(one.total), one.paid] for one in Order.objects.order_by("pk")
    ]


def make_orders():
    orders = [
        Order.objects.create(customer="Ada", total="100.00"),
        Order.objects.create(customer="Ada", total="20.40"),
        Order.objects.create(customer="Ada", total="30.00"),
        Order.objects.create(customer="Bob", total="9.60"),
    ]
    return [one.pk for one in orders], str(orders[1])


async def main():
    service.boot()
    (first, *_), second = await in_db(make_orders)
    approve = {"approval": {"decision": "approve"}}
    deny = {"approval": {"decision": "deny", "text": "Not that one."}}
    # What the page says, in its order.
    talks = {
        "list": await talk("list_orders", {"customer": "Ada", "paid": False}),
        "paid": await talk("mark_paid", {"order_id": first}, **approve),
        "ask": await talk(
            "discount", {"customer": "Ada", "percent": 10}, question={"text": second}
        ),
        "one": await talk("discount", {"customer": "Bob", "percent": 10}),
        "round": await talk("round_totals", {}, **approve),
    }
    # And what it says only in passing.
    talks["deny"] = await talk("mark_paid", {"order_id": first}, **deny)
    talks["unknown"] = await talk("mark_paid", {"order_id": 7777}, **approve)
    sys.stdout.write(json.dumps({"talks": talks, "rows": await in_db(rows)}))


asyncio.run(main())
