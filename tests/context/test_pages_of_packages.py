"""Pages that packages and second sites add are known as those of Django's own admin."""

from types import ModuleType

import pytest
from django.contrib import admin
from django.http import HttpResponse
from django.urls import clear_url_caches, path

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
    def get_urls(self):
        view = self.admin_site.admin_view
        prefix = "warehouse_product"
        return [
            path("export/", view(self.export), name=f"{prefix}_export"),
            path("<path:object_id>/old/", view(page), name=f"{prefix}_old_history"),
            path("", view(self.change_view), {"object_id": "1"}, f"{prefix}_change"),
            *super().get_urls(),
        ]

    def export(self, request):
        return HttpResponse()


def page(request, object_id=""):
    return HttpResponse()


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
