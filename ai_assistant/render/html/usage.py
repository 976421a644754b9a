"""What a conversation has used, in a line."""

from uuid import UUID

from django.db.models import Count, Sum
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from ai_assistant.models.usage import UsageLedger

PLACES = 4  # of a cost: most conversations cost less than a cent


def usage_line(conversation_id: UUID) -> str:
    """Return "12,345 tokens, 0.0210 US dollars"; empty if it has used nothing."""
    total = UsageLedger.objects.filter(run__conversation=conversation_id).aggregate(
        tokens=Sum("tokens"),
        cost=Sum("cost_usd"),
        calls=Count("pk"),
        priced=Count("cost_usd"),
    )
    if not total["tokens"]:
        return ""
    names = {
        "tokens": number_format(total["tokens"], force_grouping=True),
        "usd": number_format(total["cost"] or 0, decimal_pos=PLACES),
    }
    if not total["cost"]:
        return _("%(tokens)s tokens") % names
    if total["priced"] < total["calls"]:
        return _("%(tokens)s tokens, more than %(usd)s US dollars") % names
    return _("%(tokens)s tokens, %(usd)s US dollars") % names
