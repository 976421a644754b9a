"""What the fields of a request say. What cannot be taken is Refused, in words."""

from uuid import UUID

from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from ai_assistant.engine.interrupts import ANSWER_CHARS
from ai_assistant.engine.profiles import DEFAULT, offered_profiles
from ai_assistant.engine.start import clean_text
from ai_assistant.exceptions import Ask, Refused

MAX_PATH_CHARS = 2000
SEQ_DIGITS = 9
MOST_ROWS = 1000  # that can be ticked on a card


def read_uuid(request: HttpRequest, name: str) -> UUID:
    """Return the id in the field `name`."""
    said = request.POST.get(name) or request.GET.get(name, "")
    try:
        return UUID(said)
    except ValueError as error:
        raise _out_of_date() from error


def read_key(request: HttpRequest) -> str:
    """Return the idempotency key."""
    key = request.POST.get("key", "")
    if not key.isprintable():
        raise _out_of_date()
    return key


def read_profile(request: HttpRequest) -> str:
    """Return the name of the model profile that is to answer."""
    name = request.POST.get("profile") or DEFAULT
    if name != DEFAULT and name not in offered_profiles():
        raise _out_of_date()
    return name


def read_answer(request: HttpRequest) -> str:
    """Return the answer to a question, or the reason of a denial."""
    text = request.POST.get("answer") or request.POST.get("reason", "")
    return clean_text(text, ANSWER_CHARS) if text.strip() else ""


def read_chosen(request: HttpRequest) -> tuple[str, ...]:
    """Return what is ticked in a question that takes several answers."""
    chosen = request.POST.getlist("chosen")[: Ask.MOST_OPTIONS]
    return tuple(clean_text(one, ANSWER_CHARS) for one in chosen if one.strip())


def read_rows(request: HttpRequest) -> tuple[str, ...] | None:
    """Return the rows that are ticked on a card; None if it has none to tick."""
    if "has_rows" not in request.POST:
        return None
    return tuple(request.POST.getlist("rows")[:MOST_ROWS])


def read_seq(request: HttpRequest) -> int:
    """Return the number of the last event that the page shows; 0 for nonsense."""
    return read_number(request, "after")


def read_number(request: HttpRequest, name: str) -> int:
    """Return a number of the address; 0 for nonsense."""
    said = request.GET.get(name, "")
    is_number = said.isascii() and said.isdigit() and len(said) <= SEQ_DIGITS
    return int(said) if is_number else 0


def page_path(said: str) -> str:
    """Return the path of a page of this site, or nothing."""
    path = said[:MAX_PATH_CHARS]
    is_good = path.startswith("/") and path.isprintable()
    return path if is_good and url_has_allowed_host_and_scheme(path, None) else ""


def _out_of_date() -> Refused:
    sentence = _("This page is out of date. Reload it and try again.")
    return Refused("bad_request", sentence)
