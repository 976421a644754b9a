"""The cards that ask for a change, and what is said of changes afterwards."""

from typing import Any

from tests.browser.panel import Panel
from tests.model_server.scripts import call, text

SECTION = {"model": "questionnaires.section", "id": 3}
RENAME = call("change_object", {**SECTION, "values": {"title": "A few words"}})
REWRITE = call(
    "change_object",
    {
        "model": "wiki.page",
        "id": 2,
        "values": {"title": "Moving house", "slug": "moving", "text": "Pack early."},
    },
)
DONE = [text("That is done.")]


def _proposal(name: str, tool: str = "propose") -> list[Any]:
    ids = [str(n) for n in range(1, 21 if name == "bulk" else 4)]
    said = "This is what I would change."
    return [[text(said), call(tool, {"name": name, "ids": ids})], DONE]


SCRIPTS: dict[str, list[Any]] = {
    "card-one": _proposal("one"),
    "card-long": _proposal("long"),
    "card-huge": _proposal("huge"),
    "card-hidden": _proposal("hidden"),
    "card-create": _proposal("create"),
    "card-delete": _proposal("delete", "propose_removal"),
    "card-bulk": _proposal("bulk"),
    "card-remember": [
        [call("save_memory", {"text": "Ada writes to customers in French."})],
        [text("I will keep that in mind.")],
    ],
    "card-wide": _proposal("wide"),
    "card-action": _proposal("action", "propose_removal"),
    "partial": [[call("write_around", {"key": "a key"})], DONE],
    "card-edit-wrong": [[text("The page gets a better name."), REWRITE], DONE],
    "card-edit": [[text("Section 3 gets a shorter title."), RENAME], DONE],
}
SAME = {
    "card-again": "card-edit",
    "changed": "card-edit",
    "card-denied": "card-edit",
}


def rename(panel: Panel, title: str, section: int = 3) -> None:
    """Change the title of a section on its own page of the admin."""
    other = panel.page.context.new_page()
    other.goto(f"{panel.url}/admin/questionnaires/section/{section}/change/")
    other.fill("#content-main [name=title]", title)
    with other.expect_navigation():
        other.press("#content-main [name=title]", "Enter")
    other.close()


def _ask(panel: Panel) -> None:
    panel.ask("Change it, please.")
    panel.wait_state("waiting-approval")
    panel.approval.wait_for()


def _ask_anew(panel: Panel) -> None:
    """Ask for the title, which an earlier scene may have given to the section."""
    rename(panel, "Measurements at home")
    _ask(panel)


def card_one(panel: Panel) -> None:
    _ask(panel)


def card_long(panel: Panel) -> None:
    _ask(panel)


def card_huge(panel: Panel) -> None:
    _ask(panel)


def card_hidden(panel: Panel) -> None:
    _ask(panel)


def card_create(panel: Panel) -> None:
    _ask(panel)


def card_remember(panel: Panel) -> None:
    _ask(panel)


def card_delete(panel: Panel) -> None:
    _ask(panel)


def card_bulk(panel: Panel) -> None:
    _ask(panel)
    panel.approval.locator("[name=rows]").nth(1).uncheck()


def card_wide(panel: Panel) -> None:
    _ask(panel)


def card_action(panel: Panel) -> None:
    _ask(panel)


def card_edit(panel: Panel) -> None:
    _ask_anew(panel)
    panel.edit().wait_for()


def card_edit_wrong(panel: Panel) -> None:
    _ask(panel)
    panel.edit().wait_for()
    panel.edit_field("title").fill("")
    panel.edit_field("slug").fill("not a slug")
    panel.page.locator(".aia-edit-form").evaluate("form => form.noValidate = true")
    panel.save_edit()
    panel.page.locator(".aia-edit-form .aia-why").first.wait_for()


def card_again(panel: Panel) -> None:
    _ask_anew(panel)
    rename(panel, "Measured at home")
    panel.approve()
    panel.approval.get_by_text("somebody else").wait_for()


def card_denied(panel: Panel) -> None:
    _ask_anew(panel)
    panel.deny("The old title is better.")
    panel.wait_done()
    _open(panel, ".aia-tool > details > summary")


def changed(panel: Panel) -> None:
    _ask_anew(panel)
    panel.approve()
    panel.wait_done()
    _open(panel, ".aia-tool > details > summary")
    _open(panel, ".aia-shown summary")
    _open(panel, ".aia-changes > details > summary")


def partial(panel: Panel) -> None:
    _ask(panel)
    panel.approve()
    panel.wait_done()
    _open(panel, ".aia-changes > details > summary")


def look_only(panel: Panel) -> None:
    panel.page.locator("#aia-look").select_option("1")


def _open(panel: Panel, selector: str) -> None:
    panel.log.locator(selector).last.click()


SCENES = (
    *(card_one, card_long, card_huge, card_hidden, card_create, card_delete),
    card_remember,
    card_bulk,
    *(card_wide, card_action, card_edit, card_edit_wrong, card_again, card_denied),
    *(changed, partial, look_only),
)
