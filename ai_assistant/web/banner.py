"""What a site says above every conversation: which of its copies this is, as whom."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from django.http import HttpRequest
from django.utils.module_loading import import_string

from ai_assistant import conf

logger = logging.getLogger("ai_assistant")

LEVELS = ("info", "warn", "danger")


@dataclass(frozen=True, kw_only=True, slots=True)
class SiteBanner:
    """A sentence of the site, and how loud it is: one of LEVELS."""

    text: str
    level: str = "warn"


def site_banner(request: HttpRequest) -> SiteBanner | None:
    """
    Return what AI_ASSISTANT["BANNER"] says on the page of `request`.

    That is a dict with `text` and `level`, or the dotted path of a callable that takes
    the request and returns such a dict, a text, or None. A callable that fails is
    logged, and nothing is drawn.
    """
    said = conf.get("BANNER")
    try:
        if isinstance(said, str) and said:
            said = import_string(said)(request)
        return _banner_of(said)
    except Exception:  # code of the site
        logger.exception("AI_ASSISTANT['BANNER'] could not be drawn")
        return None


def _banner_of(said: object) -> SiteBanner | None:
    told = said if isinstance(said, Mapping) else {"text": said}
    text, level = told.get("text"), str(told.get("level") or "warn")
    if not text:
        return None
    return SiteBanner(text=str(text), level=level if level in LEVELS else "warn")
