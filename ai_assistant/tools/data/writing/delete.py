"""The tool that deletes objects, as the admin does, with all that depends on them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.contrib.admin.utils import NestedObjects, model_ngettext
from django.db import router
from django.db.models import Model
from django.utils.html import strip_tags
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from ai_assistant.changes.capture.images import versions
from ai_assistant.changes.values import ChangeKind, Changes, Related
from ai_assistant.exceptions import ToolFailed
from ai_assistant.safety.policy.nested_inlines import inline_ways
from ai_assistant.safety.policy.sensitive import is_read_only
from ai_assistant.tools.data.access.model_admin import (
    AdminAccess,
    find_access,
    is_closed_on,
    links_of,
)
from ai_assistant.tools.data.access.values import object_name
from ai_assistant.tools.data.arguments import Ids, chosen_rows, data_tool
from ai_assistant.tools.data.writing import results
from ai_assistant.tools.data.writing.differences import listed_objects
from ai_assistant.tools.data.writing.page_post import deletion_needs_trial
from ai_assistant.tools.data.writing.saving import delete_as_admin
from ai_assistant.tools.data.writing.submission import posting_list
from ai_assistant.types import RunContext, ToolResult

FIRST = 5  # texts of each model
BLOCKING_NAMED = 10


class Cascade:
    """The rows that the deletion of `objects` deletes and changes besides them."""

    def __init__(self, objects: Sequence[Model]) -> None:
        self.objects = objects
        using = router.db_for_write(type(objects[0]))
        self.collector: Any = NestedObjects(using=using, origin=objects)
        self.collector.collect(objects)

    def deleted(self) -> dict[type[Model], list[Model]]:
        """Return the rows that are deleted as well, by model."""
        requested: set[tuple[Any, Any]] = {
            (model, obj.pk)
            for obj in self.objects
            for model in (type(obj), *obj._meta.all_parents)
        }
        deleted: dict[type[Model], list[Model]] = defaultdict(list)
        for model, rows in self.collector.model_objs.items():
            for row in rows:
                if (model, row.pk) not in requested:
                    deleted[model].append(row)
        return dict(deleted)

    def updated(self) -> dict[type[Model], list[Model]]:
        """Return the rows that stay but lose their link, by model."""
        updated: dict[type[Model], dict[Any, Model]] = defaultdict(dict)
        for field, row in self._emptied():
            updated[field.model][row.pk] = row
        return {model: list(rows.values()) for model, rows in updated.items()}

    def emptied(self) -> list[Any]:
        """Return the fields of rows that stay in which a link is lost."""
        fields = [field for field, _row in self._emptied()]
        fields += [field for model in self.deleted() for field in links_of(model)]
        return list(dict.fromkeys(fields))

    def _emptied(self) -> Iterator[tuple[Any, Model]]:
        """Yield the keys that are set to NULL or to a default, with their rows."""
        deleted = {
            (model, row.pk)
            for model, rows in self.collector.model_objs.items()
            for row in rows
        }
        for (field, _value), batches in self.collector.field_updates.items():
            for batch in batches:
                for row in batch if isinstance(batch, Iterable) else [batch]:
                    if (type(row), row.pk) not in deleted:
                        yield field, row

    def related(self) -> tuple[Related, ...]:
        """Return these rows as the card shows them, by model."""
        kinds: list[tuple[ChangeKind, dict[type[Model], list[Model]]]] = [
            ("delete", self.deleted()),
            ("change", self.updated()),
        ]
        return tuple(
            Related(
                model=model._meta.label_lower,
                label=str(model_ngettext(model._meta, len(rows))),
                kind=kind,
                count=len(rows),
                texts=tuple(object_name(row) for row in rows[:FIRST]),
            )
            for kind, by_model in kinds
            for model, rows in by_model.items()
        )

    def rows(self) -> list[Model]:
        """Return all rows that would be deleted or changed, the objects too."""
        groups = [*self.deleted().values(), *self.updated().values()]
        return [*self.objects, *(row for rows in groups for row in rows)]

    def check_closed(self, access: AdminAccess) -> None:
        """Raise ToolFailed if rows that no tool shows would be deleted or changed."""
        own_models = (access.model, access.options.concrete_model)
        for model in [*self.deleted(), *self.updated()]:
            if model._meta.auto_created in own_models:
                continue  # links of the objects themselves
            if is_closed_on(access.site, model) or self._is_kept(access, model):
                raise _kept(model)
        for field in self.emptied():
            is_own = field.many_to_many and issubclass(access.model, field.model)
            if not is_own and self._is_kept(access, field.model, field.name):
                raise _kept(field.model)

    def _is_kept(
        self, access: AdminAccess, model: type[Model], field: str = ""
    ) -> bool:
        """Return whether the site declares rows that go along read-only, or a field."""
        ways = inline_ways(access.model_admin, access.request, self.objects[0])
        admins = [inlines[-1] for inlines in ways if inlines[-1].model is model]
        return any(
            is_read_only(model, own, field)
            for own in (access.site._registry.get(model), *admins)
        )


def _kept(model: type[Model]) -> ToolFailed:
    return ToolFailed(
        _("It goes with rows that are kept from the assistant: %(names)s.")
        % {"names": model._meta.verbose_name_plural},
        suggestion=_("Tell the person to do it on the page of the object."),
    )


def preview_delete(context: RunContext, model: str, ids: Ids) -> Changes:
    """Return what would be deleted and changed."""
    access, cascade = _checked(context, model, ids)
    objects, options = cascade.objects, access.options
    names = {
        "name": options.verbose_name,
        "object": results.short_name(objects[0]),
    }
    title = _("Delete %(name)s “%(object)s”") % names
    if others := len(objects) - 1:
        title = ngettext(
            "Delete %(name)s “%(object)s” and %(count)d more",
            "Delete %(name)s “%(object)s” and %(count)d more",
            others,
        ) % {**names, "count": others}
    return Changes(
        title=title,
        verb=_("Delete %(name)s")
        % {"name": results.counted_name(options, len(objects))},
        model=access.label,
        objects=listed_objects(access.label, "delete", objects),
        total=len(objects),
        related=cascade.related(),
        versions=versions(cascade.rows()),
        rows_argument="ids",
        needs_trial=_needs_trial(context, access, cascade),
    )


def _needs_trial(context: RunContext, access: AdminAccess, cascade: Cascade) -> bool:
    page = access.at_object(cascade.objects[0].pk, "delete")
    models = {type(row) for row in cascade.rows()}
    return deletion_needs_trial(context, page, models)


def _checked(context: RunContext, model: str, ids: Ids) -> tuple[AdminAccess, Cascade]:
    access = find_access(context, model, perm="delete")
    objects = chosen_rows(access, ids, "delete")
    access = posting_list(access, {"action": "delete_selected", "post": "yes"}, objects)
    _check_deletion(access, objects)
    for obj in objects:
        access.at_object(obj.pk, "delete").check_page()
    cascade = Cascade(objects)
    cascade.check_closed(access)
    return access, cascade


def _check_deletion(access: AdminAccess, objects: Sequence[Model]) -> None:
    """Raise ToolFailed if the admin would not delete `objects` for the user."""
    model_admin, request = access.model_admin, access.request
    for obj in objects:
        if not model_admin.has_delete_permission(request, obj):
            raise ToolFailed(
                _("You may not delete %(name)s “%(object)s”.")
                % {"name": access.options.verbose_name, "object": object_name(obj)}
            )
    # The site may add to it: so it is asked as the page asks it.
    deleted = model_admin.get_deleted_objects(objects, request)
    _to_delete, _counts, missing_permissions, protected = deleted
    if missing_permissions:
        raise ToolFailed(
            _("Deleting this would also delete what you may not delete: %(names)s.")
            % {"names": ", ".join(sorted(map(str, missing_permissions)))}
        )
    if protected:
        names = [strip_tags(str(item)) for item in protected]
        ellipsis = ["…"] if len(names) > BLOCKING_NAMED else []
        raise ToolFailed(
            _("It cannot be deleted, because these objects depend on it: %(objects)s.")
            % {"objects": ", ".join([*names[:BLOCKING_NAMED], *ellipsis])},
            suggestion=_("Delete or change those first."),
        )


@data_tool(
    effect="destructive",
    label=gettext_lazy("Delete objects"),
    preview=preview_delete,
    rows_argument="ids",
    icon="close",
)
def delete_objects(context: RunContext, model: str, ids: Ids) -> ToolResult:
    """Delete objects, with all that depends on them."""
    access, cascade = _checked(context, model, ids)
    objects = list(cascade.objects)
    changed = tuple(results.named_object(access, obj) for obj in objects)
    count = len(objects)
    delete_as_admin(context, access, objects)
    return ToolResult(
        ok=True,
        message=_("Deleted %(objects)s.")
        % {"objects": results.count_with_name(access.options, count)},
        changed=changed,
    )
