"""
What the pages of the admin tell of each object, and what the tools tell of it.

Each field of an object has a value of its own, so that a value that is found in what
was told has been told. The pages are asked by a test client; their templates' context
is what they show.
"""

from contextlib import suppress

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth import get_user_model
from django.contrib.contenttypes.models import ContentType

from ai_assistant import ModelRetry, ToolFailed
from ai_assistant.context.opened import admin_summary, opened_object
from ai_assistant.context.page import find_page
from tests.tools.data.reading import call
from tests.warehouse.models import Mark, Piece, Supplier, Thing

FIELDS = ("name", "kind", "amount", "owner", "note", "place", "marks")
KINDS = ("a", "b")
MARKS = ("told", "hid")
HISTORY, PIECE = "history", "piece"


def telling_things(user):
    """Return things of which each value says whose it is: no two have one in common."""
    made = []
    for number, owner in enumerate((user.username, "somebody")):
        place = Supplier.objects.create(
            name=f"place-{number}-name", code=f"p{number}", is_active=not number
        )
        thing = Thing.objects.create(
            name=f"name-{number}",
            kind=KINDS[number],
            amount=700 + number,
            owner=owner,
            is_open=not number,
            note=f"note-{number}",
            place=place,
        )
        thing.marks.set(
            Mark.objects.create(name=f"{kind}-mark-{number}") for kind in MARKS
        )
        Piece.objects.create(thing=thing, code=f"piece-{number}", size=number)
        made.append(thing)
    return made


def log_changes(model, things):
    """Let the history of each thing have an entry, by somebody else."""
    clerk, _made = get_user_model().objects.get_or_create(username="clerk")
    of_model = ContentType.objects.get_for_model(model, for_concrete_model=False)
    LogEntry.objects.all().delete()
    for thing in things:
        LogEntry.objects.create(
            user=clerk,
            content_type=of_model,
            object_id=str(thing.pk),
            object_repr="it",
            action_flag=CHANGE,
            change_message=f"entry-{thing.pk}",
        )


def secrets(thing):
    """Return by name what gives a value of the thing away, when it is told."""
    return {
        "name": thing.name,
        "amount": thing.amount,
        "note": thing.note,
        "owner": thing.owner,
        "place": thing.place.name,
        PIECE: thing.pieces.get().code,
        **{one.name.partition("-")[0]: one.name for one in thing.marks.all()},
        HISTORY: f"entry-{thing.pk}",
    }


class PagesTell:
    """What the pages show to the client who is signed in."""

    def __init__(self, client, model):
        self.client = client
        self.base = f"/oracle/warehouse/{model._meta.model_name}/"
        self.model = model

    def told(self, thing):
        """Return the names of the secrets of `thing` that a page shows."""
        names = set()
        for context in self._contexts(f"{thing.pk}/change/"):
            names |= self._on_form(context, thing)
        for context in self._contexts(""):
            if changelist := context.get("cl"):
                names |= self._in_list(changelist, thing)
        for context in self._contexts(f"{thing.pk}/history/"):
            if context.get("action_list"):
                names |= {HISTORY, "name"}  # it is in the title
        return names

    def _contexts(self, path):
        response = self.client.get(self.base + path)
        if response.status_code == 200 and response.context is not None:
            yield response.context

    def _in_list(self, changelist, thing):
        if thing.pk not in [row.pk for row in changelist.result_list]:
            return set()
        columns = set(changelist.list_display) - {"action_checkbox"}
        return {"name" if column == "__str__" else column for column in columns}

    def _on_form(self, context, thing):
        """Return what the fields of the form and its inlines show."""
        adminform = context.get("adminform")
        if adminform is None:
            return set()
        lines = [line for fieldset in adminform for line in fieldset]
        names = {_name(field) for line in lines for field in line}
        place = adminform.form.fields.get("place")
        if place and not place.queryset.filter(pk=thing.place_id).exists():
            names.discard("place")
        if "marks" in names:
            names |= self._marks(adminform.form.fields.get("marks"), thing)
        for formset in context["inline_admin_formsets"]:
            rows = [form.instance.pk for form in formset.formset.initial_forms]
            if thing.pieces.get().pk in rows:
                names.add(PIECE)
        return {"name", *names}  # it is in the title

    def _marks(self, field, thing):
        """Return which marks an input names, or a text if there is none."""
        shown = thing.marks.all()
        if field is not None:
            shown = shown.filter(pk__in=field.queryset.values("pk"))
        return {one.name.partition("-")[0] for one in shown}


def _name(field):
    return field.field["name"] if field.is_readonly else field.field.name


class ToolsTell:
    """What the tools tell the user, in each way that there is."""

    def __init__(self, user, model):
        self.user, self.label = user, model._meta.label_lower

    def ways(self, thing):
        """Yield each way of asking, and the names of the secrets that came out."""
        own = {"id": thing.pk}
        for name in FIELDS:
            yield f"search {name}", self._ask(thing, "search_objects", fields=[name])
            yield (
                f"group {name}",
                self._ask(thing, "aggregate_objects", group_by=[name], filters=own),
            )
        yield "search", self._ask(thing, "search_objects")
        for figure in ("min", "max", "sum"):
            measured = [f"{figure}:amount"]
            asked = {"measures": measured, "filters": own}
            yield f"{figure} amount", self._ask(thing, "aggregate_objects", **asked)
        yield "read", self._ask(thing, "get_object", id=thing.pk)
        yield "history", self._ask(thing, "object_history", id=thing.pk)
        for page in ("change", "history"):
            yield f"context of {page}", self._found(thing, self._context(thing, page))

    def _ask(self, thing, tool, **arguments):
        return self._found(thing, self._call(tool, **arguments))

    def _found(self, thing, told):
        # What is asked for is no answer, as ids are not.
        text = str(told)
        return {name for name, value in secrets(thing).items() if str(value) in text}

    def _context(self, thing, page):
        """Return what is told of the object of a page that the user says is open."""
        name = self.label.rpartition(".")[2]
        found = find_page(f"/oracle/warehouse/{name}/{thing.pk}/{page}/")
        opened = opened_object(found, self.user)
        return opened and (str(opened), admin_summary(found, self.user, opened))

    def _call(self, tool, **arguments):
        with suppress(ModelRetry, ToolFailed):
            return call(tool, self.user, model=self.label, **arguments)
        return None
