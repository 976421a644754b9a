"""django-tinymce: rich text."""

REQUIRES = "django-tinymce==5.0.0"
APPS = ["tinymce"]
