"""
Wrong configuration, found when the site starts and not at the first message.

Each message has an id and a hint; docs/checks.md lists them all.
"""

from collections.abc import Callable, Iterable

from django.core.checks import CheckMessage, register

from ai_assistant import conf
from ai_assistant.checks.deployment import (
    check_asgi,
    check_background,
    check_database,
    check_layer,
)
from ai_assistant.checks.modules import check_context, check_modules
from ai_assistant.checks.profiles import check_profiles
from ai_assistant.checks.safety import (
    check_budgets,
    check_changes,
    check_data,
    check_doors,
    check_safety,
    check_secrets,
)
from ai_assistant.checks.settings import check_redaction, check_settings
from ai_assistant.checks.site import check_pages, check_site
from ai_assistant.checks.tools import check_manifest, check_tools

TAG = "ai_assistant"

# Each may count on settings that have the right names and types.
CHECKS: tuple[Callable[[], Iterable[CheckMessage]], ...] = (
    check_profiles,
    check_budgets,
    check_site,
    check_asgi,
    check_pages,
    check_layer,
    check_background,
    check_database,
    check_safety,
    check_redaction,
    check_tools,
    check_data,
    check_changes,
    check_context,
    check_modules,
    check_manifest,
    check_doors,
)


@register(TAG)
def check_assistant(**_: object) -> list[CheckMessage]:
    """Return what is wrong; nothing where the assistant is switched off."""
    found = list(check_settings())
    if found or not conf.enabled():
        return found
    return [message for check in CHECKS for message in check()]


@register(TAG, deploy=True)
def check_before_deployment(**_: object) -> list[CheckMessage]:
    """Return what somebody has to look at once, before the site is switched on."""
    if list(check_settings()) or not conf.enabled():
        return []
    return list(check_secrets())
