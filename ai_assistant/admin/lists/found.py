"""How a conversation is found: by what was said, user, page, tool, outcome and cost."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.db.models import Exists, OuterRef, Q, QuerySet, Sum
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from ai_assistant.admin.lists.decorated import ToolFilter, sees_costs
from ai_assistant.engine.queries import messages_with, search_words
from ai_assistant.models import clock
from ai_assistant.models.call import ToolCall
from ai_assistant.models.run import Run, RunState
from ai_assistant.models.usage import UsageLedger

MOST_FOUND = 1000
FEW = 500  # rows with a word, whose conversations are named by their keys
COST_DAYS = 30
COSTS = ("0.01", "0.1", "1", "10")


class OutcomeFilter(admin.SimpleListFilter):
    """A state in which one of its runs is or has ended."""

    title = _("outcome")
    parameter_name = "outcome"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        """Offer each state."""
        return RunState.choices

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the conversations with such a run."""
        if self.value() not in RunState.values:
            return queryset
        runs = Run.objects.filter(state=self.value()).order_by()
        return queryset.filter(pk__in=runs.values("conversation"))


class UsedToolFilter(ToolFilter):
    """A tool that was called in it."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the conversations in which it was called."""
        if not (name := self.value()):
            return queryset
        calls = ToolCall.objects.filter(name=name).order_by()
        return queryset.filter(pk__in=calls.values("run__conversation"))


class CostFilter(admin.SimpleListFilter):
    """What it has cost lately, for who may see costs."""

    title = _("cost in the last 30 days")
    parameter_name = "cost"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer some amounts."""
        if not sees_costs(request):
            return []
        return [(least, f"≥ {least} USD") for least in COSTS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the conversations that have cost so much."""
        if self.value() not in COSTS or not sees_costs(request):
            return queryset
        since = clock.now() - timedelta(days=COST_DAYS)
        rows: Any = UsageLedger.objects.filter(created_at__gte=since).order_by()
        costs = rows.values("run__conversation").annotate(cost=Sum("cost_usd"))
        dear = costs.filter(cost__gte=Decimal(str(self.value())))
        return queryset.filter(pk__in=dear.values("run__conversation"))


def said_or_named(rows: QuerySet[Any], text: str) -> list[Any]:
    """
    Return the keys of the conversations to which all words fit, MOST_FOUND at most.

    Each word is in a message or the title, or is of the user or of the path of a page.
    """
    found = rows.order_by("-updated_at")
    owner = f"owner__{get_user_model().USERNAME_FIELD}"
    for word in search_words(text):
        pages = Run.objects.filter(page_path__icontains=word).order_by()
        found = found.filter(
            Q(title__icontains=word)
            | Q(**{f"{owner}__icontains": word})
            | _of_any(messages_with(word))
            | _of_any(pages)
        )
    return list(found.values_list("pk", flat=True)[:MOST_FOUND])


def _of_any(rows: QuerySet[Any]) -> Q:
    """
    Return the condition of a conversation that it has one of the rows.

    A few are found first, once for all conversations. Of many the first are soon found,
    and each conversation is asked for its own until there are enough of them.
    """
    keys = list(rows.values_list("conversation", flat=True)[: FEW + 1])
    if len(keys) <= FEW:
        return Q(pk__in={*keys})
    return Q(Exists(rows.filter(conversation=OuterRef("pk"))))
