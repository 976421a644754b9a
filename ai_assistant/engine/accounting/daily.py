"""
Sums of usage by day: those of past days are kept, those of today are made when asked.

A day is summed some time after it is over, once none of its calls is under way. Who
asks meanwhile gets the same sums from the rows themselves.
"""

import time
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from datetime import time as clock_time
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import (
    Count,
    DateTimeField,
    F,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
)
from django.db.models.functions import Coalesce, TruncDate
from django.utils import timezone

from ai_assistant.engine.storage.units import unit
from ai_assistant.models import clock
from ai_assistant.models.call import OPEN_CALL, WORKED_CALL, CallStatus, ToolCall
from ai_assistant.models.usage import DailyUsage, SummedDay, UsageLedger
from ai_assistant.safety.limits import serialize

LATE = timedelta(minutes=5)  # after midnight, until all of the day is committed
AT_ONCE_S = 0.5  # for which one sweep sums
ONLY = 1  # the key of the one row
DAY = timedelta(days=1)


def local_day(moment: datetime) -> date:
    """Return the day of a moment where the site is."""
    if timezone.is_naive(moment):
        return moment.date()
    return timezone.localtime(moment, timezone.get_default_timezone()).date()


def midnight(day: date) -> datetime:
    """Return the begin of a day where the site is."""
    zone = timezone.get_default_timezone() if settings.USE_TZ else None
    return datetime.combine(day, clock_time.min, tzinfo=zone)


def summed_until() -> date | None:
    """Return the last day whose sums are kept; None before the first."""
    return SummedDay.objects.values_list("day", flat=True).first()


def live_sums(first: date, last: date) -> list[DailyUsage]:
    """Return the sums of days that are not kept yet, not stored."""
    since, until = midnight(first), midnight(last + DAY)
    return [*_of_models(since, until), *_of_tools(since, until)]


def sum_days() -> None:
    """Keep the sums of days that are over, oldest first, for AT_ONCE_S at most."""
    began = time.monotonic()
    while time.monotonic() - began < AT_ONCE_S and _sum_next():
        pass


def _sum_next() -> bool:
    """Keep the sums of the next day that is due; return whether there may be more."""
    yesterday = local_day(clock.now() - LATE) - DAY
    before = summed_until()
    if before is not None and before >= yesterday:
        return False
    day = _first_used(before)
    if day is None or day > yesterday:
        unit(_keep)(before, yesterday, ())
        return False
    if _is_under_way(day):
        return False
    unit(_keep)(before, day, live_sums(day, day))
    return True


def _keep(before: date | None, day: date, sums: Iterable[DailyUsage]) -> None:
    """Store the sums of a day, unless another process has."""
    with transaction.atomic():
        serialize("daily usage")
        if summed_until() != before:
            return
        DailyUsage.objects.filter(day=day).delete()
        DailyUsage.objects.bulk_create(sums, batch_size=500)
        SummedDay.objects.update_or_create(pk=ONLY, defaults={"day": day})


def _first_used(after: date | None) -> date | None:
    """Return the first day after `after` on which something was used."""
    found = []
    for rows, field in ((UsageLedger, "created_at"), (ToolCall, "finished_at")):
        named = rows._default_manager.filter(**{f"{field}__isnull": False})
        if after is not None:
            named = named.filter(**{f"{field}__gte": midnight(after + DAY)})
        moments = named.order_by(field).values_list(field, flat=True)
        found += list(moments[:1])
    return local_day(min(found)) if found else None


def _is_under_way(day: date) -> bool:
    # In no order and without a range: then the index of the open ones is all that is read.
    reserved = UsageLedger.objects.filter(state=UsageLedger.State.RESERVED).order_by()
    until = midnight(day + DAY)
    return any(made < until for made in reserved.values_list("created_at", flat=True))


