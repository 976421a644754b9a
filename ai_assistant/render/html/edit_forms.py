"""A form of the site's in which a person changes what a call proposes."""

from typing import Any
from uuid import UUID

Entry = dict[str, Any]


def edit_entry(form: Any, interrupt_id: UUID) -> Entry:  # noqa: ANN401 - a Django form
    """
    Return what `edit_form.html` draws of `form`, bound or not.

    `told` are errors that belong to no field in sight. The first field that is wrong
    gets the focus, or what is told if no field is.
    """
    # Two cards of one page may have the same fields.
    form.auto_id = f"i-{interrupt_id}-%s"
    fields = form.visible_fields()
    wrong = [field for field in fields if field.errors]
    if wrong:
        wrong[0].field.widget.attrs["autofocus"] = True
    return {
        "form": form,
        "fields": fields,
        "hidden": form.hidden_fields(),
        "told": [*form.non_field_errors(), *_of_hidden(form)],
        "wrong": len(wrong),
    }


def _of_hidden(form: Any) -> list[str]:  # noqa: ANN401
    return [
        f"{field.label}: {error}"
        for field in form.hidden_fields()
        for error in field.errors
    ]
