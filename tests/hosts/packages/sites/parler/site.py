"""django-parler: a row for each language, which the address names."""

REQUIRES = "django-parler==2.4"
APPS = ["parler"]
SETTINGS = {
    "PARLER_LANGUAGES": {
        None: ({"code": "en"}, {"code": "nl"}),
        "default": {"fallbacks": ["en"], "hide_untranslated": False},
    }
}
