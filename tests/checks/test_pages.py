from ai_assistant.checks import check_assistant


class TestStaticFiles:
    def test_no_finder(self, settings, only):
        settings.STATICFILES_FINDERS = []

        assert only() == (
            "ai_assistant.E030",
            "No finder of STATICFILES_FINDERS finds 'ai_assistant/boot.js'. | "
            "Use 'django.contrib.staticfiles.finders.AppDirectoriesFinder', or "
            "reinstall the package if its static files are missing.",
        )

    def test_static_files_not_collected(self, settings, only, tmp_path):
        settings.STATIC_ROOT = tmp_path
        settings.STORAGES = {
            **settings.STORAGES,
            "staticfiles": {
                "BACKEND": "django.contrib.staticfiles.storage."
                "ManifestStaticFilesStorage"
            },
        }

        assert only() == (
            "ai_assistant.W031",
            "'ai_assistant/boot.js' has no URL, so every page with the panel fails: "
            "Missing staticfiles manifest entry for 'ai_assistant/boot.js' | Set "
            "STATIC_URL, and run `python manage.py collectstatic`.",
        )


class TestTemplates:
    def test_no_app_directories(self, settings):
        (engine,) = settings.TEMPLATES
        settings.TEMPLATES = [{**engine, "APP_DIRS": False}]

        (found,) = check_assistant()
        assert (found.id, found.msg, found.hint) == (
            "ai_assistant.E032",
            "The template 'ai_assistant/panel.html' cannot be loaded.",
            "Set 'APP_DIRS': True for the DjangoTemplates backend in TEMPLATES.",
        )
