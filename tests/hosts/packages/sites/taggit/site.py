"""django-taggit: tags are typed into one field, and stored as rows."""

REQUIRES = "django-taggit==6.1.0"
APPS = ["taggit"]
