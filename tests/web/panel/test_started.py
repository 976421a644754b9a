"""What code of the site has started shows to its person, on whatever page they are."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

import ai_assistant
from ai_assistant.engine.queries import code_starts
from ai_assistant.models import Conversation, Message, Run
from tests.web.conftest import ask

pytestmark = pytest.mark.row("P05")
PAGE = "/admin/password_change/"


@pytest.fixture(autouse=True)
def _quiet(quiet):
    """Let what is queued stay queued."""


@pytest.fixture
def started(people):
    """Start a run for somebody: `started("ada", state="waiting_approval")`."""

    def make(name, *, state="queued", text="Check the stock"):
        begun = ai_assistant.start(user=people[name], text=text)
        ended = timezone.now() if state == "succeeded" else None
        Run.objects.filter(pk=begun.run_id).update(state=state, finished_at=ended)
        Conversation.objects.filter(pk=begun.conversation_id).update(
            updated_at=timezone.now()
        )
        return begun

    return make


def root(client, **cookies):
    """Return the panel's root of a page, as text."""
    client.cookies["aia_ui"] = "&".join(
        f"{key}={value}" for key, value in cookies.items()
    )
    html = client.get(PAGE).content.decode()
    return html[html.index('<aside id="aia"') :].partition(">")[0]


class TestLauncher:
    @pytest.mark.parametrize(
        ("state", "busy"),
        [("queued", "run"), ("waiting_approval", "wait"), ("waiting_answer", "wait")],
    )
    def test_it_leads_to_an_unfinished_run(self, browser, started, state, busy):
        begun = started("ada", state=state)

        shown = root(browser("ada"))

        assert f'data-busy="{busy}"' in shown
        assert f'data-conversation="{begun.conversation_id}"' in shown

    def test_one_that_waits_for_the_person_comes_first(self, browser, started):
        started("ada")
        waits = started("ada", state="waiting_approval")

        assert f'data-conversation="{waits.conversation_id}"' in root(browser("ada"))

    def test_what_the_person_has_under_way_comes_first(self, browser, started, people):
        own = ask(people["ada"], "Hello")
        started("ada", state="waiting_approval")

        shown = root(browser("ada"), o=0, b=1, c=own.conversation_id)

        assert f'data-conversation="{own.conversation_id}"' in shown

    def test_answer_that_nobody_has_read_is_counted(self, browser, started):
        started("ada", state="succeeded")

        shown = root(browser("ada"))

        assert 'data-unread="1"' in shown
        assert "data-busy" not in shown

    @pytest.mark.parametrize("name", ["bob", "viewer"])
    def test_another_person_sees_nothing_of_it(self, browser, started, name):
        begun = started("ada", state="waiting_approval")

        shown = root(browser(name))

        assert "data-busy" not in shown
        assert str(begun.conversation_id) not in shown

    def test_deleted_conversation_shows_nothing(self, browser, started):
        started("ada", state="waiting_approval")
        Conversation.objects.update(deleted_at=timezone.now())

        assert "data-busy" not in root(browser("ada"))


class TestOpenPanel:
    def open(self, browser, conversation=""):
        client = browser("ada")
        client.cookies["aia_ui"] = f"o=1&c={conversation}"
        return client.get(PAGE).content.decode()

    def test_it_names_what_waits_in_another_conversation(self, browser, started):
        begun = started("ada", state="waiting_approval")

        page = self.open(browser)

        assert "“<bdi>Check the stock</bdi>” waits for you." in page
        assert f'data-aia-conversation="{begun.conversation_id}"' in page
        assert f'href="{reverse("ai_assistant:full")}?conversation=' in page

    def test_it_names_what_is_under_way(self, browser, started):
        started("ada")

        assert "“<bdi>Check the stock</bdi>” is under way." in self.open(browser)

    def test_title_is_escaped(self, browser, started):
        started("ada", text="<b>x</b>")

        page = self.open(browser)

        assert "“<bdi>&lt;b&gt;x&lt;/b&gt;</bdi>” is under way." in page

    def test_its_own_conversation_is_no_other(self, browser, started):
        begun = started("ada", state="waiting_approval")

        page = self.open(browser, begun.conversation_id)

        assert "waits for you." not in page
        assert "Sent by code of this site" in page

    def test_message_says_who_has_sent_it(self, browser, started):
        begun = started("ada")

        page = self.open(browser, begun.conversation_id)

        assert "Code of this site" in page
        assert "Save as command" not in page

    def test_message_of_code_is_no_command_of_ones_own(self, browser, started):
        begun = started("ada")
        address = reverse("ai_assistant:commands")

        refused = browser("ada").get(address, {"run": str(begun.run_id)})

        assert refused.status_code == 404

    def test_queued_one_is_not_edited_into_ones_own(self, browser, started, people):
        own = ask(people["ada"], "Hello")
        named = {"user": people["ada"], "conversation": own.conversation_id}
        queued = ai_assistant.start(text="Look too", **named)

        page = self.open(browser, own.conversation_id)

        assert f'id="q-{queued.run_id}-drop"' in page
        assert f'id="q-{queued.run_id}-edit"' not in page

    def test_export_says_who_has_sent_it(self, browser, started):
        begun = started("ada")
        address = reverse("ai_assistant:export")
        named = {"conversation": str(begun.conversation_id), "as": "markdown"}

        text = browser("ada").get(address, named).content.decode()

        assert "## Code of this site," in text


class TestCost:
    def queries(self, client):
        with CaptureQueriesContext(connection) as captured:
            client.get(PAGE)
        return len(captured)

    def test_page_of_a_site_that_starts_none_asks_nothing(self, browser, people):
        client = browser("ada")
        client.get(PAGE)
        code_starts.forget()
        first = self.queries(client)

        assert self.queries(client) == first - 1

    def test_page_of_one_that_does_asks_twice(self, browser, people, started):
        client = browser("ada")
        client.get(PAGE)
        before = self.queries(client)
        started("bob")
        code_starts.forget()
        client.get(PAGE)

        assert self.queries(client) <= before + 2
        assert Message.objects.count() == 1
