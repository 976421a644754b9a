"""django-guardian: permissions for single objects."""

REQUIRES = "django-guardian==3.5.2"
APPS = ["guardian"]
SETTINGS = {
    "AUTHENTICATION_BACKENDS": [
        "django.contrib.auth.backends.ModelBackend",
        "guardian.backends.ObjectPermissionBackend",
    ]
}
