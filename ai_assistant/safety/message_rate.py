"""How many messages a minute one user may send, and all users together."""

from datetime import timedelta

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.exceptions import ImproperlyConfiguredAssistant, Limited
from ai_assistant.models import clock
from ai_assistant.models.clock import Now
from ai_assistant.models.run import Run
from ai_assistant.safety.rate import RATE, SECONDS
from ai_assistant.safety.single_file import in_single_file
from ai_assistant.types import UserKey


def check_message_rate(user_id: UserKey) -> None:
    """
    Raise Limited if the user, or the site, has begun too many runs just now.

    Call it in the transaction that begins the next one.
    """
    if conf.get("RATE_USER"):
        in_single_file(f"rate:{user_id}")
        own = Run.objects.filter(user_id=user_id)
        _check("RATE_USER", own, _("You have sent many messages in a short time."))
    if conf.get("RATE_SITE"):
        in_single_file("rate")
        everyone = Run.objects.all()
        _check("RATE_SITE", everyone, _("Many people are using the assistant now."))


def message_rate(name: str) -> tuple[int, timedelta]:
    """Return how many in what time. Raise if the setting is not like "20/m"."""
    found = RATE.fullmatch(conf.get(name))
    if found is None:
        raise ImproperlyConfiguredAssistant(
            f"AI_ASSISTANT[{name!r}] is {conf.get(name)!r}. Give messages by second, "
            "minute, hour or day: '20/m'."
        )
    return int(found[1]), timedelta(seconds=SECONDS[found[2]])


def _check(name: str, runs: QuerySet[Run], sentence: str) -> None:
    most, time = message_rate(name)
    recent = runs.filter(created_at__gt=Now() - time)
    # The one that has to leave the time before there is room again.
    moments = recent.order_by("-created_at").values_list("created_at", flat=True)
    counted = list(moments[most - 1 : most])
    if counted:
        raise Limited(sentence, counted[0] + time, now=clock.now())
