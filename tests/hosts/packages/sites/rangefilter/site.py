"""django-admin-rangefilter: filters by two dates."""

REQUIRES = "django-admin-rangefilter==0.15.0"
APPS = ["rangefilter"]
