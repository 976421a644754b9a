"""
What the harvest posts of an untouched page is what the HTML of the page posts.

That of each page that opens, to add or to change an object: those of the cases, with
their queries, and those of all other models that the site has in its admin. The values of
a name are compared in their order; that of the names is of no matter to a form.
"""

from dataclasses import replace
from typing import Any

from django.forms import BaseModelForm
from django.test import Client

from ai_assistant import RunContext
from ai_assistant.context.page import page_info
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
    # A package may have no template for a Django: such a page does not open.
    client = Client(raise_request_exception=False)
    client.force_login(boss)
    getattr(cases, "sign_in", lambda *_args: None)(client, boss)
    compared = set()
    context = context_on("/admin/", client, boss)
    of_cases = pages_of_cases(client, context)
    pages = {**pages_of_models(context), **of_cases}

    for address, (access, obj) in pages.items():
        page = client.get(address, follow=True)  # to itself, with a query
        if saves_object(page):
            html = page.content.decode()
            with subtests.test(address):
                own = dict(form_submission(access, obj, {}).data.lists())
                assert plain(own) == plain(posted_by(html, form_id(access)))
            compared.add(address)

    assert {*of_cases} <= compared


def saves_object(page: Any) -> bool:
    """Return whether a page opens that saves an object, and asks for nothing else."""
    if page.status_code != 200 or b'name="_save"' not in page.content:
        return False
    return isinstance(page.context["adminform"].form, BaseModelForm)


def pages_of_cases(
    client: Client, context: RunContext
) -> dict[str, tuple[AdminAccess, Any]]:
    """Return what the pages of the cases show, by their addresses."""
    pages = {}
    for case in FORMS.values():
        person = Person(client, case)
        there = replace(context, page=page_info(person.address))
        access = find_access(there, case.model, perm="add")
        if case.tool == "create_object":
            pages[person._url("add")] = access.at_page("add"), None
        else:
            obj = find_object(access, case.arguments["id"])
            pages[person._url("change", obj.pk)] = access.at_object(obj.pk), obj
    return pages


def pages_of_models(context: RunContext) -> dict[str, tuple[AdminAccess, Any]]:
    """Return what the pages of all models of the site show: of a new object, and one."""
    pages = {}
    for visible in visible_models(context):
        access = find_access(context, visible.label, perm="add")
        page = access.at_page("add")
        if page.request.resolver_match is None:
            continue  # it is registered without pages, as placeholders of a CMS
        if access.model_admin.has_add_permission(page.request):
            pages[page.request.path] = page, None
        if obj := access.model_admin.get_queryset(access.request).first():
            page = access.at_object(obj.pk)
            pages[page.request.path] = page, find_object(access, obj.pk)
    return pages


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
