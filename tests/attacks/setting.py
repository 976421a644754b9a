"""A tool that shows what it would do, and another that does not."""

from typing import Any

from django import forms

from ai_assistant import RunContext
from ai_assistant.changes.capture import images
from ai_assistant.changes.values import Changes, FieldChange, ObjectChange
from ai_assistant.testing import call, reply
from tests.testapp.models import Effect

RUN = "00000000-0000-0000-0000-000000000001"


def set_value(context: RunContext, ids: list[int], value: str) -> int:
    """Give effects a value; each time is to be seen at the key."""
    for effect in Effect.objects.filter(pk__in=ids):
        effect.value, effect.key = value, f"{effect.key}!"
        effect.save()
    return len(ids)


def look(context: RunContext, ids: list[int], value: str) -> Changes:
    rows = Effect.objects.filter(pk__in=ids)
    return Changes(
        title="Change the value",
        model="testapp.effect",
        objects=tuple(_changed(row, value) for row in rows),
        total=len(rows),
        versions=images.versions(rows),
        rows_argument="ids",
    )


def _changed(row: Effect, value: str) -> ObjectChange:
    return ObjectChange(
        kind="change",
        model="testapp.effect",
        object_id=str(row.pk),
        text=str(row),
        fields=(
            _field("key", row.key, f"{row.key}!"),
            _field("value", row.value, value),
        ),
    )


def _field(name: str, before: str, after: str) -> FieldChange:
    return FieldChange(
        name=name, label=name, before=before, after=after, attname=name, raw=after
    )


class ValueEditor:
    def form(self, context: Any, arguments: dict, data: Any = None) -> forms.Form:
        class ValueForm(forms.Form):
            value = forms.CharField(max_length=10)

        return ValueForm(data, initial={"value": arguments["value"]})

    def arguments(self, form: Any, arguments: dict) -> dict:
        return {**arguments, "value": form.cleaned_data["value"]}


def send_letter(context: RunContext, to: str) -> str:
    """Write to somebody. It shows nothing before."""
    Effect.objects.create(key="letter", value=to, run=RUN)
    return to


def offered(offer: Any, **changed: Any) -> None:
    """Register both, perhaps with other fields."""
    setting = {
        "effect": "write",
        "preview": look,
        "rows_argument": "ids",
        "editor": ValueEditor(),
    }
    offer(set_value, **{**setting, **changed})
    offer(send_letter, effect="write")


def make_rows() -> list[Effect]:
    return [Effect.objects.create(key=key, value="old", run=RUN) for key in "abc"]


def wanted(rows: list[Effect], value: str = "new", name: str = "set_value") -> list:
    """Return the reply of a model that wants all rows changed."""
    return reply("", call(name, {"ids": [row.pk for row in rows], "value": value}))
