"""django-unfold: a look and widgets of its own."""

REQUIRES = ""
APPS_BEFORE = ["unfold"]
APPS = []
