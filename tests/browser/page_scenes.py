"""What the assistant does with the page: a form, a list, the API, a tour."""

from typing import Any

from tests.browser.panel import Panel
from tests.model_server.scripts import call, text

SECTION = {"path": {"pk": 3}, "body": {"title": "At home"}}
RETITLE = "sections.partial_update"

SCRIPTS: dict[str, list[Any]] = {
    "filled": [
        [
            call(
                "fill_form",
                {
                    "values": {"title": "About you", "questionnaire": 2},
                    "inlines": {
                        "questions": [
                            {"type": 1, "name": "nickname", "text": "Your nickname?"}
                        ]
                    },
                },
            )
        ],
        [text("I have filled in the form. Look at it, and save.")],
    ],
    "tour": [
        [
            call(
                "show_tour",
                {
                    "steps": [
                        {
                            "text": "Filter the list by its status here.",
                            # Also where the filters of Jazzmin are.
                            "selector": "#changelist-filter h2, #changelist-filter, .search-filter + .select2",
                        },
                        {
                            "text": "Then add a new one.",
                            "selector": "#id_title",
                            "view_name": "admin:questionnaires_questionnaire_add",
                        },
                    ]
                },
            )
        ],
        [text("I show you where. Press Next to go on.")],
    ],
    "filtered": [
        [
            call(
                "navigate_to",
                {
                    "view_name": "admin:questionnaires_questionnaire_changelist",
                    "filters": {"status": "draft"},
                },
            )
        ],
        [text("These are the drafts.")],
    ],
    "api-change": [
        [call("search_api", {"operation": RETITLE})],
        [
            text("Section 3 gets the new title by the API of the site."),
            call("call_api", {"operation": RETITLE, **SECTION}),
        ],
        [text("It has the new title.")],
    ],
}
SAME = {"filled-back": "filled", "api-changed": "api-change"}


def filled(panel: Panel) -> None:
    panel.goto("/admin/questionnaires/section/add/")
    panel.ask("Fill in a title and a question for the nickname.")
    panel.wait_done()
    panel.page.locator(".aia-filling").wait_for()


def filled_back(panel: Panel) -> None:
    filled(panel)
    field = panel.page.locator(".field-title [data-aia-take-back]").first
    field.evaluate("one => one.click()")  # on a phone it is under the panel
    panel.page.locator("#id_title[data-aia-filled]").wait_for(state="detached")


def filtered(panel: Panel) -> None:
    panel.goto("/admin/")
    panel.ask("Show me the drafts.")
    panel.page.wait_for_url("**status**draft**")
    panel.wait_done()


def api_change(panel: Panel) -> None:
    panel.ask("Change the title of section 3 by the API.")
    panel.wait_state("waiting-approval")
    panel.approval.wait_for()


def api_changed(panel: Panel) -> None:
    api_change(panel)
    panel.approve()
    panel.wait_done()
    panel.log.locator(".aia-tool > details > summary").last.click()


def tour(panel: Panel) -> None:
    panel.ask_and_wait("How do I make a questionnaire?")
    panel.page.locator(".aia-tour").wait_for()


SCENES = (filled, filled_back, filtered, api_change, api_changed, tour)
