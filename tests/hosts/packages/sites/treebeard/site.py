"""django-treebeard: a tree whose place is asked by the form."""

REQUIRES = "django-treebeard==7.0.3"
APPS = ["treebeard"]
