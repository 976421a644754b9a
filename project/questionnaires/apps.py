from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class QuestionnairesConfig(AppConfig):
    """The questionnaires of the demo."""

    name = "project.questionnaires"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = _("Questionnaires")
