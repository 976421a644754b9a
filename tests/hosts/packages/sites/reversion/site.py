"""django-reversion: each save is a revision, with a person."""

REQUIRES = "django-reversion==6.4.0"
APPS = ["reversion"]
