"""Runs that wait for a page, and what pages say of them."""

import pytest

from ai_assistant.engine.interrupts.browser import FromPage
from ai_assistant.testing import call, reply


def said(run, *, tab="one", **fields):
    """Return what a tab says of the newest request of `run`."""
    interrupt = run.interrupts.filter(kind="browser").order_by("-created_at").first()
    fields.setdefault("user_id", run.user_id)
    fields.setdefault("nonce", interrupt.nonce)
    return FromPage(interrupt_id=interrupt.pk, tab=tab, **fields)


@pytest.fixture
def pointing(play, script):
    """A run that waits until a page has highlighted something."""
    script.add(reply("", call("highlight", {"selector": "#id_title"})), "There.")
    return play()
