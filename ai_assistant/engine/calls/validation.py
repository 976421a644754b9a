"""Whether what a call has written is valid as a whole, before it is committed."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.contrib.admin.sites import all_sites
from django.db.models import Model

from ai_assistant.changes.capture.images import all_rows, in_batches, is_blank
from ai_assistant.changes.capture.recorder import Recorder
from ai_assistant.changes.capture.row_image import RowImage
from ai_assistant.changes.values import concrete, label, meta, model_of_label
from ai_assistant.changes.verify.description import shown_objects
from ai_assistant.changes.verify.differences import RecordedObject
from ai_assistant.exceptions import NotValid, Refused
from ai_assistant.modules.base import ContextModule
from ai_assistant.modules.read_only import ReadOnly
from ai_assistant.modules.resolve import module_by_id
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.data.errors import site_validation
from ai_assistant.types import RunContext, ToolDefinition

logger = logging.getLogger("ai_assistant")

OWN = "ai_assistant."


def check_valid(tool: ToolDefinition, context: RunContext, recorder: Recorder) -> None:
    """
    Raise NotValid if a written object, or what it belongs to, is not valid.

    The tools of the assistant write through pages, whose forms have cleaned all that
    they show; what a tool of the site writes is cleaned here. Then the module of the
    page validates its root object, whoever has written.
    """
    check_unlocked(context.actions.locked, recorder.rows)
    is_own = getattr(tool.handler, "__module__", "").startswith(OWN)
    module = module_by_id(context.module, context.user)
    if is_own and not module.validates:
        return
    stored = [obj for obj in shown_objects(recorder) if obj.kind != "delete"]
    if not is_own:
        _clean(stored)
    if module.validates and recorder.rows:
        for root in _roots(module, context, stored):
            with site_validation(type(root)):
                module.validate(context, root)


def check_unlocked(locked: ReadOnly | None, rows: Iterable[RowImage]) -> None:
    """
    Raise Refused if one of the changed rows may not be changed from the page.

    A row that refers to the object of the page, as that of an inline, is part of it.
    """
    if locked is not None and any(_is_locked(locked, row) for row in rows):
        raise Refused("not_here", locked.refusal)


def _is_locked(locked: ReadOnly, row: RowImage) -> bool:
    if locked.is_about(row.label, row.object_id):
        return True
    return bool(locked.object_id) and any(
        str(image.get(field.attname)) == locked.object_id
        for field in meta(row.model).concrete_fields
        if field.is_relation and label(field.related_model) in locked.tables
        for image in (row.before, row.after)
        if image
    )


def _clean(objects: Sequence[RecordedObject]) -> None:
    """Clean the objects that have pages in the admin, as these would."""
    for obj, instance in _instances(objects):
        try:
            with site_validation(type(instance)):
                instance.full_clean(exclude=_kept(obj, instance))
        except NotValid:
            raise
        except Exception:  # it may need what only its form sets
            logger.exception("%r could not be cleaned", obj.row.key)


def _kept(obj: RecordedObject, instance: Model) -> set[str]:
    """Return the fields that the call has not set, or that no form would show."""
    return {
        field.name
        for field in meta(instance).concrete_fields
        if field.attname not in obj.fields
        or not field.editable
        or is_blank(getattr(instance, field.attname))
    }


def _instances(
    objects: Sequence[RecordedObject],
) -> Iterator[tuple[RecordedObject, Model]]:
    by_table: dict[tuple[Any, str], dict[Any, RecordedObject]] = defaultdict(dict)
    for obj in objects:
        if _has_page(obj.row.model):
            by_table[obj.row.model, obj.row.alias][obj.row.pk] = obj
    for (model, alias), by_pk in by_table.items():
        for batch in in_batches(all_rows(model, alias), by_pk):
            yield from ((by_pk[instance.pk], instance) for instance in batch)


def _has_page(model: Any) -> bool:
    return any(site.is_registered(model) for site in all_sites)


def _roots(
    module: ContextModule, context: RunContext, objects: Sequence[RecordedObject]
) -> Iterator[Model]:
    """Yield the object of the page, and the written ones of its model, as they are."""
    page = context.page
    model = model_of_label(f"{page.app_label}.{page.model_name}")
    if model is None:
        return
    root = value_or(None, lambda: module.get_root(context))
    if root is not None:
        yield root
    pks = [obj.row.pk for obj in objects if concrete(obj.row.model) is concrete(model)]
    if isinstance(root, model):
        pks = [pk for pk in pks if pk != root.pk]
    for batch in in_batches(model._base_manager.all(), dict.fromkeys(pks)):
        yield from batch
