"""Point at something on the page."""

from django.utils.translation import gettext_lazy as _

from ai_assistant.decorators import tool


@tool(effect="ui", browser=True, shared=True, label=_("Highlight"))
def highlight(selector: str, text: str = "") -> None:
    """
    Scroll to an element of the page and outline it for some seconds.

    selector: a CSS selector, for example #id_title
    text: a few words that are shown beside it
    """
