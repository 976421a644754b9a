import pytest

from ai_assistant.checks import check_assistant


class TestStash:
    def test_stash_is_in_order_without_a_setting(self, settings, tmp_path):
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


class TestWrittenAlong:
    @pytest.mark.parametrize("name", ["shop.nothing", "auth.user.nothing", "user"])
    def test_name_of_nothing_is_an_error(self, assistant, only, name):
        assistant(DATA={"WRITTEN_ALONG": [name]})

        assert only() == (
            "ai_assistant.E142",
            f"AI_ASSISTANT['DATA']['WRITTEN_ALONG'] names {name!r}, but there is no such "
            "model or field. | Write app.model or app.model.field, as "
            "'shop.order.changed_by', or remove it.",
        )

    def test_model_and_field_are_right(self, assistant):
        assistant(DATA={"WRITTEN_ALONG": ["auth.Group", "auth.user.email"]})

        assert check_assistant() == []
