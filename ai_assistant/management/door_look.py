"""What the doctor says of programs: tokens, and pages of other sites."""

from django.db.models import Q

from ai_assistant import conf
from ai_assistant.models.clock import Now
from ai_assistant.models.token import AccessToken


def count_of_tokens() -> tuple[int, int]:
    """Return how many tokens are good, and how many of them never expire."""
    lasting = Q(expires_at=None) | Q(expires_at__gt=Now())
    good = AccessToken.objects.filter(lasting, revoked_at=None, user__is_active=True)
    return good.count(), good.filter(expires_at=None).count()


def who_may_call() -> str:
    """Return which pages of other sites may call, in words."""
    origins = conf.get("CORS_ORIGINS")
    return f"with a token: {', '.join(origins)}" if origins else "none may call"
