"""
Decide whether a tool runs, asks first, or is refused.

All rules of the site for a tool are considered: deny goes before ask, and ask before
allow. Without any, the tool's own policy counts, then its effect. Rules of the admin
are never less strict than a tool's own policy, unless its code allows that.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.models.policy import PolicyRule, fits, pattern_error
from ai_assistant.models.row_cache import RowCache
from ai_assistant.safety.identity.permissions import groups_of
from ai_assistant.types import Decision, ToolDefinition, Verdict

logger = logging.getLogger("ai_assistant")

# --- the rules of the site, from its settings and its rows, in one form ---

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
        Return whether the rule is for the tool `name` on pages of `module`.

        One with a broken pattern is for every tool, unless it allows.
        """
        if self.module and self.module != module:
            return False
        return self.decision != "allow" if self.error else fits(self.tools, name)


def site_rules() -> list[Rule]:
    """Return all rules: those of the settings, then the rows. Seldom asks the database."""
    return [*_of_settings(), *rule_rows.get()]


def meant_by(pattern: str, names: Iterable[str]) -> list[str]:
    """Return the names of the tools that match; none if the pattern is invalid."""
    if pattern_error(pattern):
        return []
    return sorted(name for name in names if fits(pattern, name))


def _of_settings() -> Iterator[Rule]:
    policy: Mapping[str, Any] = conf.get("POLICY")
    for tools, decision in policy.items():
        if decision not in DECISIONS:
            raise ImproperlyConfiguredAssistant(
                f"AI_ASSISTANT['POLICY'][{tools!r}] is {decision!r}. "
                "Use 'allow', 'ask' or 'deny'."
            )
        yield Rule(tools=tools, decision=decision, error=pattern_error(tools))


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


# --- the verdict ---

STRICTEST: tuple[Decision, ...] = ("deny", "ask", "allow")


def tool_verdict(
    tool: ToolDefinition, *, user: Any = None, module: str = ""
) -> Verdict:
    """
    Return what the site wants for `tool`, called by `user` on a page of `module`.

    The reason is a sentence. A destructive tool asks unless it is denied. Raise
    ImproperlyConfiguredAssistant if the settings or the tool have anything but allow,
    ask or deny.
    """
    rules = rules_for(tool, module)
    if any(rule.group_id is not None for rule in rules):
        own = groups_of(user) if user is not None else ()
        rules = [
            rule for rule in rules if rule.group_id is None or rule.group_id in own
        ]
    return _verdict(tool, rules)


def verdict_by_group(tool: ToolDefinition, module: str = "") -> dict[str, Verdict]:
    """Return the verdict for everybody, as "", and for each group with rules of its own."""
    rules = rules_for(tool, module)
    names = dict.fromkeys(rule.group for rule in rules if rule.group_id is not None)
    return {
        name: _verdict(tool, [rule for rule in rules if rule.group in ("", name)])
        for name in ("", *names)
    }


def decision_label(verdict: Verdict) -> str:
    """Return what is decided, as the form of a rule calls it."""
    return str(PolicyRule.Decision(verdict.decision).label)


def rules_for(tool: ToolDefinition, module: str = "") -> list[Rule]:
    """Return the rules for a tool on pages of a module, for one group or another."""
    return [
        rule
        for rule in site_rules()
        if rule.is_of(tool.name, module) and not loosens(tool, rule)
    ]


def loosens(tool: ToolDefinition, rule: Rule) -> bool:
    """
    Return whether a rule of the admin is less strict than the tool's own code.

    Such a rule does not count, unless the tool is marked as `configurable`.
    """
    own = tool.approval.policy
    if rule.row is None or tool.approval.configurable or own not in STRICTEST:
        return False
    return STRICTEST.index(rule.decision) > STRICTEST.index(own)


def _verdict(tool: ToolDefinition, rules: list[Rule]) -> Verdict:
    rule = min(rules, key=lambda rule: STRICTEST.index(rule.decision), default=None)
    verdict = _by_rule(rule) if rule is not None else _by_tool(tool)
    if verdict.decision == "allow" and tool.effect == "destructive":
        reason = _("Asks because it may remove data for good.")
        return Verdict(decision="ask", reason=reason, source="default")
    return verdict


def denies_any() -> bool:
    """Return whether any rule of the site denies. Seldom asks the database."""
    return any(rule.decision == "deny" for rule in site_rules())


def is_denied(
    tool: ToolDefinition,
    *,
    user: Any = None,
    module: str = "",
    denies: bool | None = None,
) -> bool:
    """
    Return whether `tool_verdict` would deny it, without building the reason.

    `denies` is what `denies_any` has just returned, if many tools are asked about.
    """
    denies = denies_any() if denies is None else denies
    if tool.approval.policy != "deny" and not denies:
        return False
    return tool_verdict(tool, user=user, module=module).decision == "deny"


def _by_rule(rule: Rule) -> Verdict:
    values = {"group": rule.group, "reason": rule.reason.rstrip(" .")}
    reasons = {
        # decision, of a group, with a reason
        ("deny", False, False): _("Denied by a rule of this site."),
        ("deny", False, True): _("Denied by a rule of this site: %(reason)s."),
        ("deny", True, False): _("Denied for group %(group)s."),
        ("deny", True, True): _("Denied for group %(group)s: %(reason)s."),
        ("ask", False, False): _("Asks because a rule of this site says so."),
        ("ask", False, True): _(
            "Asks because a rule of this site says so: %(reason)s."
        ),
        ("ask", True, False): _("Asks because of a rule for group %(group)s."),
        ("ask", True, True): _(
            "Asks because of a rule for group %(group)s: %(reason)s."
        ),
        ("allow", False, False): _("Allowed by a rule of this site."),
        ("allow", False, True): _("Allowed by a rule of this site: %(reason)s."),
        ("allow", True, False): _("Allowed for group %(group)s."),
        ("allow", True, True): _("Allowed for group %(group)s: %(reason)s."),
    }
    is_of_group = rule.group_id is not None
    reason = reasons[rule.decision, is_of_group, bool(values["reason"])] % values
    source = "setting" if rule.row is None else "rule"
    return Verdict(decision=rule.decision, reason=reason, source=source)


def _by_tool(tool: ToolDefinition) -> Verdict:
    if tool.approval.policy is None:
        return _by_effect(tool)
    if tool.approval.policy not in DECISIONS:
        raise ImproperlyConfiguredAssistant(
            f"Tool {tool.name!r} has the policy {tool.approval.policy!r}. "
            "Use 'allow', 'ask' or 'deny'."
        )
    reasons = {
        "deny": _("Denied by the tool itself."),
        "ask": _("Asks because the tool requires approval."),
        "allow": _("Allowed by the tool itself."),
    }
    reason = reasons[tool.approval.policy]
    return Verdict(decision=tool.approval.policy, reason=reason, source="tool")


def _by_effect(tool: ToolDefinition) -> Verdict:
    decision, reason = {
        "read": ("allow", _("Allowed because it only reads.")),
        "ui": ("allow", _("Allowed because it only changes the page.")),
        "write": ("ask", _("Asks because it changes data.")),
        "destructive": ("ask", _("Asks because it may remove data for good.")),
    }[tool.effect]
    return Verdict(decision=decision, reason=reason, source="default")  # type: ignore[arg-type] # as above
