"""Call an operation of the site's API as the user."""

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

from django.db import OperationalError
from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import Field

from ai_assistant.changes.values import Changes, FieldChange, ObjectChange, model_name
from ai_assistant.decorators import tool
from ai_assistant.exceptions import ToolFailed
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.safety.policy.sensitive import mask_secrets
from ai_assistant.text.unicode import join_surrogates
from ai_assistant.tools.adapters.drf import failed_result
from ai_assistant.tools.api.base import FAILED, ApiRequest, ApiResponse, Operation
from ai_assistant.tools.api.catalogue import (
    Catalogue,
    catalogue,
    catalogue_of,
    has_operations,
)
from ai_assistant.tools.api.search import description, search_api
from ai_assistant.tools.summary import found
from ai_assistant.types import Effect, RunContext, ToolResult

CALL_API = "call_api"
UNDESCRIBED = "undescribed"  # error_type of a call whose schema was never told
PAGE_SIZE = 100  # rows of a list that the API itself does not page

PathValues = Annotated[dict[str, str | int], Field(max_length=20)]
QueryValues = Annotated[dict[str, Any], Field(max_length=50)]


def effect_of(arguments: Mapping[str, Any]) -> Effect:
    """Return the effect of the operation of a call; one that is not there does nothing."""
    one = catalogue().operations.get(str(arguments.get("operation", "")))
    return "read" if one is None or one.effect is None else one.effect


def is_external(arguments: Mapping[str, Any]) -> bool:
    """Return whether the effect of the operation of a call is not in the database alone."""
    one = catalogue().operations.get(str(arguments.get("operation", "")))
    return one is not None and one.is_external


def preview_call(
    context: RunContext,
    operation: str,
    path: PathValues = {},
    query: QueryValues = {},
    body: dict[str, Any] | list[Any] | None = None,
) -> Changes | ToolResult:
    """Return the request; where it can be tried out, a trial tells what it changes."""
    known = catalogue_of(context)
    one = known.find(operation)
    if (told := _untold(context, one, known)) is not None:
        return told
    asked = ApiRequest(path=path, query=query, body=body)
    address = known.adapters[one.id].check(one, context, asked)
    title = _title(one)
    warnings = (
        () if one.can_be_tried else (_("What this does is not known in advance."),)
    )
    return Changes(
        title=title,
        verb=_("Send the request"),
        model=one.model,
        objects=(
            ObjectChange(
                kind="action",
                model=one.model,
                text=f"{one.method} {address}",
                fields=tuple(_fields(asked)),
            ),
        ),
        total=1,
        warnings=warnings,
        needs_trial=one.can_be_tried,
    )


def _title(operation: Operation) -> str:
    """Return what is done, for a person: a docstring of the site, or "Change schedule"."""
    said = {"name": model_name(operation.model)}
    usual = {
        "create": _("Add %(name)s"),
        "update": _("Change %(name)s"),
        "partial_update": _("Change %(name)s"),
        "destroy": _("Delete %(name)s"),
    }
    action = operation.name.rpartition(".")[2]
    if operation.model and action in usual:
        return usual[action] % said
    return operation.about.rstrip(".") or operation.id


def _fields(asked: ApiRequest) -> list[FieldChange]:
    """Return what is sent, for the card: to its end, as it is what is approved."""
    body = asked.body if isinstance(asked.body, dict) else {"": asked.body}
    # One after the other: a name may stand in both.
    parts = [asked.query, {} if asked.body is None else body]
    return [
        FieldChange(name=str(name), label=str(name), after=join_surrogates(str(value)))
        for values in parts
        for name, value in mask_secrets(dict(values)).items()
    ]


def _summary(arguments: dict[str, Any], data: Any) -> str:
    name = str(arguments.get("operation", ""))
    rows = data.get("rows", data.get("results")) if isinstance(data, dict) else data
    if not isinstance(rows, list):
        return _("Called %(operation)s") % {"operation": name}
    total = data.get("total", data.get("count")) if isinstance(data, dict) else None
    count = total if isinstance(total, int) else len(rows)
    said = {"operation": name, "found": found(count)}
    return _("Called %(operation)s: %(found)s") % said


@tool(
    effect="destructive",
    effect_of=effect_of,
    external_of=is_external,
    name=CALL_API,
    label=gettext_lazy("Call of the API"),
    shared=True,
    icon="continue",
    is_enabled=has_operations,
    preview=preview_call,
    page_size=PAGE_SIZE,
    summary=_summary,
)
def call_api(
    context: RunContext,
    operation: str,
    path: PathValues = {},
    query: QueryValues = {},
    body: dict[str, Any] | list[Any] | None = None,
) -> Any:
    """
    Call an operation of the site's own API as the user, in the form that search_api tells.

    path: values of its {names}
    """
    known = catalogue_of(context)
    one = known.find(operation)
    if (told := _untold(context, one, known)) is not None:
        return told
    asked = ApiRequest(path=path, query=query, body=body)
    try:
        return _result(one, known.adapters[one.id].call(one, context, asked))
    except OperationalError as error:
        if one.can_be_tried:
            raise  # all of it was taken back: it may be tried again
        raise ToolFailed(
            _("“%(name)s” was interrupted. It may or may not have taken effect.")
            % {"name": one.id},
            suggestion=_("Check before doing it again."),
        ) from error


def _result(operation: Operation, response: ApiResponse) -> Any:
    if response.status >= FAILED:
        return failed_result(response.status, response.data)
    if response.unread:
        message = f"{response.status}: {response.unread}"
        return ToolResult(ok=True, message=message)
    if operation.effect == "read":
        return response.data
    return ToolResult(ok=True, message=_done(response.status), data=response.data)


def _done(status: int) -> str:
    return _("The API answered %(status)s.") % {"status": status}


# --- whether the model knows what it calls ---


def _untold(
    context: RunContext, operation: Operation, known: Catalogue
) -> ToolResult | None:
    """Return the schema in place of a result, where the conversation has never told it."""
    if _was_told(context.conversation_id, operation.id):
        return None
    return ToolResult(
        ok=False,
        error=_("“%(name)s” was not carried out: what it takes was not looked up yet.")
        % {"name": operation.id},
        error_type=UNDESCRIBED,
        suggestion=_("Call it again in the form of this schema."),
        schema_hint=description(operation, known),
        summary=_("The assistant has looked up first what this takes."),
    )


def _was_told(conversation_id: UUID, operation_id: str) -> bool:
    is_told = Q(name=search_api.__name__, status=CallStatus.COMPLETE)
    is_told |= Q(name=CALL_API, result__error_type=UNDESCRIBED)
    calls = ToolCall.objects.filter(run__conversation_id=conversation_id)
    return calls.filter(is_told, arguments__operation=operation_id).exists()
