"""django-crum: the person of the request, from anywhere."""

REQUIRES = "django-crum==0.7.9"
APPS = []
MIDDLEWARE = ["crum.CurrentRequestUserMiddleware"]
