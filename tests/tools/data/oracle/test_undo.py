"""What an undo allows is never more than the page of the admin allows the person now."""

from collections import Counter
from functools import partial

import pytest
from django.apps import apps
from django.contrib.auth.management import create_permissions
from django.test import Client

from ai_assistant.changes.capture.recorder import recording
from ai_assistant.changes.capture.store import store_as
from ai_assistant.changes.undo.planning import make_plan
from ai_assistant.models.change import ChangeSet
from ai_assistant.tools.data.undo.permissions import AdminPermissions
from tests.figures import FIGURE
from tests.thorough import part
from tests.tools.data.oracle import urls  # noqa: F401 - with all models
from tests.tools.data.oracle.comparing import ROLES, make_user, new_values, things
from tests.tools.data.oracle.page import RealPage, pieces_of, row, trial
from tests.tools.data.oracle.variants import VARIANTS, site
from tests.warehouse.models import Piece, Supplier, Thing

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.urls("tests.tools.data.oracle.urls"),
]

TRIED = part(VARIANTS, every=96, start=1)


class Undo:
    """What an undo would do for the person, of what the assistant does now."""

    def __init__(self, user):
        self.user = user

    def takes_back(self, work, key, field=""):
        """Do `work`; return whether its undo would restore an object, or one field."""
        with recording() as recorder:
            work()
        made = store_as(ChangeSet(user=self.user, kind="call"), recorder)
        plan = make_plan([made], AdminPermissions(self.user))
        found = next(one for one in plan.rows if one.key == key)
        fields = {one.attname: one.outcome for one in found.fields}
        return (fields.get(field) if field else found.outcome) == "restore"


def key_of(obj):
    kind = "thing" if isinstance(obj, Thing) else "piece"
    return f"warehouse.{kind}:{obj.pk}"


def field_trials(page, undo, obj):
    """Yield each field, and whether the page and the undo set it to what it was."""
    before = row(obj)
    for name, value in new_values(obj).items():
        column = "place_id" if name == "place" else name
        work = partial(Thing.objects.filter(pk=obj.pk).update, **{column: value})
        old = {name: before[column]}
        yield (
            name,
            trial(work, partial(is_set, page, obj, old, column)),
            trial(lambda: None, partial(undo.takes_back, work, key_of(obj), column)),
        )


def is_set(page, obj, values, column):
    """Return whether the page sets a field to this value."""
    page.change(obj, values)
    (value,) = values.values()
    return row(obj)[column] == value


def object_trials(page, undo, obj):
    """Yield each way in which the object itself comes and goes, for both."""
    piece = Piece.objects.get(thing=obj)
    yield (
        "delete it",
        trial(lambda: page.delete(obj), lambda: row(obj) is None),
        trial(lambda: None, lambda: undo_of_creation(undo, obj)),
    )
    yield (
        "add it",
        trial(lambda: page.add({}), Thing.objects.filter(name="made").exists),
        trial(
            lambda: None,
            lambda: undo.takes_back(Thing.objects.get(pk=obj.pk).delete, key_of(obj)),
        ),
    )
    for name, work, given in (
        ("size of piece", {"size": 9}, {"id": piece.pk, "size": 5}),
        ("code of piece", {"code": "new"}, {"id": piece.pk, "code": "old"}),
    ):
        (column,) = work
        write = partial(Piece.objects.filter(pk=piece.pk).update, **work)
        yield (
            name,
            trial(
                write,
                lambda given=given: changes(page, obj, given),
            ),
            trial(
                lambda: None,
                partial(undo.takes_back, write, key_of(piece), column),
            ),
        )
    own = {"code": "old", "size": 5}
    yield (
        "add piece",
        trial(
            Piece.objects.get(pk=piece.pk).delete,
            lambda: changes(page, obj, own),
        ),
        trial(
            lambda: None,
            lambda: undo.takes_back(
                Piece.objects.get(pk=piece.pk).delete, key_of(piece)
            ),
        ),
    )
    yield (
        "delete piece",
        trial(
            lambda: None,
            lambda: changes(page, obj, {"id": piece.pk, "DELETE": True}),
        ),
        trial(lambda: None, lambda: undo_of_piece(undo, obj)),
    )


def changes(page, obj, given):
    before = pieces_of(obj)
    if not before:
        page.most = None  # there is room for a row
    page.change(obj, {}, [given])
    return pieces_of(obj) != before


def undo_of_piece(undo, obj):
    """Return whether a piece would go that the assistant has made like the other."""
    made = Piece(thing_id=obj.pk, code="made", pk=100_000)
    return undo.takes_back(lambda: made.save(force_insert=True), key_of(made))


def undo_of_creation(undo, obj):
    """Return whether an object would go that the assistant has made like this one."""
    made = Thing(pk=100_000, **{k: v for k, v in row(obj).items() if k != "id"})

    def make():
        made.save(force_insert=True)
        Piece.objects.create(thing=made, code="old")

    return undo.takes_back(make, key_of(made))


@pytest.mark.row("R05")
@pytest.mark.parametrize("variant", TRIED)
def test_never_more_than_the_page(variant, monkeypatch, record_property):
    model = VARIANTS[variant]
    monkeypatch.setattr(site, "_registry", {model: site.get_model_admin(model)})
    create_permissions(apps.get_app_config("warehouse"), verbosity=0)
    Supplier.objects.create(name="closed", code="closed", is_active=False)
    tally, more, less = Counter(), [], Counter()

    for role in ROLES:
        user = make_user(role, model)
        client = Client()
        client.force_login(user)
        page, undo = RealPage(client, model), Undo(user)
        for obj in things(user):
            for trials in (field_trials, object_trials):
                for name, real, own in trials(page, undo, obj):
                    tally["both" if real and own else "neither"] += real == own
                    more.extend([f"{role}: {obj} {name}"] * (own and not real))
                    less[name] += real and not own
        Thing.objects.all().delete()
        Supplier.objects.filter(code="here").delete()

    count = sum(tally.values()) + len(more) + sum(less.values())
    record_property(
        FIGURE,
        f"undo oracle, {variant}: {count} compared, {dict(tally)}, {len(more)} more, "
        f"{sum(less.values())} less {dict(+less)}",
    )
    assert more == [], "\n".join(more)
    assert min(tally.values()) > 10
