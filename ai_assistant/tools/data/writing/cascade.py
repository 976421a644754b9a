"""What goes along when objects are deleted, and what forbids it."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib.admin.utils import NestedObjects, model_ngettext
from django.db import router
from django.db.models import Model
from django.utils.html import strip_tags
from django.utils.translation import gettext as _

from ai_assistant.changes.values import ChangeKind, Related
from ai_assistant.exceptions import ToolFailed
from ai_assistant.safety.policy.sensitive import is_opted_out
from ai_assistant.tools.data.access.model_admin import AdminAccess, is_closed
from ai_assistant.tools.data.access.values import object_name

FIRST = 5  # texts of each model
MOST_NAMED = 10


class Cascade:
    """All that the deletion of `objects` deletes and changes besides them."""

    def __init__(self, objects: Sequence[Model]) -> None:
        self.objects = objects
        using = router.db_for_write(type(objects[0]))
        self.collector: Any = NestedObjects(using=using, origin=objects)
        self.collector.collect(objects)

    def deleted(self) -> dict[type[Model], list[Model]]:
        """Return what goes along, by model, without the objects themselves."""
        chosen: set[tuple[Any, Any]] = {(type(one), one.pk) for one in self.objects}
        parents: set[tuple[Any, Any]] = {
            (parent, one.pk) for one in self.objects for parent in one._meta.all_parents
        }
        found: dict[type[Model], list[Model]] = defaultdict(list)
        for model, rows in self.collector.model_objs.items():
            for row in rows:
                if (model, row.pk) not in chosen | parents:
                    found[model].append(row)
        return dict(found)

    def updated(self) -> dict[type[Model], list[Model]]:
        """Return the rows that stay but lose their link, by model."""
        gone = {
            (model, row.pk)
            for model, rows in self.collector.model_objs.items()
            for row in rows
        }
        found: dict[type[Model], dict[Any, Model]] = defaultdict(dict)
        for (field, _value), batches in self.collector.field_updates.items():
            for batch in batches:
                for row in batch if isinstance(batch, Iterable) else [batch]:
                    if (type(row), row.pk) not in gone:
                        found[field.model][row.pk] = row
        return {model: list(rows.values()) for model, rows in found.items()}

    def related(self) -> tuple[Related, ...]:
        """Return what goes along as the card shows it, by model."""
        parts = [
            *(("delete", *item) for item in self.deleted().items()),
            *(("change", *item) for item in self.updated().items()),
        ]
        return tuple(_related(kind, model, rows) for kind, model, rows in parts)  # type: ignore[arg-type]

    def rows(self) -> list[Model]:
        """Return all rows that would be deleted or changed, the objects too."""
        groups = [*self.deleted().values(), *self.updated().values()]
        return [*self.objects, *(row for rows in groups for row in rows)]


def check_deletion(door: AdminAccess, objects: Sequence[Model]) -> None:
    """
    Make sure that the admin would delete `objects` for the user.

    Raise ToolFailed that names what is missing or in the way.
    """
    model_admin, request = door.model_admin, door.request
    for one in objects:
        if not model_admin.has_delete_permission(request, one):
            raise ToolFailed(
                _("You may not delete %(name)s “%(object)s”.")
                % {"name": door.options.verbose_name, "object": object_name(one)}
            )
    # The site may add to it: so it is asked as the page asks it.
    found = model_admin.get_deleted_objects(objects, request)
    _to_delete, _counts, lacking, protected = found
    if lacking:
        raise ToolFailed(
            _("Deleting this would delete what you may not delete: %(names)s.")
            % {"names": ", ".join(sorted(map(str, lacking)))}
        )
    if protected:
        raise ToolFailed(
            _("It cannot be deleted, because these objects need it: %(objects)s.")
            % {"objects": ", ".join(_protecting(protected))},
            suggestion=_("Delete or change those first."),
        )


def check_closed(door: AdminAccess, cascade: Cascade) -> None:
    """Make sure that nothing goes along that is kept from the assistant."""
    for model in [*cascade.deleted(), *cascade.updated()]:
        own_admin = door.site._registry.get(model)
        if model._meta.auto_created in (door.model, door.options.concrete_model):
            continue  # the objects' own links
        if is_closed(model) or is_opted_out(model, own_admin):
            raise ToolFailed(
                _("It goes with rows that are kept from the assistant: %(names)s.")
                % {"names": model._meta.verbose_name_plural},
                suggestion=_("Tell the person to do it on the page of the object."),
            )


def _protecting(protected: Iterable[Any]) -> list[str]:
    named = [strip_tags(str(one)) for one in protected]
    return [*named[:MOST_NAMED], *(["…"] if len(named) > MOST_NAMED else [])]


def _related(kind: ChangeKind, model: type[Model], rows: list[Model]) -> Related:
    return Related(
        model=model._meta.label_lower,
        label=str(model_ngettext(model._meta, len(rows))),
        kind=kind,
        count=len(rows),
        texts=tuple(object_name(row) for row in rows[:FIRST]),
    )
