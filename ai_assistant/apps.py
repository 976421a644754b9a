from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SimpleAssistantConfig(AppConfig):
    """The app without autodiscovery, for tests and special hosts."""

    name = "ai_assistant"
    label = "ai_assistant"
    verbose_name = _("Assistant")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Registered by being imported.
        from ai_assistant import checks, receivers
        from ai_assistant.changes.capture import recorder
        from ai_assistant.engine.lifecycle import revocation
        from ai_assistant.text.redaction.logs import install

        install()


class AssistantConfig(SimpleAssistantConfig):
    """The app as sites install it: it finds every `assistant.py`."""

    default = True

    def ready(self) -> None:
        super().ready()
        from ai_assistant import autodiscover

        autodiscover()
