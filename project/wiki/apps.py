from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WikiConfig(AppConfig):
    """The wiki of the demo."""

    name = "project.wiki"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = _("Wiki")
