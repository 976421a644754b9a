import pytest
from django.urls import reverse

from ai_assistant import ModelRetry
from ai_assistant.context.collect import collect_items
from project.wiki.assistant import read_wiki_page, search_wiki
from project.wiki.models import Page

pytestmark = pytest.mark.django_db


@pytest.fixture
def pages():
    return [
        Page.objects.create(slug="tea", title="Tea", text="How tea is made. " * 300),
        Page.objects.create(slug="cups", title="Cups", text="Where the tea goes."),
        Page.objects.create(slug="odd", title="<b>Odd</b>", text="<script>1</script>"),
    ]


class TestSearchWiki:
    def test_title_first(self, context, pages):
        told = search_wiki(context, "tea")

        assert [page["slug"] for page in told["pages"]] == ["tea", "cups"]
        assert told["pages"][1]["excerpt"] == "Where the tea goes."
        assert told["pages"][1]["path"] == "/admin/wiki/page/read/cups/"

    @pytest.mark.parametrize(
        ("query", "total"), [("where TEA", 1), ("tea cups", 1), ("coffee", 0), ("%", 0)]
    )
    def test_every_word_must_be_there(self, context, pages, query, total):
        if query == "%":
            with pytest.raises(ModelRetry, match="has no words"):
                search_wiki(context, query)
        else:
            assert search_wiki(context, query)["total"] == total


class TestReadWikiPage:
    def test_whole(self, context, pages):
        assert read_wiki_page(context, "tea")["text"] == pages[0].text

    def test_unknown_page_names_the_tool_to_call(self, context):
        with pytest.raises(ModelRetry, match="'tea' does not exist. Call search_wiki"):
            read_wiki_page(context, "tea")


class TestWikiPages:
    def test_wiki_pages_are_read_and_searched(self, client, superuser, pages):
        client.force_login(superuser)

        page = client.get(pages[2].get_absolute_url())
        found = client.get(reverse("admin:wiki_page_index"), {"q": "where"})

        assert b"<script>1</script>" not in page.content
        assert b'id="aia"' in page.content
        assert list(found.context["pages"]) == [pages[1]]

    def test_need_the_permission(self, client, user, pages):
        user.is_staff = True
        user.save()
        client.force_login(user)

        assert client.get(pages[0].get_absolute_url()).status_code == 403

    def test_unknown_is_404(self, client, superuser):
        client.force_login(superuser)

        assert client.get("/admin/wiki/page/read/none/").status_code == 404


@pytest.mark.django_db(transaction=True)
class TestWikiContext:
    def test_wiki_context_describes_the_page_that_is_read(self, at, pages):
        seen = collect_items(at(pages[0].get_absolute_url()))

        [item] = [item for item in seen.items if item.id == "wiki_page"]
        assert (item.title, item.value["slug"]) == ("Tea", "tea")
        assert (len(item.value["text"]), item.value["is_cut"]) == (3000, True)

    def test_wiki_context_is_kept_from_who_may_not_read(self, at, pages, user):
        seen = collect_items(at(pages[0].get_absolute_url(), user))

        assert "wiki_page" not in [item.id for item in seen.items]

    def test_wiki_context_is_not_there_on_other_pages(self, at):
        seen = collect_items(at("/admin/"))

        assert "wiki_page" not in [item.id for item in seen.items]
