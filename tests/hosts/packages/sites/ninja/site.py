"""django-ninja: an API of it, and one view of adrf."""

REQUIRES = "django-ninja==1.7.1\nadrf==0.1.14"
APPS = ["ninja"]
URLS = (("api/", "tests.hosts.packages.sites.ninja.urls"),)
SETTINGS = {
    "AI_ASSISTANT": {
        "PROFILES": {"default": {"MODEL": "openai/none", "API_KEY": "none"}},
        "API_OPERATIONS": ["*", "!traps.throttled", "elsewhere"],
        "TIMEOUTS": {"WRITE_S": 20.0},
        "DATA": {"READ_ONLY": ["host.book.added_by"]},
    }
}
