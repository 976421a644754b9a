"""What a person is told who has reached a limit, and what is kept."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse
from django.utils import timezone

from ai_assistant import conf
from ai_assistant.models import Run, UsageLedger
from ai_assistant.render.html.fragments import fragment
from ai_assistant.render.html.transcript.entries import run_entry
from tests.render.html.tab import panel
from tests.web.conftest import ask
from tests.web.markup import one_with
from tests.web.panel.test_send import count, form, send

pytestmark = pytest.mark.usefixtures("quiet")


@pytest.fixture
def options(settings):
    def change(**changed):
        settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, changed)

    return change


@pytest.mark.row("U04")
@pytest.mark.row("X07")
class TestRefusedMessage:
    def test_refused_message_is_told_to_a_script_with_its_time(self, browser, options):
        options(RATES={"USER": "1/h"})
        client = browser("ada")
        send(client, form(), script=True)
        before = count()

        response = send(client, form(text="My draft"), script=True)

        assert response.status_code == 429
        assert 3590 <= int(response["Retry-After"]) <= 3600
        said = response.content.decode()
        assert "You have sent many messages in a short time. Again " in said
        assert "<html" not in said
        assert count() == before  # the draft stays in the composer

    def test_refused_message_is_told_on_a_page_without_a_script(self, browser, options):
        options(RATES={"USER": "1/m"})
        client = browser("ada")
        send(client, form())

        response = send(client, form())

        assert response.status_code == 429
        assert 1 <= int(response["Retry-After"]) <= 60
        assert "You have sent many messages" in response.content.decode()

    def test_refused_message_of_a_budget(self, browser, options, people):
        options(BUDGETS=[{"scope": "user", "window": "day", "tokens": 9_000}])
        UsageLedger.objects.create(user=people["ada"], tokens=9_000, state="settled")

        response = send(browser("ada"), form(), script=True)

        assert response.status_code == 429
        assert "Your budget of 9,000 tokens a day is used up." in (
            response.content.decode()
        )
        assert int(response["Retry-After"]) <= 86_400

    def test_refused_message_without_a_time_if_waiting_is_no_use(
        self, browser, options
    ):
        options(BUDGETS=[{"scope": "user", "window": "day", "tokens": 9}])

        response = send(browser("ada"), form(), script=True)

        assert response.status_code == 429
        assert "Retry-After" not in response
        said = response.content.decode()
        assert "The budget of 9 tokens is too small for one request" in said

    def test_refused_message_of_another_try(self, browser, options, people):
        run = ask(people["ada"])
        Run.objects.filter(pk=run.pk).update(state="failed", finished_at=timezone.now())
        options(RATES={"USER": "1/h"})

        response = browser("ada").post(
            reverse("ai_assistant:retry"),
            {"run": run.pk, "key": "k"},
            headers={"HX-Request": "true"},
        )

        assert response.status_code == 429


@pytest.mark.row("U04")
@pytest.mark.row("N09")
class TestRunEnd:
    @pytest.fixture
    def drawn(self, people):
        """Draw the end of a run that a budget has ended; `opens_in` seconds."""

        def draw(opens_in, **changes):
            run = ask(people["ada"], "My question")
            run.state, run.error_code = "limited", "budget"
            run.error_text = "Your budget is used up."
            run.opens_at = timezone.now() + timedelta(seconds=opens_in)
            for name, value in changes.items():
                setattr(run, name, value)
            run.save()
            return fragment("run_end", entry=run_entry(run, [], {}), panel=panel())

        return draw

    def test_run_end_says_when_it_opens(self, drawn):
        html = drawn(100_000)

        assert "Your budget is used up. <time" in html
        assert "Again on " in html
        assert one_with(html, class_="aia-error")["data-code"] == "budget"

    def test_run_end_says_that_it_is_over(self, drawn):
        assert "This limit no longer applies." in drawn(-1)

    def test_one_click_sends_the_question_again(self, drawn):
        assert one_with(drawn(60), name="how")["value"] == "retry"

    def test_other_limits_go_on(self, drawn):
        html = drawn(60, error_code="limit_steps", opens_at=None)

        assert one_with(html, name="how")["value"] == "continue"
        assert "<time" not in html

    def test_panel_is_limited(self, drawn, browser):
        drawn(60)
        run = Run.objects.get()
        client = browser("ada")

        page = client.get(
            reverse("ai_assistant:page"), {"conversation": run.conversation_id}
        )

        assert 'data-state="limited"' in page.content.decode()


@pytest.mark.row("U07")
class TestUsage:
    def page(self, client, run):
        values = {"conversation": run.conversation_id}
        return client.get(reverse("ai_assistant:page"), values).content.decode()

    def used(self, user, **fields):
        run = ask(user)
        UsageLedger.objects.create(run=run, user=user, state="settled", **fields)
        return run

    def test_usage_is_not_shown_to_everybody(self, browser, people):
        run = self.used(people["ada"], tokens=1234)

        assert "aia-usage" not in self.page(browser("ada"), run)

    @pytest.mark.parametrize(
        ("fields", "line"),
        [
            ({"tokens": 1234, "cost_usd": "0.5"}, "1,234 tokens, 0.5000 US dollars"),
            ({"tokens": 1234}, "1,234 tokens"),
        ],
    )
    def test_usage_is_shown_with_the_permission(self, browser, people, fields, line):
        run = self.used(people["ada"], **fields)
        people["ada"].user_permissions.add(
            Permission.objects.get(codename="view_usage")
        )

        html = self.page(browser("ada"), run)

        assert f"This conversation: {line}</p>" in html
        menu, _, rest = html.partition("</details>")  # the first fold is the menu
        assert f"{line}</p>" in menu
        assert 'id="aia-settings"' in menu
        assert "This conversation:" not in rest
