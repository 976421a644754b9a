"""
What the harvest posts of an untouched page is what the HTML of the page posts.

That of each page that opens, to add or to change an object: those of the cases, with
their queries, and those of all other models that the site has in its admin. The values of
a name are compared in their order; that of the names is of no matter to a form.
"""

from typing import Any

from django.contrib.auth import get_user_model
from django.forms import BaseModelForm
from django.test import Client

from ai_assistant.tools.data.access.model_admin import (
    AdminAccess,
    find_access,
    find_object,
    visible_models,
)
from ai_assistant.tools.data.writing.submission import form_submission
from tests.hosts.packages.person import Person
from tests.hosts.packages.test_same_rows import boss, cases, context_on
from tests.tools.data.oracle.browser import Posted, posted_by

__all__ = ["boss"]  # a fixture

# Controls that a template has beside the form, which Django would pass over.
OF_THE_TEMPLATE = {*getattr(cases, "OF_THE_TEMPLATE", ())}
FORMS = {
    name: case
    for name, case in cases.CASES.items()
    if case.tool in ("create_object", "change_object")
}


def test_harvest_is_what_the_html_posts(boss, subtests):
    cases.make()
    client = Client()
    client.force_login(boss)
    getattr(cases, "sign_in", lambda *_args: None)(client, boss)
    compared = set()
    pages = {**pages_of_models(client), **pages_of_cases(client)}

    for address, (access, obj) in pages.items():
        page = client.get(address)
        if saves_object(page):
            html = page.content.decode()
            with subtests.test(address):
                own = dict(form_submission(access, obj, {}).data.lists())
                assert plain(own) == plain(posted_by(html, form_id(access)))
            compared.add(address)

    assert {*pages_of_cases(client)} <= compared


def saves_object(page: Any) -> bool:
    """Return whether a page opens that saves an object, and asks for nothing else."""
    if page.status_code != 200 or b'name="_save"' not in page.content:
        return False
    return isinstance(page.context["adminform"].form, BaseModelForm)


def pages_of_cases(client: Client) -> dict[str, tuple[AdminAccess, Any]]:
    """Return what the pages of the cases show, by their addresses."""
    pages = {}
    for case in FORMS.values():
        person = Person(client, case)
        access = found(client, case.model, person.address)
        if case.tool == "create_object":
            pages[person._url("add")] = access.at_page("add"), None
        else:
            obj = find_object(access, case.arguments["id"])
            pages[person._url("change", obj.pk)] = access.at_object(obj.pk), obj
    return pages


def pages_of_models(client: Client) -> dict[str, tuple[AdminAccess, Any]]:
    """Return what the pages of all models of the site show: of a new object, and one."""
    pages = {}
    context = context_on("/admin/", client, user())
    for visible in visible_models(context):
        access = found(client, visible.label, "/admin/")
        page = access.at_page("add")
        if access.model_admin.has_add_permission(page.request):
            pages[page.request.path] = page, None
        if obj := access.model_admin.get_queryset(access.request).first():
            page = access.at_object(obj.pk)
            pages[page.request.path] = page, find_object(access, obj.pk)
    return pages


def found(client: Client, model: str, address: str) -> AdminAccess:
    return find_access(context_on(address, client, user()), model, perm="add")


def user() -> Any:
    return get_user_model().objects.get(username="ada")


def form_id(access: AdminAccess) -> str:
    return f"{access.options.model_name}_form"


def plain(posted: Posted) -> Posted:
    """Return what is posted, without what is copied for new rows, and with bare lines."""
    return {
        name: [value.replace("\r\n", "\n") for value in values]
        for name, values in posted.items()
        if name not in OF_THE_TEMPLATE
        and "__prefix__" not in name
        and "-empty-" not in name
        and name != "_save"  # the button
    }
