"""What Chromium posts of an untouched page is what the harvest of its forms posts."""

import importlib
import mimetypes
from http.client import NO_CONTENT
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.staticfiles import finders
from django.test import Client, RequestFactory

from ai_assistant.tools.data.access.model_admin import find_access, find_object
from ai_assistant.tools.data.writing.submission import form_submission
from tests.hosts.packages.person import Person
from tests.hosts.packages.test_same_rows import cases, context_on

ORIGIN = "http://testserver"
# Controls that no form knows, or that a script fills in as the page is shown.
OF_THE_PAGE = {"csrfmiddlewaretoken", *getattr(cases, "OF_THE_PAGE", ())}
playwright = pytest.importorskip("playwright.sync_api")
chromium = importlib.import_module("tests.browser.chromium").chromium

pytestmark = pytest.mark.servers

PAGES = {
    case.tool: case
    for case in cases.CASES.values()
    if case.tool in ("create_object", "change_object") and not case.query
}


class Desk:
    """A browser that gets pages which are there already; a POST is kept, not sent."""

    def __init__(self, page, pages):
        self.page, self.pages, self.posted = page, pages, {}
        page.route("**/*", self.answer)

    def answer(self, route):
        request, path = route.request, urlsplit(route.request.url).path
        address = request.url.removeprefix(ORIGIN)
        if request.method == "POST":
            kind = request.headers["content-type"]
            made = RequestFactory().generic(
                "POST", path, request.post_data_buffer, kind
            )
            self.posted = dict(made.POST.lists())
            route.fulfill(status=NO_CONTENT)  # the page stays
        elif address in self.pages:
            body, kind = self.pages[address]
            route.fulfill(body=body, content_type=kind)
        elif found := static_file(request.url):
            kind = mimetypes.guess_type(path)[0] or "text/plain"
            route.fulfill(path=found, content_type=kind)
        else:
            route.fulfill(status=404)

    def post_of(self, address, script="", *given):
        """Return what is posted, and what the script has said before that."""
        self.posted = {}
        self.page.goto(ORIGIN + address)
        said = self.page.evaluate(script, *given) if script else None
        with self.page.expect_event("response", lambda one: one.status == NO_CONTENT):
            self.page.evaluate(SAVE)
        return self.posted, said


def static_file(url):
    own, _, name = url.partition("/static/")
    if own != ORIGIN or not name:
        return None
    path = urlsplit(name).path
    # Where names have digests, the file is among those that were collected.
    collected = Path(settings.STATIC_ROOT or "nowhere") / path
    return finders.find(path) or (collected if collected.is_file() else None)


SAVE = """() => {
  const save = document.querySelector("[name=_save]");
  save.form.noValidate = true;
  save.form.requestSubmit(save);
}"""


@pytest.fixture
def client(db):
    boss = get_user_model().objects.create_superuser("ada", password="hunter2hunter2")
    cases.make()
    client = Client()
    client.force_login(boss)
    getattr(cases, "sign_in", lambda *_args: None)(client, boss)
    return client


def harvested(client, case):
    """Return the address of a page, and what the harvest posts there."""
    person = Person(client, case)
    boss = get_user_model().objects.get(username="ada")
    context = context_on(person.address, client, boss)
    access, obj = find_access(context, case.model, perm="add"), None
    if case.tool == "create_object":
        address, access = person._url("add"), access.at_page("add")
    else:
        obj = find_object(access, case.arguments["id"])
        address, access = person._url("change", obj.pk), access.at_object(obj.pk)
    return address, dict(form_submission(access, obj, {}).data.lists())


def test_harvest_is_what_chromium_posts(client):
    ours = dict(harvested(client, case) for case in PAGES.values())
    addresses = [*ours, "/admin/jsi18n/"]
    answers = {address: client.get(address, follow=True) for address in addresses}
    pages = {
        address: (answer.content, answer["Content-Type"])
        for address, answer in answers.items()
    }

    # No query from here on: Playwright has an event loop in this thread.
    with chromium() as browser, browser.new_context() as tab:
        desk = Desk(tab.new_page(), pages)
        theirs = {address: desk.post_of(address)[0] for address in ours}

    for address, posted in ours.items():
        assert plain(posted) == plain(theirs[address]), address


def plain(posted):
    """Return what is posted, without what is copied for new rows, and with bare lines."""
    return {
        name: [value.replace("\r\n", "\n") for value in values]
        for name, values in posted.items()
        if name not in OF_THE_PAGE
        and "__prefix__" not in name
        and "-empty-" not in name
        and name != "_save"
    }
