"""django-solo: one object, at an address without a key."""

REQUIRES = "django-solo==2.5.1"
APPS = ["solo"]
