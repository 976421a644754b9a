import pytest

from ai_assistant.models import ToolCall
from ai_assistant.render.html.sources import sources_of

USER = "/admin/auth/user/7/change/"
DATA = {
    "model": "auth.user",
    "total": 2,
    "rows": [{"id": 7, "text": "Ada <x>", "fields": {}}, {"id": 8, "text": "Bob"}],
}


@pytest.fixture
def read(story):
    """Return the sources of a text whose run has read `data`."""

    def sources(text, data=DATA, status="complete"):
        story.ask("Who?")
        story._reply(("echo",))
        ToolCall.objects.update(result={"ok": True, "data": data}, status=status)
        found = sources_of({story.run.pk: text})
        return [(one["text"], one["url"]) for one in found.get(story.run.pk, [])]

    return sources


class TestSources:
    def test_are_the_objects_that_were_read(self, read):
        assert read(f"It is [Ada]({USER}).") == [("Ada <x>", USER)]

    def test_are_numbered_as_they_are_linked_each_once(self, read):
        bob = "/admin/auth/user/8/change/"
        text = f"[b]({bob}), [a](<{USER}?x=1>), [b]({bob}#top)"

        assert [url for _, url in read(text)] == [bob, f"{USER}?x=1"]

    @pytest.mark.parametrize(
        "text",
        [
            "[Eve](/admin/auth/user/9/change/)",  # never read
            f"[Ada](https://example.com{USER})",  # elsewhere
            "[all](/admin/auth/user/)",
            "[none](/admin/no/such/page/)",
            f"{USER}",  # no link
            "",
        ],
    )
    def test_are_nothing_else(self, read, text):
        assert read(text) == []

    def test_of_a_call_that_failed_are_none(self, read):
        assert read(f"[Ada]({USER})", status="failed") == []

    @pytest.mark.parametrize("data", [None, "text", 7, [], {"id": 7}, {"model": 3}])
    def test_of_other_results_are_none(self, read, data):
        assert read(f"[Ada]({USER})", data) == []

    def test_of_one_object(self, read):
        data = {"model": "auth.User", "id": "7", "text": "Ada"}

        assert read(f"[Ada]({USER})", data) == [("Ada", USER)]

    def test_ask_for_results_only_where_something_is_linked(
        self, story, django_assert_num_queries
    ):
        with django_assert_num_queries(0):
            assert sources_of({story.conversation_id: "No link at all."}) == {}
