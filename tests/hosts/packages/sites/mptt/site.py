"""django-mptt: a tree kept by numbers."""

REQUIRES = "django-mptt==0.20.0"
APPS = ["mptt"]
