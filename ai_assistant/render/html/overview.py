"""What stands on the start page of the assistant in the admin."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db.models import Count, Sum
from django.utils import timezone
from django.utils.http import urlencode

from ai_assistant import conf
from ai_assistant.conf import DEFAULT
from ai_assistant.configuration.problems.stored import (
    TAUGHT,
    StoredProblem,
    agent_problems,
    fallback_problems,
    module_problems,
    rule_problems,
    taught_problems,
)
from ai_assistant.configuration.rows import refresh
from ai_assistant.engine.interrupts.base import waiting_for_person
from ai_assistant.models import clock
from ai_assistant.models.change import ChangeSet
from ai_assistant.models.run import UNFINISHED, Run, RunState
from ai_assistant.models.usage import VIEW_USAGE, UsageLedger
from ai_assistant.modules.resolve import module_ids
from ai_assistant.providers.base import OF_ROW
from ai_assistant.providers.price_list import is_priced
from ai_assistant.providers.readiness import missing_of
from ai_assistant.render.html.health import health_entries
from ai_assistant.render.html.transcript.entries import Entry
from ai_assistant.safety.budgets.budgets import limits_money
from ai_assistant.safety.identity.permissions import may_view_prompts

CHANGES = 5  # that are listed
PROFILES = 10  # ditto
FAILED = (RunState.FAILED, RunState.NEEDS_REVIEW)


def overview_entry(user: Any) -> Entry:
    """Return what `overview.html` draws for a user: each part by its own permission."""
    refresh()
    today = timezone.localtime(clock.now()).replace(
        hour=0, minute=0, second=0, microsecond=0
    )
    entry: Entry = {"waiting": _waiting(user)}
    if user.has_perm("ai_assistant.view_profile"):
        entry["profiles"] = _profiles()
        entry["can_test"] = user.is_superuser
        entry["sets_up"] = _sets_up(user)
        entry["health"] = health_entries()
    if user.has_perm(VIEW_USAGE):
        entry["usage"] = _usage(today)
    if user.has_perm("ai_assistant.view_run"):
        entry["failed"] = _failed(today)
    if user.has_perm("ai_assistant.view_changeset"):
        entry["changed"] = _changed(today)
    if user.has_perm("ai_assistant.view_module"):
        entry["modules"] = {"ids": module_ids(), "problems": module_problems()}
    entry["broken"] = list(_broken(user))
    entry["shows_prompts"] = may_view_prompts(user)
    return entry


def _profiles() -> list[Entry]:
    """Return the profiles: that of all first, then those that are not usable."""
    profiles, needs_price = conf.profiles(), limits_money()
    missing = {name: missing_of(name) for name in profiles}
    names = sorted(profiles, key=lambda name: (name != DEFAULT, not missing[name]))
    return [
        {
            "name": name,
            "model": profiles[name].get("MODEL", ""),
            "missing": missing[name],
            # To look a price up takes 10 ms.
            "unpriced": place < PROFILES
            and needs_price
            and not is_priced(profiles[name]),
            "row": profiles[name].get(OF_ROW),
        }
        for place, name in enumerate(names)
    ]


def _sets_up(user: Any) -> bool:
    """Return whether no model answers yet, and the user may change that."""
    row = conf.profiles().get(DEFAULT, {}).get(OF_ROW)
    may = user.has_perm(f"ai_assistant.{'change' if row else 'add'}_profile")
    return bool(missing_of(DEFAULT)) and bool(may)


def _broken(user: Any) -> Iterator[Entry]:
    """Yield what is wrong by now with rows that the user may view."""
    kinds: dict[str, Callable[[], Iterator[StoredProblem]]] = {
        "profile": fallback_problems,
        "policyrule": rule_problems,
        "agent": agent_problems,
    }
    for model in TAUGHT:
        kinds[str(model._meta.model_name)] = partial(taught_problems, model)
    for kind, problems in kinds.items():
        if user.has_perm(f"ai_assistant.view_{kind}"):
            page = f"admin:ai_assistant_{kind}_change"
            yield from (
                {"page": page, "row": p.row, "text": p.text} for p in problems()
            )


def _waiting(user: Any) -> Entry:
    """Count what waits for the user, and for everyone if they may know."""
    # Found by the state of their runs: of a million interrupts that is quick.
    unfinished = {"run__state__in": UNFINISHED}
    asked = waiting_for_person(**unfinished)
    mine = waiting_for_person(run__user=user, **unfinished).count()
    may_count = user.has_perm("ai_assistant.view_run")
    return {"mine": mine, "all": asked.count() if may_count else None}


def _usage(today: datetime) -> Entry:
    rows = UsageLedger.objects.filter(created_at__gte=today).order_by()
    return rows.aggregate(
        calls=Count("pk"), tokens=Sum("tokens", default=0), cost=Sum("cost_usd")
    )


def _failed(today: datetime) -> list[Entry]:
    """Return the errors of today with how many runs each has ended, most first."""
    rows = Run.objects.filter(state__in=FAILED, created_at__gte=today).order_by()
    counted = rows.values("state", "error_code").annotate(count=Count("pk"))
    return [
        {
            "code": row["error_code"] or row["state"],
            "count": row["count"],
            "query": _query(today, state__exact=row["state"], q=row["error_code"]),
        }
        for row in counted.order_by("-count", "error_code")
    ]


def _query(today: datetime, **filters: str) -> str:
    """Return the query of the list of today's runs, as its own filters would."""
    tomorrow = today + timedelta(days=1)
    until = {"created_at__gte": str(today), "created_at__lt": str(tomorrow)}
    return urlencode({**{k: v for k, v in filters.items() if v}, **until})


def _changed(today: datetime) -> Entry:
    sets = ChangeSet.objects.filter(created_at__gte=today)
    newest = sets.select_related("user").order_by("-created_at").defer("snapshots")
    found = list(newest[: CHANGES + 1])
    return {"newest": found[:CHANGES], "has_more": len(found) > CHANGES}
