from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class DiscoverConfig(AppConfig):
    """The log explorer of the demo."""

    name = "project.discover"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = _("Discover")
