"""
Wrong configuration, found when the site starts and not at the first message.

Each message has an id and a hint; docs/checks.md lists them all.
"""

from collections.abc import Callable, Iterable

from django.core.checks import CheckMessage, register

from ai_assistant import conf
from ai_assistant.checks import (
    api,
    deployment,
    modules,
    profiles,
    requests,
    safety,
    settings,
    site,
    tools,
)

TAG = "ai_assistant"

# Each may count on settings that have the right names and types.
CHECKS: tuple[Callable[[], Iterable[CheckMessage]], ...] = (
    profiles.check_profiles,
    safety.check_budgets,
    site.check_site,
    deployment.check_asgi,
    site.check_pages,
    deployment.check_layer,
    deployment.check_background,
    deployment.check_database,
    safety.check_safety,
    settings.check_redaction,
    tools.check_tools,
    api.check_api,
    safety.check_data,
    safety.check_changes,
    requests.check_requests,
    modules.check_context,
    modules.check_modules,
    modules.check_files,
    modules.check_module_skills,
    tools.check_manifest,
    safety.check_doors,
)


@register(TAG)
def check_assistant(**_: object) -> list[CheckMessage]:
    """Return what is wrong; nothing where the assistant is switched off."""
    messages = list(settings.check_settings())
    if messages or not conf.enabled():
        return messages
    return [message for check in CHECKS for message in check()]


@register(TAG, deploy=True)
def check_before_deployment(**_: object) -> list[CheckMessage]:
    """Return what somebody has to look at once, before the site is switched on."""
    if list(settings.check_settings()) or not conf.enabled():
        return []
    return list(safety.check_secrets())
