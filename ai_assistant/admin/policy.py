from typing import ClassVar

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from ai_assistant.admin.audited import Audited
from ai_assistant.admin.managed import ManagedAdmin
from ai_assistant.models.policy import PolicyRule
from ai_assistant.registry import registry
from ai_assistant.safety.rules import meant_by


@admin.register(PolicyRule)
class PolicyRuleAdmin(Audited, ManagedAdmin):
    """What the site says of some tools: never, ask first, or without asking."""

    list_display = ("tools", "decision", "module", "group", "reason", "fitting")
    list_filter = ("decision", "group")
    list_select_related = ("group",)
    search_fields = ("tools", "module", "reason")
    ordering = ("tools", "pk")
    fieldsets: ClassVar = (
        (
            None,
            {
                "fields": ("tools", "decision", "module", "group", "reason"),
                "description": _(
                    "Tools are named by a pattern: “shop_.*” means all whose name "
                    "begins with “shop_”. Of several rules for a tool “never” counts "
                    "first, then “ask first”. What may remove data for good always "
                    "asks."
                ),
            },
        ),
    )

    @admin.display(description=_("fitting tools"))
    def fitting(self, rule: PolicyRule) -> str:
        """Return how many tools the rule is for, and the first of them."""
        names = meant_by(rule.tools, registry.tools())
        more = f", … ({len(names)})" if len(names) > 3 else ""
        return ", ".join(names[:3]) + more or "-"
