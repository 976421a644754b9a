"""django-oscar: its models in Django's admin, and its dashboard, which opts in."""

from oscar import INSTALLED_APPS, defaults

REQUIRES = "django-oscar==4.2.1"
OF_DJANGO = "django.contrib."
APPS = [
    *("django.contrib.sites", "django.contrib.flatpages"),
    *(one for one in INSTALLED_APPS if not one.startswith(OF_DJANGO)),
]
MIDDLEWARE = ["oscar.apps.basket.middleware.BasketMiddleware"]
URLS = [("", "tests.hosts.packages.sites.oscar.urls")]
SETTINGS = {
    **{name: value for name, value in vars(defaults).items() if name.isupper()},
    "SITE_ID": 1,
    "OSCAR_INITIAL_ORDER_STATUS": "New",
    "OSCAR_ORDER_STATUS_PIPELINE": {"New": ("Sent",), "Sent": ()},
    "HAYSTACK_CONNECTIONS": {
        "default": {"ENGINE": "haystack.backends.simple_backend.SimpleEngine"}
    },
    "AI_ASSISTANT": {
        "PROFILES": {"default": {"MODEL": "openai/none", "API_KEY": "none"}},
        "PANEL": {"VIEWS": ["dashboard:*"]},
    },
}
