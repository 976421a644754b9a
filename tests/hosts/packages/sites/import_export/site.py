"""django-import-export: rows from files."""

REQUIRES = "django-import-export==4.4.3"
APPS = ["import_export"]
