"""What could be asked on a page: said by its view and by its module."""

from ai_assistant.context.page import find_page
from ai_assistant.context.viewparts import parts_of
from ai_assistant.modules.admission import is_page_open
from ai_assistant.modules.resolve import module_by_id
from ai_assistant.types import RunContext

SHOWN = 4


def suggestions_of(context: RunContext) -> list[str]:
    """Return the suggestions of the page of `context`, the view's own first."""
    page, module = find_page(context.page_path), module_by_id(context.module)
    if not is_page_open(page, module, context.user):
        return []
    own = parts_of(page.view, page.model_admin).suggestions if page else ()
    said = map(str, (*own, *module.suggestions))
    return list(dict.fromkeys(said))[:SHOWN]
