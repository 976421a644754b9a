"""
A kind of interrupt of a site: the person repeats a code before the tool goes on.

All that a kind consists of: its class, its card with a template, its form for AG-UI.
"""

from datetime import timedelta

from ai_assistant import Ask
from ai_assistant.engine.interrupts.base import PersonKind
from ai_assistant.exceptions import Refused
from ai_assistant.models import clock
from ai_assistant.render.agui.interrupts import Form
from ai_assistant.render.html.cards.interrupts import Card

TTL_S = 600


class AskCode(Ask):
    """Ask for the code that was sent to the person."""

    interrupt = "code"

    def __init__(self, question, code):
        super().__init__(question, key="code")
        self.code = code


class Code(PersonKind):
    name = "code"

    def ask(self, call, asked):
        fact = self.open(
            call,
            question=asked.question,
            key=asked.key,
            request={"code": asked.code},
            expires_at=clock.now() + timedelta(seconds=TTL_S),
        )
        return [fact]

    def validate(self, interrupt, texts, *, typed=False):
        given = "".join(texts).strip()
        if given != interrupt.request["code"]:
            raise Refused("wrong_answer", "This is not the code.")
        return given


class CodeCard(Card):
    template = "testapp/code.html"

    def entry(self, interrupt):
        return {"text": interrupt.question, "digits": len(interrupt.request["code"])}


class CodeForm(Form):
    def schema(self, interrupt):
        digits = f"[0-9]{{{len(interrupt.request['code'])}}}"
        answer = {"type": "string", "pattern": f"^{digits}$"}
        return {**super().schema(interrupt), "properties": {"answer": answer}}
