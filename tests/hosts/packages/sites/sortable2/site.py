"""django-admin-sortable2: rows in an order."""

REQUIRES = "django-admin-sortable2==2.3.1"
APPS = ["adminsortable2"]
