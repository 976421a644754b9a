"""How many requests one user may send: the site's cache counts."""

from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle
from rest_framework.views import APIView

from ai_assistant import conf


class CallerThrottle(SimpleRateThrottle):
    """`setting` names the rate; one that is empty limits nothing."""

    setting = "API_RATE"
    scope = "all"

    def get_rate(self) -> str | None:
        """Return the rate, as the site has it now."""
        return conf.get(self.setting) or None

    def get_cache_key(self, request: Request, view: APIView) -> str | None:
        """Return the key of this user's count."""
        return f"ai_assistant.api.{self.scope}.{request.user.pk}"


class WriteThrottle(CallerThrottle):
    """Counts only what starts, stops, answers, changes or deletes."""

    setting = "API_WRITE_RATE"
    scope = "write"

    def get_cache_key(self, request: Request, view: APIView) -> str | None:
        """Return the key of this user's count; None for what only reads."""
        if request.method in SAFE_METHODS:
            return None
        return super().get_cache_key(request, view)
