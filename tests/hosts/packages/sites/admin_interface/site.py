"""django-admin-interface: themes that are rows."""

REQUIRES = "django-admin-interface==0.32.0"
APPS_BEFORE = ["admin_interface", "colorfield"]
APPS = []
SETTINGS = {"X_FRAME_OPTIONS": "SAMEORIGIN"}
