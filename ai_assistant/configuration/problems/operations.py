"""What is wrong with the API operations that a module chooses."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.utils.translation import gettext as _

from ai_assistant.modules.resolve import NO_RUN
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.api.catalogue import (
    NOT,
    Catalogue,
    chooses,
    matching,
    whole_catalogue,
)
from ai_assistant.types import RunContext

MOST_NAMES = 10  # in a sentence


def operation_problems(names: Sequence[str], maker: Any) -> Iterator[str]:
    """
    Yield why operations cannot be chosen: one that is gone, or not the maker's own.

    None stands for the shell of the site.
    """
    yield from gone_operations(names)
    if maker is None or not names:
        return
    known = operations_of_site()
    context = RunContext(user=maker, run_id=NO_RUN, conversation_id=NO_RUN)
    refused = [
        one.id
        for one in known.operations.values()
        if chooses(names, one) and not known.adapters[one.id].may_call(one, context)
    ]
    if refused:
        more = ", …" if len(refused) > MOST_NAMES else ""
        said = _("You may not call these yourself: %(names)s. Leave them out.")
        yield said % {"names": ", ".join(refused[:MOST_NAMES]) + more}


def gone_operations(names: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each that matches none of the operations that may be called."""
    known = operations_of_site() if names else Catalogue()
    for name in names:
        if matching(name, known.operations.values()):
            continue
        if not matching(name, known.left_out):
            said = _("There is no API operation “%(name)s” any more. Leave it out.")
            yield said % {"name": name}
        elif not name.startswith(NOT):
            said = _("The site has not opted in “%(name)s”. Leave it out.")
            yield said % {"name": name}
    if names and all(name.startswith(NOT) for name in names):
        yield _("This only leaves out. Choose operations too, or “*” for all.")


def operations_of_site() -> Catalogue:
    """Return the operations of the site; none where its URLs cannot be read."""
    return value_or(Catalogue(), whole_catalogue)
