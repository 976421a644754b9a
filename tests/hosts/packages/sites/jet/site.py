"""django-jet-reboot: a look of its own, with selects and inlines of its own."""

REQUIRES = "django-jet-reboot==1.3.10"
APPS_BEFORE = ["jet"]
APPS = []
URLS = [("jet/", "jet.urls")]
