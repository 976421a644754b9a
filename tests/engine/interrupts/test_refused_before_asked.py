"""What a page of the site would not save is refused, and nobody is asked about it."""

import pytest
from django import forms
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.http import HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from ai_assistant.testing import answer_interrupt, call, reply, run_assistant
from tests.gallery.models import Painting, Work
from tests.tools.data import pages
from tests.tools.data.writing import columns, make_stock
from tests.warehouse.models import Mark, Product

pytestmark = pytest.mark.django_db

CLOSED, OWN_PAGE = "does not allow it", "shows a page of its own"


class ActingAdmin(admin.ModelAdmin):
    """With actions that answer with another page, as Django's documentation has one."""

    fields = ("name", "sku", "supplier")
    actions = ("export", "lead", "mark", "stay")

    @admin.action
    def export(self, request, queryset):
        return HttpResponse("name,sku", content_type="text/csv")

    @admin.action
    def lead(self, request, queryset):
        ids = ",".join(str(pk) for pk in queryset.values_list("pk", flat=True))
        return HttpResponseRedirect(f"/export/?ids={ids}")

    @admin.action
    def mark(self, request, queryset):
        queryset.update(margin=42)
        return HttpResponseRedirect(reverse("admin:index"))

    @admin.action
    def stay(self, request, queryset):
        return HttpResponseRedirect(request.get_full_path())


class Visited:
    """Keeps each visit, as middlewares do."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        Mark.objects.create(name="visit")
        return self.get_response(request)


class PostingAdmin(ActingAdmin):
    """Its list has code of its own."""

    def response_action(self, request, queryset, **more):
        return super().response_action(request, queryset, **more)


class ClosedListAdmin(ActingAdmin):
    """Its list and the page that deletes go elsewhere when they are posted."""

    def changelist_view(self, request, extra_context=None):
        if request.method == "POST":
            return HttpResponseRedirect(reverse("admin:index"))
        return super().changelist_view(request, extra_context)

    def delete_view(self, request, object_id, extra_context=None):
        if request.method == "POST":
            return HttpResponseRedirect(reverse("admin:index"))
        return super().delete_view(request, object_id, extra_context)


class ExportingAdmin(admin.ModelAdmin):
    """Its page answers a POST with a file."""

    fields = ("name", "sku", "supplier")

    def change_view(self, request, object_id, form_url="", extra_context=None):
        if request.method == "POST":
            return HttpResponse("name,sku", content_type="text/csv")
        return super().change_view(request, object_id, form_url, extra_context)


class ChoosingAdmin(admin.ModelAdmin):
    """Asks first which child is added, as the parent of django-polymorphic does."""

    def add_view(self, request, form_url="", extra_context=None):
        form = forms.Form()
        fieldsets = admin.helpers.AdminForm(form, [], {}, model_admin=self)
        context = {**self.admin_site.each_context(request), "adminform": fieldsets}
        return TemplateResponse(request, "admin/change_form.html", context)


@pytest.fixture
def stock(db):
    return make_stock()


@pytest.fixture
def ask(db):
    """Return a run in which the model makes one call, and then ends."""
    user = get_user_model().objects.create_superuser("ada")

    def start(tool, **arguments):
        replies = [reply("", call(tool, arguments)), "I cannot do that."]
        return run_assistant(user, "/admin/", "Do it.", replies=replies)

    return start


def check_refused(played, sentence):
    """Make sure that nobody is asked, and that the model gets this sentence."""
    (made,) = played.calls
    assert (played.interrupts, played.state) == ((), "succeeded")
    assert made.status in ("failed", "denied")
    assert sentence in made.error
    assert sentence in made.read_by_model
    assert played.text == "I cannot do that."


@pytest.mark.parametrize(
    ("kind", "values", "sentence"),
    [
        (pages.ClosedAdmin, {"name": "A"}, CLOSED),
        (ExportingAdmin, {"name": "A"}, CLOSED),
        (pages.OwnViewAdmin, {"sku": "C-1"}, "already exists"),
        (pages.OwnViewAdmin, {"note": "x"}, "'note' of product cannot be given"),
        (pages.ParentAdmin, {"weight": "heavy"}, "Enter a number"),
        (pages.ParentAdmin, {"sku": "A"}, "'sku' of product cannot be given"),
    ],
)
def test_page_that_is_code_of_the_site(settings, stock, ask, kind, values, sentence):
    before = columns(stock.lamp)
    with pages.served(settings, Product, kind):
        played = ask(
            "change_object",
            model="warehouse.product",
            id=stock.lamp.pk,
            values=values,
        )

    check_refused(played, sentence)
    assert columns(stock.lamp) == before


def test_page_that_adds(settings, stock, ask):
    values = {"name": "Desk", "sku": "D-1", "supplier": stock.acme.pk}
    with pages.served(settings, Product, pages.ClosedAdmin):
        played = ask("create_object", model="warehouse.product", values=values)

    check_refused(played, CLOSED)
    assert not Product.objects.filter(sku="D-1").exists()


@pytest.mark.parametrize(
    ("kind", "tool", "arguments", "sentence"),
    [
        (pages.ClosedAdmin, "change_objects", {"values": {"name": "A"}}, CLOSED),
        (ClosedListAdmin, "delete_objects", {}, "Nothing would change"),
        (ClosedListAdmin, "run_admin_action", {"action": "mark"}, OWN_PAGE),
        (ActingAdmin, "run_admin_action", {"action": "export"}, OWN_PAGE),
        (ActingAdmin, "run_admin_action", {"action": "lead"}, OWN_PAGE),
    ],
)
def test_several_objects(settings, stock, ask, kind, tool, arguments, sentence):
    pks = [stock.chair.pk, stock.lamp.pk]
    before = columns(stock.chair), columns(stock.lamp)
    with pages.served(settings, Product, kind):
        played = ask(tool, model="warehouse.product", ids=pks, **arguments)

    check_refused(played, sentence)
    assert (columns(stock.chair), columns(stock.lamp)) == before


@pytest.mark.parametrize("kind", [ActingAdmin, PostingAdmin])
def test_what_a_middleware_writes_is_no_act(settings, stock, ask, kind):
    path = f"{__name__}.Visited"
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, path]
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "DATA": {"MIDDLEWARE": [path]}}
    given = {"model": "warehouse.product", "ids": [stock.lamp.pk], "action": "lead"}
    with pages.served(settings, Product, kind):
        played = ask("run_admin_action", **given)

    check_refused(played, OWN_PAGE)


@pytest.mark.parametrize("action", ["mark", "stay"])
def test_action_that_has_acted_may_lead_anywhere(settings, stock, ask, action):
    given = {"model": "warehouse.product", "ids": [stock.lamp.pk], "action": action}
    with pages.served(settings, Product, ActingAdmin):
        asked = ask("run_admin_action", **given)
        assert len(asked.interrupts) == 1
        played = answer_interrupt(asked, "approve")

    assert played.calls[0].status == "complete"


def test_parent_that_asks_for_a_child_first(settings, ask):
    with (
        pages.served(settings, Work, ChoosingAdmin),
        pages.served(settings, Painting, admin.ModelAdmin),
    ):
        played = ask("create_object", model="gallery.work", values={"title": "T"})

    check_refused(played, "added as one of its child models: gallery.painting")
    assert not Work.objects.exists()