def _of_models(since: datetime, until: datetime) -> list[DailyUsage]:
    """Sum model calls."""
    rows: QuerySet[UsageLedger] = UsageLedger.objects.order_by()
    rows = rows.filter(created_at__gte=since, created_at__lt=until)
    settled: Any = rows.filter(state=UsageLedger.State.SETTLED)
    grouped = settled.values(
        "user",
        "model",
        day=_day_of("created_at"),
        module=F("run__module"),
        agent=F("run__agent"),
    ).annotate(
        calls=Count("pk"),
        unpriced=Count("pk", filter=Q(cost_usd=None)),
        asked=Sum("input_tokens"),
        told=Sum("output_tokens"),
        cost=Sum("cost_usd"),
    )
    return [
        DailyUsage(
            **_of_whom(row),
            model=row["model"],
            calls=row["calls"],
            unpriced=row["unpriced"],
            input_tokens=row["asked"],
            output_tokens=row["told"],
            cost_usd=row["cost"] or 0,
        )
        for row in grouped
    ]


def _of_tools(since: datetime, until: datetime) -> list[DailyUsage]:
    """Sum calls of tools; tokens and cost of a step count for each call in equal parts."""
    # What only reads for a moment is not claimed: it has no time of its start.
    took = F("finished_at") - Coalesce(
        "started_at", "created_at", output_field=DateTimeField()
    )
    is_timed = Q(status__in=WORKED_CALL)
    is_asked = Q(parent=None)  # by the model: a nested call has cost no tokens
    grouped = (
        _with_shares(since, until)
        .values(
            "name",
            user=F("run__user"),
            answered_by=F("step__model"),
            day=_day_of("finished_at"),
            module=F("run__module"),
            agent=F("run__agent"),
        )
        .annotate(
            calls=Count("pk"),
            failed=Count("pk", filter=Q(status=CallStatus.FAILED)),
            timed=Count("pk", filter=is_timed),
            took=Sum(took, filter=is_timed),
            longest=Max(took, filter=is_timed),
            all_asked=Sum(F("asked") / F("beside"), filter=is_asked),
            all_told=Sum(F("told") / F("beside"), filter=is_asked),
            all_cost=Sum(F("cost") / F("beside"), filter=is_asked),
        )
    )
    return [
        DailyUsage(
            **_of_whom(row),
            model=row["answered_by"],
            tool=row["name"],
            calls=row["calls"],
            failed=row["failed"],
            timed=row["timed"],
            seconds=_seconds(row["took"]),
            longest_s=_seconds(row["longest"]),
            input_tokens=row["all_asked"] or 0,
            output_tokens=row["all_told"] or 0,
            cost_usd=row["all_cost"] or 0,
        )
        for row in grouped
    ]


def _with_shares(since: datetime, until: datetime) -> Any:
    """Return the calls that ended meanwhile, with what their step took and had beside."""
    rows: Any = ToolCall.objects.order_by()
    ended = rows.filter(finished_at__gte=since, finished_at__lt=until)
    own = {"run": OuterRef("run"), "step_index": OuterRef("step__index")}
    settled = UsageLedger.objects.filter(**own, state=UsageLedger.State.SETTLED)
    beside = ToolCall.objects.filter(
        run=OuterRef("run"), step=OuterRef("step"), parent=None
    )
    return ended.exclude(status__in=OPEN_CALL).annotate(
        beside=_sum_of(beside, Count("pk")),
        asked=_sum_of(settled, Sum("input_tokens")),
        told=_sum_of(settled, Sum("output_tokens")),
        cost=_sum_of(settled, Sum("cost_usd")),
    )


def _day_of(field: str) -> TruncDate:
    zone = timezone.get_default_timezone() if settings.USE_TZ else None
    return TruncDate(field, tzinfo=zone)


def _sum_of(rows: Any, total: Any) -> Subquery:
    summed = rows.order_by().values("run").annotate(total=total).values("total")
    return Subquery(summed)


def _of_whom(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "day": row["day"],
        "user_id": row["user"],
        "module": row["module"] or "",
        "agent": row["agent"] or "",
    }


def _seconds(took: timedelta | None) -> float:
    return max(took.total_seconds(), 0.0) if took else 0.0
