"""A form that is filled in in Chromium posts what the tool that writes would post."""

import pytest
from django.contrib.auth import get_user_model
from django.utils import translation

from ai_assistant.registry import registry
from ai_assistant.tools.data.writing.change import add_page, change_page
from tests.hosts.packages.person import Person
from tests.hosts.packages.test_browser_post import ORIGIN, Desk, chromium, client, plain
from tests.hosts.packages.test_same_rows import cases, context_on

__all__ = ["client"]  # a fixture
pytestmark = pytest.mark.servers

FORMS = {
    name: case
    for name, case in cases.CASES.items()
    if case.tool in ("create_object", "change_object")
    and not (case.page or case.refused)
    and {*case.arguments} <= {"id", "values", "inlines"}
    and name not in getattr(cases, "NOT_FILLED", ())
} | getattr(cases, "FILLED", {})
FILL = """async (wanted) => {
  const aia = document.getElementById("aia") ?? document.createElement("div");
  aia.id = "aia";
  aia.innerHTML = `<div id="aia-notice"></div><div id="aia-strings"></div>
    <template id="aia-t-filled"><span class="aia-filled"><del></del><button
      type="button" data-aia-take-back></button></span></template>
    <template id="aia-t-filling"><p class="aia-filling"><span></span><button
      type="button"></button><button type="button"></button></p></template>`;
  document.body.append(aia);
  document.activeElement?.blur(); // the person is in the panel
  const { fillForm } = await import("/static/ai_assistant/fill.js");
  return fillForm(wanted);
}"""
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}
# Unfold has it in a label.
BOX = ":is([name$=-DELETE], label:has([name$=-DELETE]))"
DIRECTION = "getComputedStyle(document.body).direction"
# The language of the pages, and what shows them.
WAYS = {"wide": ("en", {}), "mirrored, on a phone": ("ar", PHONE)}
LEFT = ("typed_by_person", "not_on_page", "sends_itself")


def both(client, case, boss):
    """Return the address of a form, what it is to be filled with, and the tool's POST."""
    person = Person(client, case)
    values, inlines = case.arguments["values"], case.arguments.get("inlines")
    is_new = case.tool == "create_object"
    pk = case.arguments.get("id")
    address = person._url("add") if is_new else person._url("change", pk)
    context = context_on(address, client, boss)
    wanted = registry.tool("fill_form").handler(context, values, inlines)
    posted = (
        add_page(context, case.model, values, inlines)
        if is_new
        else change_page(context, case.model, pk, values, inlines)[0]
    )
    return address, wanted, dict(posted.data.lists())


@pytest.mark.parametrize("way", WAYS)
def test_form_that_is_filled_in_posts_what_the_tool_would(
    client, subtests, settings, way
):
    boss = get_user_model().objects.get(username="ada")
    language, screen = WAYS[way]
    settings.LANGUAGES = [*settings.LANGUAGES, (language, language)]
    with translation.override(language):
        forms = {name: both(client, case, boss) for name, case in FORMS.items()}
    addresses = {address for address, *_rest in forms.values()} | {"/admin/jsi18n/"}
    client.cookies.pop(settings.LANGUAGE_COOKIE_NAME, None)  # a CMS sets it
    asked = {"HTTP_ACCEPT_LANGUAGE": language}
    answers = {
        address: client.get(address, follow=True, **asked) for address in addresses
    }
    pages = {
        address: (answer.content, answer["Content-Type"])
        for address, answer in answers.items()
    }
    filled, directions = {}, set()
    assert forms

    # No query from here on: Playwright has an event loop in this thread.
    with chromium() as browser, browser.new_context(**screen) as tab:
        desk = Desk(tab.new_page(), pages)
        for name, (address, wanted, _ours) in forms.items():
            filled[name] = desk.post_of(address, FILL, wanted)
            directions.add(desk.page.evaluate(DIRECTION))
        with subtests.test("a row that was to be deleted is taken back"):
            takes_back_deletion(desk, forms)

    assert directions == {"rtl" if language == "ar" else "ltr"}
    for name, (*_rest, ours) in forms.items():
        with subtests.test(name):
            theirs, told = filled[name]
            assert {key: told[key] for key in LEFT} == {key: [] for key in LEFT}
            assert said(theirs) == said(ours)
            for field in FORMS[name].arguments["values"]:  # however the page edits it
                assert theirs.get(field) == ours.get(field)


def takes_back_deletion(desk, forms):
    """Take back what the last form ticks for deletion, if it does."""
    removing = [
        (address, wanted)
        for address, wanted, _ours in forms.values()
        if any(one["name"].endswith("-DELETE") for one in wanted["fields"])
    ]
    for address, wanted in removing[-1:]:
        desk.page.goto(ORIGIN + address)
        desk.page.evaluate(FILL, wanted)
        box = desk.page.locator("[name$=-DELETE][data-aia-filled]")
        # A theme may have the rows in a tab that is not open.
        box.wait_for(state="attached")
        back = desk.page.locator(f"{BOX} ~ .aia-filled [data-aia-take-back]")
        back.dispatch_event("click")
        box.wait_for(state="detached")
        assert desk.page.locator("[name$=-DELETE]:checked").count() == 0


def said(posted):
    """Return what is posted, without what is empty: themes leave some of it out."""
    return {name: values for name, values in plain(posted).items() if any(values)}
