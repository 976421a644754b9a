"""django-constance: settings as a model that is none."""

REQUIRES = "django-constance==4.4.0"
APPS = ["constance"]
SETTINGS = {
    "CONSTANCE_CONFIG": {"ANSWER": (42, "The answer")},
    "CONSTANCE_BACKEND": "constance.backends.memory.MemoryBackend",
}
