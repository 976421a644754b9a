import pytest

from ai_assistant.models import Run
from ai_assistant.render.html.fragments import entry_html
from ai_assistant.render.html.transcript.groups import asked_on, origin_page
from ai_assistant.render.html.transcript.thread import read_thread
from ai_assistant.web.panel.panel import bare_panel

USERS = "/admin/auth/user/?q=ada"
FORM = "/admin/auth/user/1/change/"
TITLE = "Select <user> to change | Django site admin"


def entry(path: str = USERS, title: str = TITLE):
    return asked_on(Run(page_path=path, page_title=title))


class TestAskedOn:
    def test_asked_on_names_a_list_by_its_models(self):
        assert entry() == {
            "url": USERS,
            "page": "/admin/auth/user/",
            "title": "Users",
        }

    def test_asked_on_names_any_other_page_as_its_title_begins(self):
        assert entry(FORM, "Ada <b> | Change user | Site")["title"] == "Ada <b>"

    def test_asked_on_names_a_page_without_a_title_by_its_path(self):
        assert entry(title="")["title"] == "/admin/auth/user/"

    def test_asked_on_cuts_a_long_title(self):
        assert entry(FORM, "x" * 300)["title"] == "x" * 80

    @pytest.mark.parametrize(
        "path",
        [
            "",
            "//other.example/admin/",
            "https://other.example/",
            "javascript:alert(1)",
            "http://[",
            "/assistant/?conversation=1",  # the assistant's own
        ],
    )
    def test_asked_on_is_none_where_no_page_was(self, path):
        assert entry(path) is None


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("/admin/auth/user/?q=ada#top", "/admin/auth/user/"),
        ("https://testserver/admin/?x=1", "/admin/"),  # as a poll names it
        ("http://[", ""),
        ("", ""),
    ],
)
def test_page_is_the_path_alone(url, page):
    assert origin_page(url) == page


class TestMessage:
    @pytest.fixture
    def drawn(self, story):
        """Return how the question is drawn on a page."""

        def draw(path: str, **changes: object) -> str:
            story.ask("Who?")
            Run.objects.update(page_path=USERS, page_title=TITLE)
            question = read_thread(story.conversation).entries[0] | changes
            return entry_html(question, bare_panel(story.user, path))

        return draw

    @pytest.mark.parametrize("path", ["/admin/", "/admin/auth/user/7/change/"])
    def test_message_says_on_another_page_where_it_was_asked(self, drawn, path):
        html = drawn(path)

        assert "Asked on Users" in html
        assert f'href="{USERS}"' in html

    def test_message_says_a_title_as_text(self, drawn):
        html = drawn("/admin/", asked_on=entry(FORM, "Ada <b> | Change user"))

        assert "Asked on Ada &lt;b&gt;" in html

    @pytest.mark.parametrize("path", [USERS, "/admin/auth/user/?q=bob"])
    def test_message_says_nothing_on_that_page(self, drawn, path):
        assert "Asked on" not in drawn(path)

    def test_message_says_nothing_of_a_try_that_nobody_typed(self, drawn):
        assert "Asked on" not in drawn("/admin/", again=True)
