"""Search over titles and messages: what is found, how it is shown, bad input."""

import time

import pytest
from django.urls import reverse

from ai_assistant.engine.queries import search_words
from ai_assistant.models import Conversation, Message, Run
from ai_assistant.render.html.conversation_list import excerpt, without_signs
from ai_assistant.web.panel.listing import LISTED, Wish, list_conversations
from tests.corpora import corpus
from tests.figures import FIGURE
from tests.web.conftest import ask

SCRIPT = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def _quiet(quiet):
    """Let what is queued stay queued."""


def answered(user, asked, *said):
    """Return a run that was asked `asked` and has answered each of `said`."""
    run = ask(user, asked)
    Run.objects.filter(pk=run.pk).update(state="succeeded")
    for number, one in enumerate(said, 1):
        parts = [{"type": "text", "text": one}] if isinstance(one, str) else one
        Message.objects.create(
            conversation_id=run.conversation_id,
            run=run,
            position=number,
            role="assistant",
            parts=parts,
        )
    return run


def found(user, said):
    return [item["title"] for item in list_conversations(user, Wish(said=said)).items]


def marked(pieces):
    return "".join(f"[{one.text}]" if one.is_hit else one.text for one in pieces)


class TestFound:
    def test_found_by_title_and_by_what_was_said(self, people):
        answered(people["ada"], "Orders", "There are twelve of March.")
        answered(people["ada"], "March past", "Nothing.")

        assert sorted(found(people["ada"], "march")) == ["March past", "Orders"]

    @pytest.mark.parametrize("said", ["twelve march", "MARCH  Twelve", "of\tmarch"])
    def test_all_words_must_occur(self, people, said):
        answered(people["ada"], "Orders", "There are twelve of March.")
        answered(people["ada"], "Bills", "There are twelve of May.")

        assert found(people["ada"], said) == ["Orders"]

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("Straße nach Zürich", "ZÜRICH"),
            ("ЗАКАЗЫ МАРТА", "заказы"),
            ("三月の注文です", "注文"),
            ("a 100% sure_thing", "100%"),
            ('he said "quoted"', '"quoted"'),
            ("back\\slash and 'tick'", "back\\slash 'tick'"),
        ],
    )
    def test_found_in_every_script(self, people, text, said):
        answered(people["ada"], "Matter", text)
        answered(people["ada"], "Other", "nothing alike")

        assert found(people["ada"], said) == ["Matter"]

    @pytest.mark.parametrize("said", ["%", "_", "type", "text", "call_id", "reasoning"])
    def test_found_finds_nothing_in_what_was_not_said(self, people, said):
        parts = [
            {"type": "reasoning", "text": "secret thought"},
            {"type": "text", "text": "Done."},
            {"type": "call", "call_id": "0b8e7a30-0000-4000-8000-000000000000"},
        ]
        answered(people["ada"], "Matter", parts)

        assert found(people["ada"], said) == []
        assert found(people["ada"], "thought") == []

    def test_only_the_own_ones(self, people):
        answered(people["bob"], "Bob's secret", "of March")

        assert found(people["ada"], "march") == []

    def test_found_leads_to_the_message(self, people):
        run = answered(people["ada"], "Orders", "Twelve.", "Of March.")

        (item,) = list_conversations(people["ada"], Wish(said="march")).items

        assert marked(item["hit"]) == "Of [March]."
        assert item["url"].endswith(f"&at={run.pk}#r-{run.pk}")

    def test_found_leads_to_the_question(self, people):
        run = answered(people["ada"], "Orders of March", "Twelve.")
        message = run.messages.get(role="user")

        (item,) = list_conversations(people["ada"], Wish(said="march")).items

        assert item["url"].endswith(f"#u-{message.pk}")

    def test_found_comes_in_parts(self, people):
        for number in range(LISTED + 2):
            Conversation.objects.create(owner=people["ada"], title=f"March {number}")

        first = list_conversations(people["ada"], Wish(said="march"))
        rest = list_conversations(people["ada"], Wish(said="march", start=first.more))

        assert (len(first.items), len(rest.items), rest.more) == (LISTED, 2, 0)


