"""Pages that packages and second sites add are known as those of Django's own admin."""

from types import ModuleType

import pytest
from django.contrib import admin
from django.http import HttpResponse, HttpResponseForbidden
from django.urls import clear_url_caches, path, re_path

from ai_assistant.context.opened import admin_summary, opened_object
from ai_assistant.context.page import find_page, page_info
from ai_assistant.engine.calls.availability import tools_of
from ai_assistant.engine.lifecycle.scope import RunScope, module_prompt
from ai_assistant.models.run import Run
from ai_assistant.modules.resolve import module_for
from ai_assistant.render.html.transcript.stale import tables_shown
from tests.context.conftest import seen
from tests.tools.data.test_own_fields import Settings
from tests.tools.data.writing import make_stock
from tests.warehouse.models import Product, Supplier

pytestmark = pytest.mark.django_db


class AddingAdmin(admin.ModelAdmin):
    opens = True  # its page of the history

    def get_urls(self):
        view = self.admin_site.admin_view
        prefix = "warehouse_product"
        return [
            path("export/", view(self.export), name=f"{prefix}_export"),
            path("<path:object_id>/old/", view(page), name=f"{prefix}_old_history"),
            re_path(
                "^([^/]+)/old/([0-9]+)/$", view(self.revision), name=f"{prefix}_one"
            ),
            path("", view(self.change_view), {"object_id": "1"}, f"{prefix}_change"),
            *super().get_urls(),
        ]

    def export(self, request):
        return HttpResponse()

    def get_object(self, request, object_id, from_field=None):
        return super().get_object(request, object_id, from_field)

    def history_view(self, request, object_id, extra_context=None):
        return HttpResponse("drawn") if self.opens else HttpResponseForbidden()

    def revision(self, request, object_id, version_id, extra_context=None):
        return HttpResponse()


def page(request, object_id=""):
    return HttpResponse()


@pytest.fixture
def boss(django_user_model):
    return django_user_model.objects.create_superuser("ada")


@pytest.fixture
def lamp(db):
    supplier = Supplier.objects.create(name="Acme", code="AC")
    return Product.objects.create(name="Lamp", sku="L-1", supplier=supplier)


@pytest.fixture(autouse=True)
def _sites(settings):
    first, second = admin.AdminSite("admin"), admin.AdminSite("second")
    for site in (first, second):
        site.register(Product, AddingAdmin)
        site.register(Supplier)
        site._registry[Settings] = admin.ModelAdmin(Settings, site)
    urls = ModuleType("urls_of_two_sites")
    urls.urlpatterns = [path("admin/", first.urls), path("second/", second.urls)]
    settings.ROOT_URLCONF = urls
    clear_url_caches()
    yield
    clear_url_caches()


@pytest.mark.parametrize(
    ("at", "action", "object_id", "module"),
    [
        ("product/export/", "", "", "default"),
        ("product/7/old/", "", "7", "default"),
        ("product/a_2Fb/old/3/", "", "a/b", "default"),
        ("product/", "change", "1", "admin-form"),
        ("supplier/", "changelist", "", "admin-list"),
        ("supplier/3/history/", "history", "3", "admin-history"),
    ],
)
@pytest.mark.parametrize("site", ["admin", "second"])
def test_page(site, at, action, object_id, module):
    found = find_page(f"/{site}/warehouse/{at}")

    assert found.info.model_name == at.partition("/")[0]
    assert (found.info.action, found.info.object_id) == (action, object_id)
    assert found.model_admin.admin_site.name == site
    assert module_for(found.info).id == module


def test_arguments_have_the_names_of_the_view():
    found = find_page("/admin/warehouse/product/7/old/3/")

    assert found.info.arguments == {"object_id": "7", "version_id": "3"}


@pytest.mark.parametrize("site", ["admin", "second"])
def test_object_is_shown_as_on_its_form(site, boss, lamp):
    found = find_page(f"/{site}/warehouse/product/{lamp.pk}/old/3/")

    opened = opened_object(found, boss)

    assert opened == lamp
    assert admin_summary(found, boss, opened)["name"] == "Lamp"


@pytest.mark.parametrize("opens", [True, False])
def test_object_of_a_page_that_draws_itself(boss, lamp, monkeypatch, opens):
    """As the history of django-simple-history does."""
    monkeypatch.setattr(AddingAdmin, "opens", opens)
    found = find_page(f"/admin/warehouse/product/{lamp.pk}/history/")

    assert (opened_object(found, boss) == lamp) is opens


@pytest.mark.parametrize("site", ["admin", "second"])
def test_start_page(site):
    assert module_for(find_page(f"/{site}/").info).id == "admin-index"


def test_page_of_what_is_no_model():
    """As that of django-constance: the socket of the page asks for its tables, too."""
    found = find_page("/admin/warehouse/settings/")

    assert found.model_admin is None
    assert found.info.model_name == ""
    assert tables_shown("/admin/warehouse/settings/") == frozenset()


def told_on(site, at, user):
    """Return what a run gets on a page of a site: its module, its tools, the page."""
    address = f"/{site}/warehouse/{at}"
    module = module_for(page_info(address))
    scope = RunScope(Run(page_path=address, module=module.id), user)
    items = seen(user, address)
    told = {key: items[key].value for key in ("object", "list", "page") if key in items}
    return {
        "module": scope.module.id,
        "prompt": module_prompt(scope).replace(site, "site"),
        "tools": [tool.name for tool in tools_of(scope)],
        "items": str(told).replace(f"/{site}/", "/site/").replace(f"{site}:", "site:"),
    }


@pytest.mark.parametrize(
    ("at", "module"),
    [
        ("supplier/", "admin-list"),
        ("supplier/add/", "admin-form"),
        ("supplier/{pk}/change/", "admin-form"),
        ("supplier/{pk}/history/", "admin-history"),
    ],
)
def test_second_site_gets_what_the_first_gets(user, at, module):
    at = at.format(pk=make_stock().acme.pk)

    first, second = (told_on(site, at, user) for site in ("admin", "second"))

    assert first == second
    assert first["module"] == module
    assert first["prompt"]
    assert first["items"] != "{}"
