"""What the tools allow and what the page of the admin allows, held together."""

from collections import Counter
from functools import partial

from django.apps import apps
from django.contrib.auth import get_user_model
from django.contrib.auth.management import create_permissions
from django.contrib.auth.models import Permission
from django.test import Client

from ai_assistant.tools.data.access import model_admin
from tests.tools.data.oracle.page import NEW, RealPage, Tools, pieces_of, row, trial
from tests.tools.data.oracle.variants import VARIANTS
from tests.warehouse.models import Piece, Supplier, Thing

IN_BULK = ("name", "note", "kind")
ALL = ("view", "add", "change", "delete")
ROLES = {
    "superuser": None,
    "nothing": ((), ()),
    "view": (("view",), ("view",)),
    "add": (("add",), ("add",)),
    "change": (("change",), ()),
    "delete": (("delete",), ("delete",)),
    "editor": (("view", "change"), ("view", "add", "change")),
    "manager": (ALL, ALL),
}


def make_user(role, model):
    users = get_user_model().objects
    if ROLES[role] is None:
        return users.create_superuser(role)
    user = users.create_user(role, is_staff=True)
    own, pieces = ROLES[role]
    names = [f"{one}_{model._meta.model_name}" for one in own]
    names += [f"{one}_piece" for one in pieces]
    user.user_permissions.set(Permission.objects.filter(codename__in=names))
    return users.get(pk=user.pk)


def things(user):
    """Return an open one of the user's own, and a closed one of somebody else."""
    place = Supplier.objects.create(name="here", code="here")
    made = []
    for owner, is_open in ((user.username, True), ("somebody", False)):
        thing = Thing.objects.create(
            name=f"of {owner}", kind="a", owner=owner, is_open=is_open, place=place
        )
        Piece.objects.create(thing=thing, code="old", size=5)
        made.append(thing)
    return made


def changed_fields(one, obj, values):
    """Return the columns that a change of all of these at once has changed."""
    before = row(obj)
    after = trial(lambda: one.change(obj, values), lambda: row(obj))
    return {key for key in after if after[key] != before[key]}


def new_values(obj):
    closed = Supplier.objects.get(code="closed")
    return {**NEW, "is_open": not obj.is_open, "place": closed.pk}


def field_trials(page, user, model, obj):
    """Yield each field, and whether the page and each of the tools changes it."""
    new = new_values(obj)
    # The values that a page may find wrong go by themselves.
    apart = [{name: new.pop(name)} for name in ("place", "kind")]
    real = changed_fields(page, obj, new)
    for one in apart:
        real |= changed_fields(page, obj, one)
        new |= one
    for name, value in new.items():
        column = "place_id" if name == "place" else name
        tools = [Tools(user, model)]
        if name in IN_BULK:
            tools.append(Bulk(user, model))
        for one in tools:
            own = column in changed_fields(one, obj, {name: value})
            yield f"{type(one).__name__} change {name}", column in real, own


def trials(obj):
    """Yield each trial: its name, what to do with the page or tools, what to see."""
    piece = Piece.objects.get(thing=obj)
    for name, given in {
        "add piece": {"code": "new"},
        "change code of piece": {"id": piece.pk, "code": "new"},
        "change size of piece": {"id": piece.pk, "size": 9},
        "delete piece": {"id": piece.pk, "DELETE": True},
    }.items():
        yield (
            name,
            lambda one, given=given: one.change(obj, {}, [given]),
            lambda: pieces_of(obj),
        )
    yield "delete", lambda one: one.delete(obj), lambda: row(obj) is None
    yield (
        "action",
        lambda one: one.act(obj, "stamp"),
        lambda: (row(obj) or {}).get("owner"),
    )


def add_trials():
    for name, value in {"note": "noted", "owner": "another", "api_key": "x"}.items():
        yield (
            f"add with {name}",
            lambda one, name=name, value=value: one.add({name: value}),
            lambda name=name, value=value: Thing.objects.filter(
                **{"name": "made", name: value}
            ).exists(),
        )
    yield "add", lambda one: one.add({}), lambda: len(Thing.objects.filter(name="made"))


def outcomes(page, user, model):
    """Yield what was tried, and whether the page and the tools have done it."""
    tools = Tools(user, model)
    tried = [("new", *one) for one in add_trials()]
    yield "list", page.may_list(), tools.may_list()
    for obj in things(user):
        yield f"{obj} see", page.may_see(obj), tools.may_see(obj)
        for name, real, own in field_trials(page, user, model, obj):
            yield f"{obj} {name}", real, own
        tried += [(str(obj), *one) for one in trials(obj)]
    for subject, name, act, see in tried:
        before = see()
        real = trial(partial(act, page), see) != before
        yield f"{subject} {name}", real, trial(partial(act, tools), see) != before


class Bulk(Tools):
    """The tools again, with the one for many objects in the place of that for one."""

    def change(self, obj, values, pieces=()):
        self.change_many(obj, values)


def compare(variant, capsys, monkeypatch):
    """Try all that a role may do with the tools and with the page of one variant."""
    model = VARIANTS[variant]
    # Names of other models, for a refusal: they take longer than all the rest.
    monkeypatch.setattr(model_admin, "_similar_models", lambda *_args: "")
    create_permissions(apps.get_app_config("warehouse"), verbosity=0)
    Supplier.objects.create(name="closed", code="closed", is_active=False)
    tally, more, less = Counter(), [], []

    for role in ROLES:
        user = make_user(role, model)
        client = Client()
        client.force_login(user)
        for tried, real, own in outcomes(RealPage(client, model), user, model):
            tally["both" if real and own else "neither"] += real == own
            (more if own else less).extend([f"{role}: {tried}"] * (real != own))
        Thing.objects.all().delete()
        Supplier.objects.filter(code="here").delete()

    kept = [one for one in less if "api_key" in one]
    with capsys.disabled():
        print(  # noqa: T201 - the figures are the point
            f"\npermission oracle, {variant}: {dict(tally)}, {len(more)} more, "
            f"{len(kept)} less as sensitive, {len(less) - len(kept)} less otherwise",
            end="",
        )
    assert more == []
    assert [one for one in less if one not in kept] == []
    assert tally["both"] > 10
    assert tally["neither"] > 10
