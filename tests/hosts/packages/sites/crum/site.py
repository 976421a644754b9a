"""django-crum: the person of the request, from anywhere."""

REQUIRES = "django-crum==0.7.9"
APPS = []
MIDDLEWARE = ["crum.CurrentRequestUserMiddleware"]
SETTINGS = {
    "AI_ASSISTANT": {
        "PROFILES": {"default": {"MODEL": "openai/none", "API_KEY": "none"}},
        "DATA": {"WRITTEN_ALONG": ["host.removal"]},
    }
}
