"""The changes of runs: a readable difference for each object."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from django.contrib.admin.utils import quote
from django.db.models import Count, Min, Q, QuerySet
from django.urls import NoReverseMatch, reverse
from django.utils.translation import ngettext

from ai_assistant.changes.display import sentences_of_gaps
from ai_assistant.changes.undo.limits import kept_until
from ai_assistant.models.change import ChangeSet, RowChange
from ai_assistant.render.html.diffs.differences import Entry, object_entry, tell_apart
from ai_assistant.render.html.diffs.rows import (
    LINKS,
    Counts,
    RelatedNames,
    headline,
    names_of_rows,
    readable_change,
)
from ai_assistant.text.hidden_characters import mark_hidden_characters

MOST_TOLD = 100  # objects, to the scripts of a page
FIRST_ROWS = 5  # that are seen at once
SHOWN_ROWS = 50  # of one change; more are counted


def changes_of_runs(run_ids: Iterable[UUID]) -> dict[UUID, Entry]:
    """
    Return for each run that has changed something what `changes.html` draws.

    A fixed number of queries, and one for each model that a changed row names.
    """
    sets: dict[UUID, list[ChangeSet]] = defaultdict(list)
    undone: dict[UUID, ChangeSet] = {}
    found_sets = ChangeSet.objects.filter(run_id__in=list(run_ids))
    for change_set in found_sets.select_related("user"):
        if change_set.run_id is None:
            continue
        if change_set.kind == ChangeSet.Kind.CALL:
            sets[change_set.run_id].append(change_set)
        elif change_set.kind == ChangeSet.Kind.UNDO:
            undone[change_set.run_id] = change_set  # the last one
    if not sets:
        return {}
    undoing = undo_entries([one.pk for found in sets.values() for one in found], undone)
    rows = _rows([one.pk for found in sets.values() for one in found])
    counts = _counts(sets)
    names = names_of_rows(row for found in rows.values() for row in found)
    return {
        run_id: {
            **_entry(run_id, found, rows, counts.get(run_id, {}), names),
            "undo": undoing.get(run_id),
        }
        for run_id, found in sets.items()
    }


def changed_objects(run_id: UUID) -> list[Entry]:
    """Return the model, as "app.model", and the key of what a run has changed."""
    rows = RowChange.objects.filter(
        change_set__run_id=run_id, change_set__kind=ChangeSet.Kind.CALL
    ).order_by("change_set__created_at", "order")
    named = rows.values_list("model", "object_id")[:MOST_TOLD]
    return [{"model": model, "pk": pk} for model, pk in dict.fromkeys(named)]


def undo_offer(changes: Entry | None) -> Entry | None:
    """Return what `undo_banner.html` draws of an ended run; None once it was undone."""
    undo = changes["undo"] if changes else None
    return changes if undo and undo["url"] and not undo["is_undone"] else None


def undo_entries(
    set_ids: Sequence[UUID], undone: Mapping[UUID, ChangeSet]
) -> dict[UUID, Entry]:
    """
    Return by run what of these changes can be undone, and redone.

    `undone` has the last undo of each run. One query, and a second where there is one.
    """
    rows = RowChange.objects.filter(change_set__in=set_ids).order_by()
    by_run = rows.values_list("change_set__run_id")
    left = Q(undone_by=None) & ~Q(before__isnull=True, after__isnull=True)
    totals = by_run.annotate(
        all=Count("pk"),
        taken=Count("undone_by"),
        left=Count("pk", filter=left),
        oldest=Min("change_set__created_at"),
    )
    redoable = set(
        RowChange.objects.filter(change_set__in=undone.values(), undone_by=None)
        .with_images()
        .order_by()
        .values_list("change_set__run_id", flat=True)
        .distinct()
        if undone
        else ()
    )
    address = reverse("ai_assistant:undo")
    return {
        run_id: {
            "url": f"{address}?run={run_id}" if left else "",
            "until": kept_until(oldest) if left else None,
            "is_undone": bool(taken),
            "is_whole": taken == count,
            "redo": f"{address}?change={undone[run_id].pk}"
            if run_id in redoable
            else "",
            "at": undone[run_id].created_at if run_id in redoable else None,
        }
        for run_id, count, taken, left, oldest in totals
    }


def _rows(set_ids: list[UUID]) -> dict[UUID, list[RowChange]]:
    found: dict[UUID, list[RowChange]] = defaultdict(list)
    shown = RowChange.objects.filter(change_set__in=set_ids, order__lt=SHOWN_ROWS)
    for row in shown.order_by("change_set", "order"):
        found[row.change_set_id].append(row)
    return found


def _counts(run_ids: Iterable[UUID]) -> dict[UUID, Counts]:
    """
    Return how many objects each run has changed, by model and kind of the change.

    Links alone count as such.
    """
    rows = RowChange.objects.filter(
        change_set__run_id__in=list(run_ids), change_set__kind=ChangeSet.Kind.CALL
    )
    return {
        **_counted(rows.filter(kind__in=LINKS)),
        **_counted(rows.exclude(kind__in=LINKS)),
    }


def _counted(rows: QuerySet[RowChange]) -> dict[UUID, Counts]:
    kinds = RowChange.Kind
    by_model = rows.order_by().values_list("change_set__run_id", "model")
    counted = by_model.annotate(
        all=Count("object_id", distinct=True),
        new=Count("object_id", distinct=True, filter=Q(kind=kinds.CREATE)),
        gone=Count("object_id", distinct=True, filter=Q(kind=kinds.DELETE)),
        links=Count("object_id", distinct=True, filter=Q(kind__in=LINKS)),
    )
    found: dict[UUID, dict[tuple[str, str], int]] = defaultdict(dict)
    for run_id, model, objects, new, gone, links in counted:
        changed = max(0, objects - new - gone - links)
        named = {"create": new, "delete": gone, "link": links, "change": changed}
        found[run_id] |= {(model, kind): n for kind, n in named.items() if n}
    return {**found}


def _entry(
    run_id: UUID,
    sets: list[ChangeSet],
    rows: dict[UUID, list[RowChange]],
    counts: Counts,
    names: RelatedNames,
) -> Entry:
    count = sum(counts.values())
    kept = [row for one in sets for row in rows[one.pk]]
    shown = [readable_change(row, names) for row in kept]
    among = sum(len(one.fields) for one in shown)
    objects = [
        object_entry(one, among=among, at=f"change={row.pk}")
        for row, one in zip(kept, shown, strict=True)
    ]
    tell_apart(objects)
    users = (one.user.get_username() for one in sets if one.user is not None)
    for place, (row, entry) in enumerate(zip(kept, objects, strict=True), start=1):
        entry["history"], entry["place"] = _history(row), place
    return {
        "run_id": str(run_id),
        "saved_as": mark_hidden_characters(next(users, "")),  # "": the user is gone
        "label": ngettext(
            "%(count)d object changed", "%(count)d objects changed", count
        )
        % {"count": count},
        "headline": headline(shown, counts),
        "count": count,
        "objects": objects[:FIRST_ROWS],
        "others": objects[FIRST_ROWS:],
        "more": max(0, count - len(objects)),
        "rest": max(0, count - min(len(objects), FIRST_ROWS)),
        "gaps": gap_sentences(sets),
    }


def _history(row: RowChange) -> str:
    """Return the address of what the admin knows of this object; empty for none."""
    if row.kind not in (RowChange.Kind.CREATE, RowChange.Kind.UPDATE):
        return ""
    name = row.model.lower().replace(".", "_")
    try:
        return reverse(f"admin:{name}_history", args=[quote(row.object_id)])
    except NoReverseMatch:
        return ""


def gap_sentences(sets: Iterable[ChangeSet]) -> list[str]:
    """Return sentences about what these changes did without an image."""
    partial = [one for one in sets if one.is_partial]
    return sentences_of_gaps([gap for one in partial for gap in one.gaps] or partial)
