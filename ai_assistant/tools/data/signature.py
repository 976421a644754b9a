"""The name of the assistant and of its run in the history of the admin."""

import json
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.admin.options import ModelAdmin
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model
from django.utils.translation import gettext as _
from django.utils.translation import override

from ai_assistant.types import RunContext

RUN_CHARS = 8
MOST_SOUGHT = 1000


def sign(context: RunContext, told: Any, objects: Sequence[Model]) -> None:  # noqa: ANN401
    """
    Add "(Assistant, run 1a2b3c4d)" to the entries of `objects` that were just written.

    `told` is what the ModelAdmin returned for them; one that returns nothing has
    written its entries as it likes, and the newest are taken. The message becomes a
    plain text, in the language of the site: the admin drops all it does not know
    from a structured one.
    """
    entries = _entries(told) or _newest(context, objects)
    with override(settings.LANGUAGE_CODE):
        own = signature(context)
        for entry in entries:
            said = entry.get_change_message()
            entry.change_message = f"{said} {own}" if said else own
    if len(entries) == 1:
        entries[0].save(update_fields=["change_message"])
    elif entries:
        LogEntry.objects.bulk_update(entries, ["change_message"], batch_size=400)


def logs_as_django(model_admin: Any) -> bool:  # noqa: ANN401
    """Tell whether the ModelAdmin writes its entries as Django does, any text."""
    own = type(model_admin)
    django = ModelAdmin.log_addition, ModelAdmin.log_change
    return (own.log_addition, own.log_change) == django


def signed(context: RunContext, message: Any) -> str:  # noqa: ANN401 - a text or a list
    """Return the text that `sign` makes of a message that is not written yet."""
    with override(settings.LANGUAGE_CODE):
        plain = message if isinstance(message, str) else json.dumps(message)
        said = LogEntry(change_message=plain).get_change_message()
        own = signature(context)
        return f"{said} {own}" if said else own


def own_entries(context: RunContext, model: type[Model], *, after: int) -> Any:  # noqa: ANN401 - entries
    """Return what the user did to objects of `model`, as entries above a key."""
    kind = ContentType.objects.get_for_model(model, for_concrete_model=False)
    return LogEntry.objects.filter(
        pk__gt=after, user_id=context.user.pk, content_type=kind
    )


def signature(context: RunContext) -> str:
    """Return "(Assistant, run 1a2b3c4d)"."""
    return _("(Assistant, run %(run)s)") % {"run": str(context.run_id)[:RUN_CHARS]}


def _entries(told: Any) -> list[LogEntry]:  # noqa: ANN401
    listed = told if isinstance(told, list | tuple) else [told]
    found = [one for one in listed if isinstance(one, LogEntry)]
    return [one for one in found if one.pk]


def _newest(context: RunContext, objects: Sequence[Model]) -> list[LogEntry]:
    """Return the newest entry of each object by this user, if there is one."""
    if not objects:
        return []
    kind = ContentType.objects.get_for_model(objects[0], for_concrete_model=False)
    ids = [str(one.pk) for one in objects[:MOST_SOUGHT]]
    found = LogEntry.objects.filter(
        user_id=context.user.pk, content_type=kind, object_id__in=ids
    )
    newest: dict[str | None, LogEntry] = {}
    for entry in found.order_by("pk"):
        newest[entry.object_id] = entry
    marked = str(context.run_id)[:RUN_CHARS]
    return [one for one in newest.values() if marked not in one.change_message]
