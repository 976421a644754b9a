"""django-grappelli: a look of its own."""

REQUIRES = "django-grappelli==5.0.1"
APPS_BEFORE = ["grappelli"]
APPS = []
URLS = [("grappelli/", "grappelli.urls")]
