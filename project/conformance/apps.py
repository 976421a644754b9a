from django.apps import AppConfig


class ConformanceConfig(AppConfig):
    """Tools for outside test suites."""

    name = "project.conformance"
    default_auto_field = "django.db.models.BigAutoField"
