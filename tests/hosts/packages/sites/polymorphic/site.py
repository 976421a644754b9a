"""django-polymorphic: the page of the parent shows its children."""

REQUIRES = "django-polymorphic==4.11.7"
APPS = ["polymorphic"]
