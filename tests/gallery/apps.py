from django.apps import AppConfig


class GalleryConfig(AppConfig):
    name = "tests.gallery"
    default_auto_field = "django.db.models.BigAutoField"
