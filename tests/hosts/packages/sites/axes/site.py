"""django-axes: attempts to sign in."""

REQUIRES = "django-axes==8.3.1"
APPS = ["axes"]
MIDDLEWARE = ["axes.middleware.AxesMiddleware"]
SETTINGS = {
    "AUTHENTICATION_BACKENDS": [
        "axes.backends.AxesStandaloneBackend",
        "django.contrib.auth.backends.ModelBackend",
    ]
}
