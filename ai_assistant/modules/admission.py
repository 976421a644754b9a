"""Whether what belongs to a page alone is there for a user."""

from typing import Any

from ai_assistant.context.opened import admits
from ai_assistant.context.page import Page
from ai_assistant.context.viewparts import parts_of
from ai_assistant.modules.base import ContextModule
from ai_assistant.registry import registry


def is_page_open(page: Page | None, module: ContextModule, user: Any) -> bool:  # noqa: ANN401 - the site's user model
    """
    Tell whether `user` gets what `module` and the view keep for the page.

    The database is asked only if the site keeps something for it.
    """
    if page is None or not _is_kept(page, module):
        return True
    return admits(page, user)


def _is_kept(page: Page, module: ContextModule) -> bool:
    own = parts_of(page.view, page.model_admin)
    return bool(module.id in registry.modules() or own.tools or own.suggestions)
