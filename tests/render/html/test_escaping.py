"""Words of users, models, tools and rows are words on the page, whatever they say."""

import html
import re

import pytest
from django.utils.html import strip_tags

from ai_assistant.models import Conversation, Interrupt, Message, Run, ToolCall
from ai_assistant.render.html.fragments import entry_html
from ai_assistant.render.html.live.projection import Projection
from ai_assistant.render.html.transcript.thread import read_thread
from ai_assistant.text.hidden_characters import mark_hidden_characters
from tests.hostile import TEXTS
from tests.render.html.dom import Page, parse
from tests.render.html.tab import panel, whole_page

pytestmark = pytest.mark.broad

TAGS = {
    *("article", "aside", "bdi", "button", "details", "div", "form", "h2", "h3", "h4"),
    "i",
    *("input", "p", "path", "pre", "progress", "section", "span", "summary", "svg"),
    *("kbd", "label"),
    "use",  # an icon of the sprite
    *(
        "table",
        "tbody",
        "time",
        "td",
        "th",
        "tr",
        "a",
        "code",
        "em",
        "strong",
        "ul",
        "ol",
    ),
    *("li", "br", "hr", "h1", "h5", "h6", "blockquote", "s"),
}
IDS = [text.encode("unicode_escape").decode()[:30] for text in TEXTS]


def assert_harmless(page: Page) -> None:
    for node in page.root.elements():
        assert node.tag in TAGS
        assert not [name for name in node.attrs if name.startswith(("on", "style"))]
        assert not [name for name in node.attrs if name.startswith("hx-get")]
        if node.tag == "use":
            assert re.fullmatch(r"#aia-i-[a-z-]+", node.attrs["href"])
        for name in ("href", "src", "action"):
            address = node.attrs.get(name, "/")
            assert address.startswith(("/", "#", "?", "mailto:", "http"))
            assert not address.startswith("//") or node.attrs.get("rel")
    assert [node.id for node in page.root.elements()].count("aia") == 1


def seen(text: str) -> str:
    """Return the words of a text on a card, where nothing hides."""
    return html.unescape(strip_tags(mark_hidden_characters(text)))


def text_of(page: Page, element: str, css: str) -> list[str]:
    found = page.by_id(element).elements()
    return [node.text() for node in found if css in node.classes()]


@pytest.fixture
def told(story):
    """Return a run in which everything that can be said says `text`."""

    def tell(text: str):
        story.ask("Hello")
        story._reply(("needs_approval",))
        story.park()
        call = ToolCall.objects.get()
        Interrupt.objects.create(
            run=call.run,
            call=call,
            kind="question",
            question=text,
            options=[text],
            nonce=text[:64],
        )
        ToolCall.objects.update(
            name=text[:200],
            label=text[:200],
            arguments={text: text},
            error=text,
            reason=text[:40],
            progress=0.5,
            progress_text=text[:200],
            status="executing",
        )
        Message.objects.filter(role="user").update(
            parts=[{"type": "text", "text": text}], key=text[:64]
        )
        parts = [
            {"type": "reasoning", "text": text},
            {"type": "text", "text": text},
            {"type": "call", "call_id": str(call.pk)},
        ]
        Message.objects.filter(role="assistant").update(parts=parts)
        Run.objects.update(error_text=text, error_code=text[:64])
        Conversation.objects.update(title=text[:200])
        return Conversation.objects.get()

    return tell


class TestHostileText:
    @pytest.mark.parametrize("text", TEXTS, ids=IDS)
    def test_hostile_text_is_shown_as_it_was_said(self, told, text, user):
        conversation = told(text)
        page, _, _ = whole_page(conversation)

        assert_harmless(page)
        said, thought = text_of(page, "aia-log", "aia-text")
        assert (said, thought) == (text, text)
        assert text[:200] in text_of(page, "aia-log", "aia-label")[0]
        assert text_of(page, "aia-log", "aia-cause") == [seen(text)]
        assert text in text_of(page, "aia-log", "aia-error")[0]
        approval, question = page.by_id("aia-pinned").children
        values = [node.text() for node in approval.elements() if node.tag == "td"]
        assert values == [seen(text)]
        assert question.text().count(text) == 2

        shown = Page()
        shown.apply(Projection(conversation.pk, user.pk, panel()).attach(None, 0))
        assert_harmless(shown)
        assert shown.shown() == page.shown()
        assert shown.by_id("aia-title").text() == text[:200]

    def test_hostile_text_of_a_result_is_text(self, told):
        conversation = told("Hello")
        for text in TEXTS:
            ToolCall.objects.update(preview=text, status="complete")
            page, _, _ = whole_page(conversation)
            assert_harmless(page)
            shown = [node.text() for node in page.root.elements() if node.tag == "pre"]
            assert seen(text) in shown

    def test_hostile_text_grows_as_text(self, story, user):
        story.ask("Hello")
        projection, page = Projection(story.conversation_id, user.pk, panel()), Page()
        page.apply(projection.attach(None, 0))
        for text in TEXTS:
            for at in range(0, 60, 7):
                story.think(text[at : at + 7])
                story.say(text[at : at + 7])
            for frame in story.frames:
                projection.live(frame)
            story.frames.clear()
            page.apply(projection.text_ops())
            assert_harmless(page)
        thought = text_of(page, "aia-log", "aia-reasoning")[-1]
        assert "".join(text[:63] for text in TEXTS) in thought


class TestEntryHtml:
    def test_entry_html_needs_no_request_and_no_session(self, story):
        story.ask("<b>Hello</b>")
        (question, run) = read_thread(story.conversation).entries

        assert "&lt;b&gt;" in entry_html(question, panel())
        assert parse(entry_html(run, panel())).children
