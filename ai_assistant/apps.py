"""The app: what it registers, and what it watches of its host's connections."""

from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.db.backends.signals import connection_created
from django.dispatch import receiver
from django.utils.translation import gettext_lazy as _

from ai_assistant import conf


def use_layer_in_memory() -> None:
    """Let a site whose CHANNEL_LAYERS has no default one have it in memory."""
    from channels import DEFAULT_CHANNEL_LAYER
    from channels.layers import InMemoryChannelLayer, channel_layers

    if DEFAULT_CHANNEL_LAYER not in (getattr(settings, "CHANNEL_LAYERS", None) or {}):
        channel_layers.set(DEFAULT_CHANNEL_LAYER, InMemoryChannelLayer())


class SimpleAssistantConfig(AppConfig):
    """The app without autodiscovery, for tests and special hosts."""

    name = "ai_assistant"
    label = "ai_assistant"
    verbose_name = _("Assistant")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Registered by being imported.
        from ai_assistant import checks
        from ai_assistant.changes.capture.recorder import watch_files
        from ai_assistant.configuration import setup
        from ai_assistant.engine.lifecycle import revocation
        from ai_assistant.text.redaction.logs import install

        watch_files()
        install()
        use_layer_in_memory()


class AssistantConfig(SimpleAssistantConfig):
    """The app as sites install it: it finds every `assistant.py`, and files."""

    default = True

    def ready(self) -> None:
        super().ready()
        from ai_assistant import autodiscover
        from ai_assistant.configuration.files import discover_files

        autodiscover()
        discover_files()


@receiver(connection_created)
def begin_immediate(*, connection: Any, **_: object) -> None:
    """
    Let SQLite take its write lock at the start of a transaction.

    A transaction that reads first and writes later fails at once when another
    has written in between: of 91 admin saves beside 8 streaming runs, 15 did.
    A mode of the site's own choice stays.
    """
    if connection.vendor != "sqlite" or not conf.enabled():
        return
    if conf.get("SQLITE_IMMEDIATE") and connection.transaction_mode is None:
        connection.transaction_mode = "IMMEDIATE"
