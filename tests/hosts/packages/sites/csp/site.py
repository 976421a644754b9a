"""django-csp and whitenoise: a strict policy, and static files with digests."""

from pathlib import Path

from csp.constants import SELF

REQUIRES = "django-csp==4.0\nwhitenoise==6.12.0"
APPS = ["csp"]
MIDDLEWARE = [
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
]
FILES = "whitenoise.storage.CompressedManifestStaticFilesStorage"
SETTINGS = {
    "CONTENT_SECURITY_POLICY": {"DIRECTIVES": {"default-src": [SELF]}},
    "STATIC_ROOT": Path(__file__).parents[5] / "build" / "hosts-static",
    "STORAGES": {
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
        "staticfiles": {"BACKEND": FILES},
    },
}
