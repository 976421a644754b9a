"""Make the configuration of this site as a file says: all of it, or nothing."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import DatabaseError, transaction
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.configuration.problems.rows import row_problems, uses_of
from ai_assistant.configuration.rows import refresh
from ai_assistant.configuration.transfer.document import Document
from ai_assistant.configuration.transfer.kinds import (
    KINDS,
    Kind,
    differing,
    key_of,
    set_values,
    values_of,
)
from ai_assistant.models.configuration import Profile
from ai_assistant.safety.audit import record

ADDED, CHANGED, REMOVED = "added", "changed", "deleted"
FILE_CHARS = 200
Values = Mapping[str, Any]
Place = tuple[tuple[str, ...], int]  # the key, and which of those with it


@dataclass(frozen=True, kw_only=True, slots=True)
class RowDifference:
    """A row that is not as the file says; `before` and `after` are as in the file."""

    kind: Kind
    name: str
    status: str
    row: Any
    before: Values = field(default_factory=dict)
    after: Values = field(default_factory=dict)

    def digest(self) -> str:
        """Return a digest of what differs."""
        told = (self.kind.section, self.name, self.status, self.before, self.after)
        return sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()

    def fields(self) -> list[tuple[str, Any, Any]]:
        """Return the label of each field that differs, and both of its values."""
        return differing(self.kind, self.before, self.after)


@dataclass(kw_only=True, slots=True)
class Applied:
    """What differs, and what is wrong; with a problem nothing was changed."""

    rows: list[RowDifference] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def digest(self) -> str:
        """Return a digest of all that differs: what was shown is what is applied."""
        return sha256("".join(one.digest() for one in self.rows).encode()).hexdigest()


def apply(
    document: Document,
    *,
    name: str,
    user: Any = None,
    removes: bool = False,
    is_trial: bool = False,
    shown: str = "",
) -> Applied:
    """
    Make rows as a file of that name says; in a trial, only find out what that changes.

    With the digest of what was `shown` nothing is done if something else differs now.
    Rows that the file does not have are left alone unless it `removes`. Each change is
    in the audit log. Half of a file is never applied: not if a row is wrong either, for
    its model or for the form of its page, which `user` would fill in.
    """
    done = Applied()
    try:
        with transaction.atomic():
            for kind in KINDS:
                if kind.section in document.sections:
                    rows = document.sections[kind.section]
                    _apply_section(done, kind, rows, file=name, removes=removes)
                    refresh()  # rows of the later ones may name these
            for one in done.rows:
                done.problems += _form_problems(one, user)
                _record(one, file=name, user=user)
            if shown not in ("", done.digest()):
                done.problems.append(_("Something else differs now than was shown."))
            if done.problems or is_trial:
                transaction.set_rollback(True)
    except DatabaseError as error:  # what no validation has seen
        done.problems.append(_("The database says: %(error)s") % {"error": error})
    finally:
        refresh()  # in this process too, what was rolled back does not hold
    return done


def _apply_section(
    done: Applied, kind: Kind, rows: list[dict[str, Any]], *, file: str, removes: bool
) -> None:
    own = dict(_placed(kind, ((values_of(kind, row), row) for row in kind.rows())))
    wanted = dict(_placed(kind, ((values, None) for values in rows)))
    # Gone ones first: a name may be needed by another row.
    gone = [place for place in own if place not in wanted] if removes else []
    for before, row in map(own.__getitem__, gone):
        name = _name(kind, before)
        difference = {"kind": kind, "name": name, "row": row, "before": before}
        done.rows.append(RowDifference(status=REMOVED, **difference))
        kind.model._default_manager.get(pk=row.pk).delete()  # `row` keeps its key
    for place, (values, _row) in wanted.items():
        before, row = own.get(place, ({}, None))
        _apply_row(done, kind, (before, values), row, file)


def _apply_row(
    done: Applied, kind: Kind, values: tuple[Values, Values], row: Any, file: str
) -> None:
    before, wanted = values
    is_new = row is None
    row = kind.model() if is_new else row
    try:
        many = set_values(kind, row, wanted)
        row.full_clean()
        after = values_of(kind, row) if not many else dict(wanted)
        if not is_new and after == before:
            return
        row.imported_from = file[:FILE_CHARS]
        with transaction.atomic():
            row.save()
            for name, others in many.items():
                getattr(row, name).set(others)
    except ValidationError as error:
        done.problems += _sentences(kind, wanted, error)
        return
    done.rows.append(
        RowDifference(
            kind=kind,
            name=_name(kind, wanted),
            status=ADDED if is_new else CHANGED,
            row=row,
            before=before,
            after=values_of(kind, row),
        )
    )


def _form_problems(one: RowDifference, user: Any) -> Iterator[str]:
    """Yield what the form of a row would refuse, once all rows are as the file says."""
    if one.status != REMOVED:
        was_active = bool(one.before) and one.before.get("is_active", True)
        found = row_problems(one.row, user, was_active=was_active)
    elif one.kind.model is Profile and not _in_settings(one.name):
        found = ((NON_FIELD_ERRORS, use) for use in uses_of(one.name))
    else:
        return
    for name, problem in found:
        wrong = ValidationError({name: [problem]})
        yield from _sentences(one.kind, one.after or one.before, wrong)


def _in_settings(profile: str) -> bool:
    return bool(conf.get("PROFILES").get(profile, {}).get("MODEL"))


def _placed(kind: Kind, rows: Any) -> Iterator[tuple[Place, tuple[Values, Any]]]:
    seen: Counter[tuple[str, ...]] = Counter()
    for values, row in rows:
        key = key_of(kind, values)
        yield (key, seen[key]), (values, row)
        seen[key] += 1


def _name(kind: Kind, values: Values) -> str:
    return ", ".join(filter(None, key_of(kind, values)))


def _sentences(kind: Kind, values: Values, error: ValidationError) -> Iterator[str]:
    """Yield what is wrong with a row, each with the section, the row and the field."""
    where = f"{kind.section} “{_name(kind, values)}”"
    for name, messages in error.message_dict.items():
        at = where if name == NON_FIELD_ERRORS else f"{where}, {name}"
        for message in messages:
            yield f"{at}: {message}"


def _record(one: RowDifference, *, file: str, user: Any) -> None:
    label = one.kind.model._meta.label_lower
    values = one.before if one.status == REMOVED else one.after
    key = "" if one.row.pk is None else one.row.pk
    record(
        f"settings.{one.status}",
        user=user,
        details={"object": f"{label}:{key}", "values": dict(values), "file": file},
    )
