"""The form in which a person edits the values that a call proposes."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib.admin import widgets
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model

from ai_assistant.safety.policy.form_limits import unwrapped_widget
from ai_assistant.safety.policy.sensitive import mask_secrets
from ai_assistant.tools.data.writing.posting import decode_json_text
from ai_assistant.tools.data.writing.submission import FormSubmission
from ai_assistant.types import JSON, RunContext

PREFIX = "edit"
MOST_CHOICES = 200  # of a list without a search


@dataclass(frozen=True)
class ValuesEditor:
    """
    Edit the `values` of a call in their fields of the admin's own form.

    Each field is validated by itself; the whole page is validated again when the
    edited call is shown.
    """

    submission: Callable[[RunContext, dict[str, Any]], FormSubmission]

    def form(
        self,
        context: RunContext,
        arguments: dict[str, Any],
        data: Mapping[str, Any] | None = None,
    ) -> forms.Form:
        """Return the form for the values, bound to `data` if given."""
        submitted = self.submission(context, arguments)
        source = submitted.form
        names = [name for name in arguments["values"] if name in source.fields]
        initial = {name: _proposed(submitted, name) for name in names}
        # Without the prefix, names and ids would be those of the page around it.
        form = forms.Form(data, initial=initial, prefix=PREFIX)
        for name in names:
            field = deepcopy(source.fields[name])
            field.show_hidden_initial = False
            field.widget = _widget(field)
            if isinstance(field, forms.ModelChoiceField):
                field.widget.choices = field.choices
            form.fields[name] = field
        return form

    def arguments(self, form: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments with the values of a valid form."""
        values = {
            name: _json(form.fields[name], value)
            for name, value in form.cleaned_data.items()
        }
        return {**arguments, "values": {**arguments["values"], **values}}


def _proposed(submitted: FormSubmission, name: str) -> Any:
    """Return the proposed value of a field, as the widget shows it."""
    form, files = submitted.form, submitted.access.request.FILES
    widget = unwrapped_widget(form.fields[name].widget)
    value = widget.value_from_datadict(submitted.data, files, form.add_prefix(name))
    is_json = isinstance(form.fields[name], forms.JSONField)
    return mask_secrets(decode_json_text(value)) if is_json else value


def _widget(field: Any) -> Any:
    """Return a widget that works without the scripts of the admin's own pages."""
    widget = unwrapped_widget(field.widget)
    multiple_choice = (
        widgets.AutocompleteSelectMultiple
        | widgets.FilteredSelectMultiple
        | widgets.ManyToManyRawIdWidget
    )
    if isinstance(widget, multiple_choice):
        return forms.SelectMultiple()
    if isinstance(widget, widgets.AutocompleteSelect | widgets.ForeignKeyRawIdWidget):
        is_short = field.queryset[: MOST_CHOICES + 1].count() <= MOST_CHOICES
        return forms.Select() if is_short else forms.TextInput()
    return widget


def _json(field: forms.Field, value: Any) -> JSON:
    """Return a cleaned value as an argument of a call."""
    if isinstance(value, Model):
        return field.prepare_value(value)
    if isinstance(field, forms.ModelMultipleChoiceField):
        return [field.prepare_value(obj) for obj in value]
    if value is None or isinstance(value, bool | int | float | str | list | dict):
        return value
    try:
        return DjangoJSONEncoder().default(value)
    except TypeError:  # a type of the field itself, as an amount of money
        if not isinstance(field, forms.MultiValueField):
            return str(value)
    parts = unwrapped_widget(field.widget).decompress(value)
    return [_json(*pair) for pair in zip(field.fields, parts, strict=False)]
