"""django-modeltranslation: a column for each language."""

REQUIRES = "django-modeltranslation==0.20.6"
APPS_BEFORE = ["modeltranslation"]
APPS = []
