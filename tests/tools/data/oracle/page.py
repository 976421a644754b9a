"""The answers of the two: of the real page to a test client, and of the tools."""

from contextlib import suppress

from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db import transaction

from ai_assistant import ModelRetry, ToolFailed
from tests.tools.data.oracle.variants import site
from tests.tools.data.writing import use
from tests.warehouse.models import Piece, Thing

NEW = {
    "name": "changed",
    "kind": "b",
    "amount": 77,
    "owner": "another",
    "is_open": None,  # the other one
    "note": "noted",
    "place": None,  # of a supplier
    "api_key": "stolen",
}


def trial(act, see):
    """Do `act`, return what `see` finds then, and take it back."""
    with transaction.atomic():
        act()
        found = see()
        transaction.set_rollback(True)
    return found


class RealPage:
    """What the admin does for the client who is signed in."""

    def __init__(self, client, model):
        self.client = client
        self.base = f"/oracle/warehouse/{model._meta.model_name}/"
        inlines = site.get_model_admin(model).inlines
        self.most = inlines[0].max_num if inlines else None

    def may_see(self, obj):
        return self.client.get(f"{self.base}{obj.pk}/change/").status_code == 200

    def may_list(self):
        return self.client.get(self.base).status_code == 200

    def change(self, obj, values, pieces=()):
        if self.most is not None and any("id" not in one for one in pieces):
            return  # the page has no blank row any more
        data = posted(form_data(obj) | values) | piece_data(obj, pieces)
        self.client.post(f"{self.base}{obj.pk}/change/", data)

    def add(self, values):
        data = posted({"name": "made", "kind": "a", "amount": 1, **values})
        self.client.post(f"{self.base}add/", data | piece_data(None, ()))

    def delete(self, obj):
        self.client.post(f"{self.base}{obj.pk}/delete/", {"post": "yes"})

    def act(self, obj, action):
        data = {"action": action, "index": "0", ACTION_CHECKBOX_NAME: [str(obj.pk)]}
        self.client.post(self.base, data)


class Tools:
    """What the tools do for the user, refusals being nothing."""

    def __init__(self, user, model):
        self.user, self.model = user, model._meta.label_lower

    def use(self, name, **arguments):
        with suppress(ModelRetry, ToolFailed):
            use(name, self.user, model=self.model, **arguments)

    def may_see(self, obj):
        return self.may("get_object", id=obj.pk)

    def may_list(self):
        return self.may("search_objects")

    def may(self, name, **arguments):
        try:
            use(name, self.user, model=self.model, **arguments)
        except (ModelRetry, ToolFailed):
            return False
        return True

    def change(self, obj, values, pieces=()):
        inlines = {"pieces": list(pieces)} if pieces else None
        self.use("change_object", id=obj.pk, values=values, inlines=inlines)

    def change_many(self, obj, values):
        self.use("change_objects", ids=[obj.pk], values=values)

    def add(self, values):
        # A page passes over what it has no input for; a tool refuses it.
        for first in ({"name": "made", "kind": "a"}, {"name": "made"}):
            if not Thing.objects.filter(name="made").exists():
                self.use("create_object", values={**first, **values})

    def delete(self, obj):
        self.use("delete_objects", ids=[obj.pk])

    def act(self, obj, action):
        self.use("run_admin_action", action=action, ids=[obj.pk])


def row(obj):
    return Thing.objects.filter(pk=obj.pk).values().first()


def pieces_of(obj):
    found = Piece.objects.filter(thing_id=obj.pk)
    return sorted(found.values_list("code", "size"))


def posted(values):
    """Return `values` as a browser posts them."""
    data = {key: "" if one is None else one for key, one in values.items()}
    if not data.get("is_open"):
        data.pop("is_open", None)
    return data


def form_data(obj):
    own = row(obj)
    data = {key: own[key] for key in ("name", "kind", "amount", "owner", "note")}
    data |= {"place": own["place_id"] or "", "api_key": own["api_key"]}
    return data | {"is_open": own["is_open"]}


def piece_data(obj, pieces):
    """Return what a browser posts of the inline, whatever the page shows of it."""
    old = [] if obj is None else list(Piece.objects.filter(thing_id=obj.pk))
    data, new = {}, [one for one in pieces if "id" not in one]
    given = {one["id"]: one for one in pieces if "id" in one}
    for number, piece in enumerate(old):
        own = {"code": piece.code, "size": piece.size, **given.get(piece.pk, {})}
        own |= {"id": piece.pk, "thing": piece.thing_id}
        data |= {f"pieces-{number}-{key}": one for key, one in own.items()}
    for number, one in enumerate(new, len(old)):
        own = {"size": 1, "id": "", "thing": "" if obj is None else obj.pk, **one}
        data |= {f"pieces-{number}-{key}": value for key, value in own.items()}
    totals = {"TOTAL_FORMS": len(old) + len(new), "INITIAL_FORMS": len(old)}
    totals |= {"MIN_NUM_FORMS": 0, "MAX_NUM_FORMS": 1000}
    return data | {f"pieces-{key}": one for key, one in totals.items()}
