"""Wagtail: an admin of its own beside Django's, which opts in by the names of its views."""

REQUIRES = "wagtail==8.0.1"
APPS = [
    *("wagtail.users", "wagtail.snippets", "wagtail.documents", "wagtail.images"),
    *("wagtail.search", "wagtail.admin", "wagtail", "modelcluster", "taggit"),
]
URLS = [("cms/", "wagtail.admin.urls")]
SETTINGS = {
    "WAGTAIL_SITE_NAME": "Site",
    "WAGTAILADMIN_BASE_URL": "http://testserver",
    "AI_ASSISTANT": {
        "PROFILES": {"default": {"MODEL": "openai/none", "API_KEY": "none"}},
        "PANEL": {"VIEWS": ["wagtailadmin_*"]},
    },
}
