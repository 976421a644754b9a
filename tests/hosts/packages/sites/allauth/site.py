"""django-allauth: addresses and accounts of people."""

REQUIRES = "django-allauth==65.21.1"
APPS = ["allauth", "allauth.account"]
MIDDLEWARE = ["allauth.account.middleware.AccountMiddleware"]
URLS = [("accounts/", "allauth.urls")]
