from ai_assistant.checks import check_assistant


class TestStash:
    def test_is_in_order_without_a_setting(self, settings, tmp_path):
        settings.MEDIA_ROOT = str(tmp_path / "media")

        assert check_assistant() == []

    def test_storage_that_cannot_be_imported_is_an_error(self, assistant, only):
        assistant(STASH_STORAGE="nowhere.Storage")

        found, text = only()
        assert found == "ai_assistant.E140"
        assert text.startswith(
            "AI_ASSISTANT['STASH_STORAGE'] is 'nowhere.Storage', which is not a "
            "storage: "
        )

    def test_served(self, assistant, only, settings, tmp_path):
        settings.MEDIA_ROOT = str(tmp_path)
        assistant(STASH_STORAGE="django.core.files.storage.FileSystemStorage")

        assert only() == (
            "ai_assistant.E141",
            f"AI_ASSISTANT['STASH_STORAGE'] keeps old files in '{tmp_path}', "
            "which the site serves. | "
            "Give a storage outside of MEDIA_ROOT and STATIC_ROOT.",
        )


class TestSideModels:
    def test_side_model_that_does_not_exist_is_an_error(self, assistant, only):
        assistant(SIDE_MODELS=["shop.nothing"])

        assert only() == (
            "ai_assistant.E142",
            "AI_ASSISTANT['SIDE_MODELS'] names 'shop.nothing', but there is no such "
            "model. | Write app.model, as 'shop.order', or remove it.",
        )


class TestSideFields:
    def test_side_field_that_does_not_exist_is_an_error(self, assistant, only):
        assistant(SIDE_FIELDS=["auth.user.nothing"])

        assert only() == (
            "ai_assistant.E143",
            "AI_ASSISTANT['SIDE_FIELDS'] names 'auth.user.nothing', but there is no "
            "such field. | Write app.model.field, as 'shop.order.changed_by', or "
            "remove it.",
        )

    def test_known(self, assistant, only):
        assistant(SIDE_FIELDS=["auth.user.email"], SIDE_MODELS=["shop.nothing"])

        assert only()[0] == "ai_assistant.E142"
