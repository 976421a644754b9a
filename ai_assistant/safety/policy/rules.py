"""The site's rules for tools, from its settings and its rows, in one form."""

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import router, transaction
from django.db.models.signals import post_delete, post_save

from ai_assistant import conf
from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.models.policy import PolicyRule, fits, pattern_error
from ai_assistant.types import Decision

logger = logging.getLogger("ai_assistant")

DECISIONS: tuple[Decision, ...] = ("allow", "ask", "deny")


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """One rule. Empty `module` and no `group_id` mean all."""

    tools: str
    decision: Decision
    module: str = ""
    group_id: Any = None
    group: str = ""  # its name
    reason: str = ""
    row: Any = None  # key of its row; None for one of the settings
    error: str = ""  # what is wrong with its pattern

    def is_of(self, name: str, module: str) -> bool:
        """
        Tell whether the rule is for the tool `name` on pages of `module`.

        One with a broken pattern is for every tool, unless it allows.
        """
        if self.module and self.module != module:
            return False
        return self.decision != "allow" if self.error else fits(self.tools, name)


def site_rules() -> list[Rule]:
    """Return all rules: those of the settings, then the rows. Seldom asks the database."""
    return [*_of_settings(), *_rows()]


def meant_by(pattern: str, names: Iterable[str]) -> list[str]:
    """Return those of the names of tools that fit; none if the pattern is wrong."""
    if pattern_error(pattern):
        return []
    return sorted(name for name in names if fits(pattern, name))


def forget_rules() -> None:
    """Read the rows again when they are next needed."""
    _kept.clear()


def _of_settings() -> Iterator[Rule]:
    policy: Mapping[str, Any] = conf.get("POLICY")
    for tools, wished in policy.items():
        if wished not in DECISIONS:
            raise ImproperlyConfiguredAssistant(
                f"AI_ASSISTANT['POLICY'][{tools!r}] is {wished!r}. "
                "Use 'allow', 'ask' or 'deny'."
            )
        yield Rule(tools=tools, decision=wished, error=pattern_error(tools))


# --- rows, kept for a moment ---

_kept: dict[str, tuple[float, list[Rule]]] = {}


def _rows() -> list[Rule]:
    now = time.monotonic()
    kept = _kept.get("rows")
    is_changing = _is_changing()
    if kept and not is_changing and now - kept[0] < conf.POLICY_TTL_S:
        return kept[1]
    rules = _read()
    if not is_changing:
        _kept["rows"] = (now, rules)
    return rules


def _read() -> list[Rule]:
    rows = PolicyRule.objects.select_related("group").order_by("pk")
    return [_rule(row) for row in rows]


def _rule(row: PolicyRule) -> Rule:
    error = pattern_error(row.tools)
    if error:
        logger.error("policy rule %s: pattern %r %s", row.pk, row.tools, error)
    is_known = row.decision in DECISIONS
    return Rule(
        tools=row.tools,
        decision=row.decision if is_known else "deny",  # type: ignore[arg-type]
        module=row.module,
        group_id=row.group_id,
        group=row.group.name if row.group else "",
        reason=row.reason,
        row=row.pk,
        error=error,
    )


def _changed(**_: object) -> None:
    forget_rules()
    # Others may read the old rows until this transaction is over.
    transaction.on_commit(forget_rules, using=router.db_for_write(PolicyRule))


def _is_changing() -> bool:
    """Tell whether this thread's transaction has changed rules: it may be rolled back."""
    waiting = transaction.get_connection(router.db_for_read(PolicyRule)).run_on_commit
    return any(entry[1] is forget_rules for entry in waiting)


post_save.connect(_changed, sender=PolicyRule, dispatch_uid="ai_assistant.rules")
post_delete.connect(_changed, sender=PolicyRule, dispatch_uid="ai_assistant.rules")
