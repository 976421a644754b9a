"""django-celery-beat: tasks at their times."""

REQUIRES = "django-celery-beat==2.9.0"
NOT_ON_DJANGO_61 = "django-celery-beat 2.9.0 wants Django below 6.1"
APPS = ["django_celery_beat"]
