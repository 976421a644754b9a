"""The office hours, outside of which nothing is published."""

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

import ai_assistant
from ai_assistant import RunContext
from ai_assistant.hooks import Refuse, ToolRequested


@ai_assistant.hook("before_tool", tools="publish_*", guard=True)
def office_hours(context: RunContext, asked: ToolRequested) -> Refuse | None:
    """Refuse to publish outside of DEMO_OFFICE_HOURS: the first hour, and the last."""
    hours = getattr(settings, "DEMO_OFFICE_HOURS", None)
    if hours is None:
        return None
    opens, closes = hours
    if opens <= timezone.localtime().hour < closes:
        return None
    return Refuse(
        _("Questionnaires are published from %(opens)s:00 to %(closes)s:00 only.")
        % {"opens": opens, "closes": closes}
    )