class TestBadInput:
    @pytest.mark.parametrize(
        "said", ["x" * 10_000, "\0", "\ud800", "(" * 300, "a " * 5000, "[", "\\"]
    )
    def test_bad_input_is_harmless(self, people, browser, said):
        answered(people["ada"], "Matter", "Done.")
        client = browser("ada")
        shown = said.encode("utf-8", "replace").decode()

        address = reverse("ai_assistant:conversations")
        response = client.get(address, {"q": shown}, headers=SCRIPT)

        assert response.status_code == 200
        assert found(people["ada"], said) in ([], ["Matter"])

    @pytest.mark.parametrize("said", ["-1", "1e9", "99999999999", "x", "٣"])
    def test_nonsense_as_a_place_is_the_beginning(self, people, browser, said):
        answered(people["ada"], "Matter")

        address = reverse("ai_assistant:conversations")
        page = browser("ada").get(address, {"from": said})

        assert "Matter" in page.content.decode()

    @pytest.mark.servers
    def test_naughty_strings_are_found_and_inert(self, people, browser):
        answered(people["ada"], "Matter", "Done.")
        client, address = browser("ada"), reverse("ai_assistant:conversations")
        for said in corpus("BLNS")[::5]:
            plain = said.replace("\0", "")
            Message.objects.filter(role="assistant").update(
                parts=[{"type": "text", "text": plain}]
            )
            html = client.get(address, {"q": plain}, headers=SCRIPT).content.decode()
            assert "<script" not in html
            words = search_words(plain)
            if words and " ".join(words) in " ".join(plain.split()):
                assert "Matter" in html, plain


class TestExcerpt:
    def test_excerpt_marks_each_word(self):
        assert marked(excerpt("One two three", ("one", "THREE"))) == "[One] two [three]"

    def test_excerpt_cuts_around_the_first(self):
        text = f"{'before ' * 50}here {'after ' * 50}"

        shown = marked(excerpt(text, ("here",)))

        assert shown.startswith("…before ")
        assert "[here]" in shown
        assert shown.endswith("…")
        assert len(shown) < 220

    def test_excerpt_cuts_no_word(self):
        text = f"Three drafts could be ready. Title Questions {'after12 ' * 50}"

        shown = marked(excerpt(text, ("questions",)))

        assert shown.startswith("Three drafts could be ready. Title [Questions] ")
        assert shown.endswith(" after12…")

    def test_excerpt_cuts_where_there_are_no_spaces(self):
        shown = marked(excerpt(f"{'前' * 90}膝{'後' * 300}", ("膝",)))

        assert shown == f"…{'前' * 40}[膝]{'後' * 119}…"

    def test_excerpt_without_a_hit_is_the_beginning(self):
        assert marked(excerpt("One two", ("x",))) == "One two"

    def test_excerpt_of_markdown_is_its_words(self):
        text = "## Drafts\n\n| Id | Title |\n|---:|:---|\n| 4 | **Knee** |\n\n> `done`"

        shown = marked(excerpt(without_signs(text), ("knee",)))

        assert shown == "Drafts Id Title 4 [Knee] done"

    def test_sign_within_a_sentence_leaves_no_blank(self):
        text = "Three are **long**. See `done`, then |a|b|."

        assert without_signs(text).split(" ")[2:5] == ["long.", "See", "done,"]


class TestCost:
    @pytest.mark.broad
    def test_cost_of_many_messages(self, people, record_property):
        """500 conversations of 20 messages: the worst case is a word that none has."""
        user = people["ada"]
        rows = Conversation.objects.bulk_create(
            Conversation(owner=user, title=f"Matter {n}") for n in range(500)
        )
        runs = Run.objects.bulk_create(
            Run(
                conversation=row,
                user=user,
                idempotency_key=str(row.pk)[:60],
                state="succeeded",
            )
            for row in rows
        )
        text = "The orders of the month were twelve, of which three are open. " * 8
        Message.objects.bulk_create(
            Message(
                conversation=run.conversation,
                run=run,
                position=position,
                role="assistant",
                parts=[{"type": "text", "text": f"{text} {number} {position}"}],
            )
            for number, run in enumerate(runs)
            for position in range(20)
        )
        for said in ("nowhere", "ñandú", "499 19"):
            begin = time.perf_counter()
            items = list_conversations(user, Wish(said=said)).items
            took_ms = (time.perf_counter() - begin) * 1000
            record_property(
                FIGURE, f"search of 10,000 messages for {said}: {took_ms:.0f} ms"
            )
            assert len(items) == (1 if said == "499 19" else 0)
