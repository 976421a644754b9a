"""django-jazzmin: a look of its own."""

REQUIRES = ""
APPS_BEFORE = ["jazzmin"]
APPS = []
