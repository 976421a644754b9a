"""The offline model helps, searches, counts and changes on models it has never heard of."""

import asyncio

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission

from ai_assistant.management.doctor_parts import known_of_model
from ai_assistant.providers.base import provider_for
from ai_assistant.providers.offline.answers import help_for
from ai_assistant.providers.offline.messages import Call, Outcome
from ai_assistant.providers.offline.page import Page
from ai_assistant.providers.offline.wishes import HELP, NEEDED, RULES
from ai_assistant.providers.readiness import missing_of, try_model
from ai_assistant.testing import answer_interrupt, run_assistant
from ai_assistant.types import ModelRequest, TextDelta
from tests.library.models import Author, Book, Tag

PROFILE = {"PROVIDER": "offline", "MODEL": "offline", "DELAY_S": 0}

pytestmark = pytest.mark.row("V02")


@pytest.fixture
def say(db, settings, admin_user):
    """Say something on a site whose profile names the offline model."""
    profiles = {"default": PROFILE}
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "PROFILES": profiles}
    ada = Author.objects.create(name="Ada Lovelace")
    for title in ("Notes", "Notes on notes", "Poems"):
        Book.objects.create(title=title, author=ada, pages=10)

    def send(text, *, user=admin_user, path="/admin/", **options):
        provider = provider_for(PROFILE)
        return run_assistant(user, path, text, provider=provider, **options)

    return send


@pytest.mark.parametrize(
    ("wish", "answer"),
    [
        ("How many books are there?", "There are **3** books."),
        ("please count authors", "There is **1** author."),
        ("count the books by status", "| Status | Count |\n| --- | --- |\n| New | 3 |"),
        (
            "search books for poems",
            "1:\n\n| Id | Name |\n| --- | --- |\n| {id} | Poems |",
        ),
        ("list dragons", "I find no “dragons” that you may see."),
        ("hello", "I am the **offline model**"),
        ("write a poem", "None of my rules fits `write a poem`"),
    ],
)
def test_answers_are_about_the_rows_of_the_site(say, wish, answer):
    poems = Book.objects.get(title="Poems").pk

    assert answer.format(id=poems) in say(wish).text


class TestChange:
    def test_change_happens_once_approved(self, say):
        asked = say("change title of book poems to Odes")
        assert Book.objects.filter(title="Poems").exists()

        played = answer_interrupt(asked, "approve")

        assert Book.objects.filter(title="Odes").exists()
        assert played.text == "Changed: “Odes”."
        undone = say("Undo", conversation_id=played.run.conversation_id)
        answer_interrupt(undone, "approve")
        assert Book.objects.filter(title="Poems").exists()

    def test_by_number_of_a_model_of_two_words(self, say):
        tag = Tag.objects.create(name="old")

        answer_interrupt(say(f"change name of tag #{tag.pk} to new"), "approve")

        tag.refresh_from_db()
        assert tag.name == "new"

    def test_whole_title_wins_and_part_of_two_is_asked_for(self, say):
        assert say("change title of book notes to X").state == "waiting_approval"

        assert "may mean any of these" in say("change title of book not to X").text

    def test_what_is_no_model_is_said(self, say):
        assert (
            "I find nothing called “dragon 3”"
            in say("change age of dragon 3 to 4").text
        )

    def test_acts_with_the_permissions_of_the_user_alone(self, say):
        user = get_user_model().objects.create_user("vera", is_staff=True)
        names = ("view_assistant", "use_assistant", "view_book")
        user.user_permissions.set(Permission.objects.filter(codename__in=names))

        refused = say("change title of book poems to Odes", user=user)

        assert refused.state == "succeeded"
        assert not refused.interrupts
        assert "I find no “authors”" in say("list authors", user=user).text


def test_help_leaves_out_what_the_tools_do_not_allow():
    told = help_for(HELP, NEEDED, {"list_models", "aggregate_objects"})

    assert "`how many users`" in told
    assert "`search" not in told
    assert "`change" not in told
    assert all(f"| `{begin}" in HELP for begin in NEEDED)


async def test_save_and_test_finds_it_ready(settings):
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "PROFILES": {"default": PROFILE}}

    trial = await try_model(PROFILE)

    assert missing_of("default") == ""
    assert (trial.ok, trial.text, trial.warning) == (True, "OK", "")
    assert known_of_model(PROFILE) == "no model: rules answer, and cost nothing"


async def test_first_word_comes_at_once():
    provider = provider_for({**PROFILE, "DELAY_S": 600})
    asked = [{"role": "user", "content": "help"}]

    async with asyncio.timeout(20):
        chunk = await anext(provider.stream(ModelRequest(model="", messages=asked)))

    assert isinstance(chunk, TextDelta)


class TestTour:
    WISH = "How do I add a book?"

    def led(self, *done):
        return RULES.reply(self.WISH, [*done], Page())

    def found(self, *names):
        pages = [{"title": name, "view_name": name} for name in names]
        call = Call(name="find_pages", arguments={})
        return Outcome(call=call, ok=True, data={"pages": pages})

    def test_tour_leads_from_the_list_to_the_form(self):
        assert self.led().call.arguments == {"text": "add book"}

        tour = self.led(self.found("admin:library_book_add")).call

        assert [step.get("view_name") for step in tour.arguments["steps"]] == [
            *("admin:library_book_changelist", "admin:library_book_add", None)
        ]

    def test_tour_is_not_begun_where_nothing_may_be_added(self):
        told = self.led(self.found("admin:library_book_changelist"))

        assert told.call is None
        assert "no page on which you may add a “book”" in told.text
