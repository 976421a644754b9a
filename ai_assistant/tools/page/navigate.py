"""Take the person to another page of the site."""

import re

from django.contrib.admin.utils import quote
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ai_assistant import conf
from ai_assistant.context.opened import admits
from ai_assistant.context.page import Page, find_page
from ai_assistant.decorators import tool
from ai_assistant.exceptions import ModelRetry, ToolFailed
from ai_assistant.types import RunContext

NAVIGATE_TO = "navigate_to"
# Of the name of a URL, without its namespace; those of the admin are known better.
REFUSED = re.compile(
    r"(^|_|-)(log(out|in)|password|delete|jsi18n|autocomplete|view_on_site)($|_|-)"
)
FORMS = ("index", "app_list", "changelist", "add", "change", "history")


@tool(
    effect="ui",
    name=NAVIGATE_TO,
    browser=True,
    shared=True,
    label=gettext_lazy("Go to a page"),
)
def navigate_to(
    context: RunContext, view_name: str, arguments: dict[str, str | int] | None = None
) -> dict[str, str]:
    """
    Take the person to another page; the result tells what is on it.

    Only when the person wants to go there. It is refused while the page has
    unsaved changes.

    view_name: a Django URL name with its namespace, for example admin:index,
    admin:APP_MODEL_changelist, admin:APP_MODEL_add or admin:APP_MODEL_change
    arguments: of the URL, for example {"object_id": "1"}
    """
    namespace, _colon, url_name = view_name.rpartition(":")
    if namespace not in conf.get("NAVIGATE_TO"):
        allowed = ", ".join(map(repr, conf.get("NAVIGATE_TO"))) or _("none")
        raise ToolFailed(
            _("“%(name)s” is not among the pages that may be opened.")
            % {"name": view_name},
            suggestion=_("Allowed are the namespaces %(names)s.") % {"names": allowed},
        )
    path = _path(view_name, arguments or {})
    page = find_page(path)
    if page is None or not _is_harmless(page, url_name):
        raise ToolFailed(
            _("“%(name)s” is never opened by a tool.") % {"name": view_name}
        )
    if not admits(page, context.user):
        raise ToolFailed(
            _("“%(path)s” does not exist, or the person may not open it.")
            % {"path": path}
        )
    return {"path": path}


def _path(view_name: str, arguments: dict[str, str | int]) -> str:
    """Return the path of this site. Raise ModelRetry if there is none."""
    is_admin = view_name.startswith("admin:")
    values = {
        name: quote(str(value)) if is_admin and name == "object_id" else value
        for name, value in arguments.items()
    }
    try:
        return reverse(view_name, kwargs=values)
    except NoReverseMatch as error:
        raise ModelRetry(
            f"There is no URL {view_name!r} with the arguments {sorted(arguments)}. "
            "Give the name and the arguments as Django knows them."
        ) from error


def _is_harmless(page: Page, url_name: str) -> bool:
    """Tell whether to open the page changes nothing and leaves the site nowhere."""
    if page.info.action in FORMS:
        return True
    return page.info.action != "delete" and not REFUSED.search(url_name)
