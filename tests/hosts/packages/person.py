"""A person on the pages of the admin: what their browser posts."""

from typing import Any

from django.apps import apps
from django.test import Client
from django.urls import reverse

from tests.hosts.packages.cases import Case, Typed
from tests.tools.data.oracle.browser import Posted, posted_by, with_row


class Person:
    """Does a case by hand. Raise AssertionError where the page does not save."""

    def __init__(self, client: Client, case: Case) -> None:
        self.client = client
        self.case = case
        self.model = apps.get_model(case.model)
        self.fault = ""

    @property
    def address(self) -> str:
        """The page on which the person asks the assistant."""
        pk = self.case.arguments.get("id")
        if self.case.page:
            return self.case.page
        if pk:
            return self._url("change", pk)
        is_adding = self.case.tool == "create_object" and self.case.query
        return self._url("add" if is_adding else "changelist")

    def act(self) -> str:
        """Do it; return what the page finds wrong."""
        arguments = self.case.arguments
        if self.case.tool == "create_object":
            self._save(self._url("add"))
        elif self.case.tool == "delete_objects":
            for pk in arguments["ids"]:
                self._post(self._url("delete", pk), {"post": ["yes"]})
        elif self.case.tool == "run_admin_action":
            chosen = {"_selected_action": arguments["ids"], "index": ["0"]}
            self._post(
                self._url("changelist"), {"action": [arguments["action"]], **chosen}
            )
        else:
            for pk in arguments.get("ids", [arguments.get("id")]):
                self._save(self._url("change", pk))
        return self.fault

    def _url(self, view: str, *args: Any) -> str:
        options = self.model._meta
        name = f"admin:{options.app_label}_{options.model_name}_{view}"
        return reverse(name, args=args) + self.case.page_query

    def _save(self, url: str) -> None:
        page = self.client.get(url, follow=True)
        assert page.status_code == 200, f"{url}: {page.status_code}"
        if page.redirect_chain:  # it has sent the browser on to itself
            url = "{PATH_INFO}?{QUERY_STRING}".format_map(page.request)
        posted = posted_by(page.content.decode(), f"{self.model._meta.model_name}_form")
        for prefix in self.case.rows:
            with_row(posted, prefix, int(posted[f"{prefix}-TOTAL_FORMS"][0]))
        lay_over(posted, self.case.typed)
        data = {
            name: values
            for name, values in posted.items()
            if "__prefix__" not in name and "-empty-" not in name
        }
        self._post(url, data | {"_save": ["Save"]})

    def _post(self, url: str, data: Posted) -> None:
        response = self.client.post(url, data)
        if response.status_code != 302:
            self.fault = _errors(response)


def lay_over(posted: Posted, typed: Typed) -> None:
    """Put in what a person types."""
    for name, value in typed.items():
        if value is None:
            posted.pop(name, None)
        elif callable(value):  # only the database knows it
            posted[name] = [value()]
        else:
            posted[name] = [value] if isinstance(value, str) else list(value)


def _errors(response: Any) -> str:
    context = response.context_data if hasattr(response, "context_data") else None
    if not context:
        return f"status {response.status_code}"
    errors = [str(context.get("errors", ""))]
    return " ".join(errors) or "refused"
