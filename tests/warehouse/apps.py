from django.apps import AppConfig


class WarehouseConfig(AppConfig):
    name = "tests.warehouse"
    label = "warehouse"
    default_auto_field = "django.db.models.BigAutoField"
