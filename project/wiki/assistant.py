from typing import Any

from django.utils.translation import gettext_lazy as _

import ai_assistant
from ai_assistant import ContextItem, ModelRetry, RunContext
from project.wiki.models import Page
from project.wiki.search import excerpt, search, words_of

PERMISSION = "wiki.view_page"
MAX_FOUND = 10
SHOWN_CHARS = 3000


@ai_assistant.tool(effect="read", permission=PERMISSION, label=_("Search the wiki"))
def search_wiki(context: RunContext, query: str) -> dict[str, Any]:
    """
    Search the wiki for pages that hold all words of the query.

    Use it when the user asks how something is done here.
    """
    if not words_of(query):
        raise ModelRetry(f"query {query!r} has no words. Call again with some.")
    found = search(query)
    return {
        "total": found.count(),
        "pages": [
            {
                "slug": page.slug,
                "title": page.title,
                "excerpt": excerpt(page, query),
                "path": page.get_absolute_url(),
            }
            for page in found[:MAX_FOUND]
        ],
    }


@ai_assistant.tool(effect="read", permission=PERMISSION, label=_("Read a wiki page"))
def read_wiki_page(context: RunContext, slug: str) -> dict[str, Any]:
    """Return the whole text of one page of the wiki, by its slug."""
    page = Page.objects.filter(slug=slug).first()
    if page is None:
        raise ModelRetry(
            f"Wiki page {slug!r} does not exist. Call search_wiki to find its slug."
        )
    return {"title": page.title, "text": page.text, "path": page.get_absolute_url()}


@ai_assistant.instructions(permission=PERMISSION)
def how_we_work(context: RunContext) -> str:
    return (
        "How things are done in this organisation stands in its wiki. Search it before "
        "you answer such a question from what you know."
    )


@ai_assistant.context(view="admin:wiki_page_read")
def wiki_page(context: RunContext) -> ContextItem | None:
    """The page of the wiki that the user reads."""
    page = Page.objects.filter(slug=context.page.arguments.get("slug", "")).first()
    if page is None or not context.user.has_perm(PERMISSION):
        return None
    return ContextItem(
        title=page.title,
        description=str(_("The page of the wiki that the user reads.")),
        value={
            "slug": page.slug,
            "title": page.title,
            "text": page.text[:SHOWN_CHARS],
            "is_cut": len(page.text) > SHOWN_CHARS,
        },
        priority=50,
    )
