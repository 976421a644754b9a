"""The site's rules for tools, from its settings and its rows, in one form."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ai_assistant import conf
from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.models.policy import PolicyRule, fits, pattern_error
from ai_assistant.models.row_cache import RowCache
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
    return [*_of_settings(), *rule_rows.get()]


def meant_by(pattern: str, names: Iterable[str]) -> list[str]:
    """Return those of the names of tools that fit; none if the pattern is wrong."""
    if pattern_error(pattern):
        return []
    return sorted(name for name in names if fits(pattern, name))


def _of_settings() -> Iterator[Rule]:
    policy: Mapping[str, Any] = conf.get("POLICY")
    for tools, wished in policy.items():
        if wished not in DECISIONS:
            raise ImproperlyConfiguredAssistant(
                f"AI_ASSISTANT['POLICY'][{tools!r}] is {wished!r}. "
                "Use 'allow', 'ask' or 'deny'."
            )
        yield Rule(tools=tools, decision=wished, error=pattern_error(tools))


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


rule_rows = RowCache(PolicyRule, _read)
