"""django-celery-beat: tasks at their times."""

REQUIRES = "django-celery-beat==2.9.0"
APPS = ["django_celery_beat"]
