from typing import Any, ClassVar

from django.contrib import admin, messages
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ai_assistant.admin.base import RowForm
from ai_assistant.admin.rows.versions import VersionedAdmin
from ai_assistant.configuration.problems.rows import STRICTER, loosened_by
from ai_assistant.configuration.problems.stored import broken_pattern, without_tools
from ai_assistant.models.policy import PolicyRule, pattern_error
from ai_assistant.modules.resolve import module_ids
from ai_assistant.registry import registry
from ai_assistant.safety.policy.policy import meant_by

MODULE_HELP = gettext_lazy(
    "The id of a module: the rule applies to its pages only. Empty: all pages."
)
GROUP_HELP = gettext_lazy("For members of this group only. Empty: everybody.")


class PolicyRuleForm(RowForm):
    """The form of a rule."""

    class Meta:
        model = PolicyRule
        fields = ("tools", "decision", "module", "group", "reason")
        help_texts: ClassVar = {"module": MODULE_HELP, "group": GROUP_HELP}


@admin.register(PolicyRule)
class PolicyRuleAdmin(VersionedAdmin):
    """The site's policy rules: deny, ask or allow, by tool pattern."""

    form = PolicyRuleForm
    list_display = (
        "tools",
        "decision",
        "module",
        "group",
        "reason",
        "fitting",
        "changed",
    )
    list_filter = ("decision", "group")
    list_select_related = ("group",)
    search_fields = ("tools", "module", "reason")
    when_empty = gettext_lazy(
        "No rule was added here yet: tools are allowed, asked for or denied as the "
        "code and the settings of the site say."
    )
    ordering = ("tools", "pk")
    fieldsets: ClassVar = (
        (
            None,
            {
                "fields": ("tools", "decision", "module", "group", "reason"),
                "description": gettext_lazy(
                    "A pattern names the tools: “shop_.*” matches all whose name "
                    "begins with “shop_”. If several rules match a tool, “deny” comes "
                    "first, then “ask”. What may remove data for good always asks."
                ),
            },
        ),
    )

    @admin.display(description=gettext_lazy("matching tools"))
    def fitting(self, rule: PolicyRule) -> str:
        """Return how many tools the rule matches, and the first of them."""
        if rule.module and rule.module not in module_ids():
            return _("none: there is no module “%(module)s”") % {"module": rule.module}
        if error := pattern_error(rule.tools):
            return broken_pattern(rule, error)
        names = meant_by(rule.tools, registry.tools())
        rest = f", … ({len(names)})" if len(names) > 3 else ""
        return ", ".join(names[:3]) + rest or _("none with this name")

    def save_model(
        self,
        request: HttpRequest,
        obj: PolicyRule,
        form: Any,
        change: Any,
    ) -> None:
        """Save the rule, and warn if it matches no tool: one may be added later."""
        super().save_model(request, obj, form, change)
        if loosened := loosened_by(obj.tools, obj.decision)[1]:
            messages.warning(request, STRICTER % {"tools": ", ".join(loosened)})
        if not meant_by(obj.tools, registry.tools()):
            messages.warning(request, without_tools(obj))
