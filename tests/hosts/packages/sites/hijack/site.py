"""django-hijack: somebody else's account."""

REQUIRES = "django-hijack==3.7.9"
APPS = ["hijack", "hijack.contrib.admin"]
MIDDLEWARE = ["hijack.middleware.HijackUserMiddleware"]
URLS = [("hijack/", "hijack.urls")]
