"""Whether the site has any budget; it is asked before every message and step."""

import time

from django.db import router, transaction
from django.db.models.signals import post_delete, post_save

from ai_assistant import conf
from ai_assistant.models.usage import Budget

_kept: dict[str, float] = {}  # until when there are surely none


def has_budgets() -> bool:
    """Tell whether there are budgets at all, in the settings or as rows."""
    return bool(conf.get("BUDGETS")) or has_budget_rows()


def has_budget_rows() -> bool:
    """Tell whether there are rows. That there are none is kept for POLICY_TTL_S."""
    now = time.monotonic()
    if now < _kept.get("none_until", 0.0):
        return False
    if Budget.objects.exists():
        return True
    waiting = transaction.get_connection(router.db_for_read(Budget)).run_on_commit
    # What this transaction has removed may come back.
    if not any(entry[1] is forget for entry in waiting):
        _kept["none_until"] = now + float(conf.get("POLICY_TTL_S"))
    return False


def forget() -> None:
    """Ask again when it is next needed."""
    _kept.clear()


def _changed(**_: object) -> None:
    forget()
    transaction.on_commit(forget, using=router.db_for_write(Budget))


post_save.connect(_changed, sender=Budget, dispatch_uid="ai_assistant.budgets")
post_delete.connect(_changed, sender=Budget, dispatch_uid="ai_assistant.budgets")
