"""The line under the composer, until its person has dismissed it."""

from typing import Any
from zlib import crc32

from django.http import HttpRequest
from django.utils.translation import gettext as _

from ai_assistant import conf

COOKIE = "aia_read"


def disclaimer() -> str:
    """Return the line: the site's, or our own; empty if there is to be none."""
    said = conf.get("DISCLAIMER")
    if said == "auto":
        return _("The assistant can be wrong. Check what matters.")
    return str(said)


def mark_of(user: Any) -> str:  # noqa: ANN401 - the site's user model
    """Return what the cookie holds once `user` has dismissed the line as it is now."""
    said = conf.get("DISCLAIMER")  # in any language
    return f"{crc32(f'{user.pk}:{said}'.encode()):08x}"


def is_dismissed(request: HttpRequest) -> bool:
    """Tell whether the user of `request` has read the line in this browser."""
    return request.COOKIES.get(COOKIE) == mark_of(request.user)
