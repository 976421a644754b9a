from cms.api import create_page, create_page_content

from tests.hosts.packages.cases import add, bulk, change, delete
from tests.hosts.packages.sites.cms.models import Choice, Poll

POLL, CONTENT = "host.poll", "cms.pagecontent"
# The page saves an empty text there; the tool leaves NULL as it is.
STAYS_NULL = {
    f"cms.PageContent.{name}"
    for name in ("menu_title", "meta_description", "page_title", "redirect")
}
CASES = {
    "add": add(
        POLL,
        {"title": "New"},
        {"title": "New", "choices-0-label": "Yes"},
        more={"inlines": {"choices": [{"label": "Yes"}]}},
        rows=["choices"],
    ),
    "change": change(POLL, 1, {"title": "B"}, {"title": "B"}),
    "change a row": change(
        POLL,
        1,
        {"text": "More"},
        {"text": "More", "choices-0-label": "No"},
        more={"inlines": {"choices": [{"id": 1, "label": "No"}]}},
    ),
    "delete a row": change(
        POLL,
        1,
        {},
        {"choices-0-DELETE": "on"},
        more={"inlines": {"choices": [{"id": 1, "DELETE": True}]}},
    ),
    "change a page": change(CONTENT, 1, {"title": "B"}, {"title": "B"}),
    "change a page in Dutch": change(
        CONTENT, 2, {"title": "Thuis"}, {"title": "Thuis"}, query="language=nl"
    ),
    "bulk of pages": bulk(CONTENT, [1, 3], {"page_title": "C"}, {"page_title": "C"}),
    "bulk": bulk(POLL, [1, 2], {"text": "C"}, {"text": "C"}),
    "delete": delete(POLL, 1),
}


def make() -> None:
    for pk in (1, 2):
        poll = Poll.objects.create(pk=pk, title=f"A{pk}")
        Choice.objects.create(pk=pk, poll=poll, label="Yes")
    home = create_page("Home", "page.html", "en")
    create_page_content("nl", "Thuis 1", home)
    create_page("About", "page.html", "en")


def sign_in(client, _user) -> None:
    client.get("/admin/")  # for which the toolbar notes the language of the person
