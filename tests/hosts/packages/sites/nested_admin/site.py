"""django-nested-admin: inlines within inlines."""

REQUIRES = "django-nested-admin==4.1.6"
APPS = ["nested_admin"]
