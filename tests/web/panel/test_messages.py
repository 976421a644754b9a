"""One answer taken along, and what it was made of."""

import re

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from ai_assistant.engine.accounting.prompts import record_prompt, shown
from ai_assistant.engine.intake.retries import again_submission
from ai_assistant.engine.intake.submission import accept
from ai_assistant.models import Conversation, Grant, Run, Step, ToolCall
from ai_assistant.prompts.tree import Prompt, PromptPart
from ai_assistant.safety.identity.session import SessionStamp
from tests.render.html.story import Story

SECRET = "sk-" + "a1B2c3D4" * 3


@pytest.fixture
def story(people):
    story = Story(people["ada"])
    story.ask("Look it up")
    story.think("Hm, first a look.")
    story.say("I look.")
    story._reply(("echo",))
    story.work("seen it")
    story.say("| a | b |\n|---|---|\n| 1 | **2** |")
    story.succeed()
    Conversation.objects.update(title="Drafts: what is ready?")
    return story


@pytest.fixture
def get(browser, story):
    def fetch(route, name="ada", **query):
        query.setdefault("run", str(story.run.pk))
        return browser(name).get(reverse(f"ai_assistant:{route}"), query)

    return fetch


class TestMessage:
    def test_message_is_the_markdown_that_was_written(self, get):
        response = get("message")

        assert response["Content-Type"] == "text/markdown; charset=utf-8"
        assert response.text == "I look.\n\n| a | b |\n|---|---|\n| 1 | **2** |"
        assert "Content-Disposition" not in response

    def test_message_is_saved_under_the_title(self, get):
        response = get("message", **{"as": "file"})

        name = 'attachment; filename="drafts-what-is-ready.md"'
        assert response["Content-Disposition"] == name
        assert response.text.endswith("**2** |\n")

    @pytest.mark.parametrize("title", ["", "!!!", "\u65e5\u672c"])
    def test_message_has_a_name_whatever_the_title(self, get, title):
        Conversation.objects.update(title=title)

        response = get("message", **{"as": "file"})

        assert response["Content-Disposition"] == 'attachment; filename="answer.md"'

    @pytest.mark.parametrize("name", ["bob", "viewer"])
    def test_message_is_for_its_own_person(self, get, name):
        assert get("message", name).status_code == 404

    def test_message_of_a_deleted_conversation_is_gone(self, get):
        from django.utils import timezone

        Conversation.objects.update(deleted_at=timezone.now())

        assert get("message").status_code == 404

    def test_message_that_was_cut_and_went_on_is_whole(self, get, story):
        story.ask("Count")
        story.say("One, two")
        story.stop_at_work()
        sent = again_submission(story.user.pk, story.run.pk, "k", SessionStamp())
        story._begin(accept(sent, owner="process-x").hold)
        story.say("three.")
        story.succeed()

        assert get("message", run=str(story.run.pk)).text == "One, two\n\nthree."

    def test_message_of_nonsense_says_so(self, get):
        assert get("message", run="nonsense").status_code == 400


class TestRaw:
    @pytest.fixture
    def root(self, people):
        people["ada"].is_superuser = True
        people["ada"].save()

    def test_raw_tells_prompt_tools_timings_and_usage(self, get, root):
        text = get("raw").text

        for said in (
            "Look it up",
            "Hm, first a look.",
            "echo",
            "scripted",
            "RUN_STARTED",
        ):
            assert said in text
        assert "&lt;/pre&gt;&lt;script&gt;" in text  # of the result, escaped
        assert "</pre><script>" not in text

    def test_raw_keeps_secrets(self, get, root, story):
        Run.objects.update(
            session_digest=SECRET, session_sealed=SECRET, password_digest=SECRET
        )
        ToolCall.objects.update(
            result_text=f'{{"key": "{SECRET}"}}', provider_fields={"x": SECRET}
        )

        assert SECRET not in get("raw").text

    def test_raw_is_for_superusers(self, get):
        assert get("raw").status_code == 403

    def test_raw_of_another_person_is_not_found(self, get, people):
        people["bob"].is_superuser = True
        people["bob"].save()

        assert get("raw", "bob").status_code == 404


@pytest.mark.row("B02")
class TestPrompt:
    @pytest.fixture
    def root(self, people):
        people["ada"].is_superuser = True
        people["ada"].save()

    @pytest.fixture
    def stored(self, story):
        part = PromptPart(id="setting", text="<b>Be kind.", source="setting")
        prompt = Prompt(parts=(part,), left_out=("instruction:long",))
        step = Step.objects.get(run=story.run, index=0)
        tools = [{"type": "function", "function": {"name": "echo"}}]
        step.prompt = record_prompt(story.run, shown(prompt, tools))
        step.save()

    def test_raw_shows_the_prompt_of_a_step(self, get, root, stored):
        text = get("raw").text

        for said in (
            "<strong>setting</strong> by setting, 3 tokens",
            "&lt;b&gt;Be kind.",
            "instruction:long",
        ):
            assert said in text
        assert "<b>Be kind." not in text

    def test_next_prompt_of_a_page_with_nothing_sent(self, get, root):
        before = Run.objects.count()
        response = get("prompt", path="/admin/auth/group/")

        for said in (
            "identity",
            "module:admin-list",
            "/admin/auth/group/",
            "search_objects",
        ):
            assert said in response.text
        assert Run.objects.count() == before

    def test_next_prompt_of_no_page(self, get, root):
        response = get("prompt", path="https://evil.example/")

        assert response.status_code == 200
        assert "evil.example" not in response.text

    def test_prompt_is_for_superusers(self, get):
        assert get("prompt", path="/admin/").status_code == 403


class TestWholeCall:
    def test_whole_call_shows_all_of_a_long_result(self, get, story):
        call = ToolCall.objects.get()
        result = {"ok": True, "data": {"rows": [f"row {n}" for n in range(3000)]}}
        ToolCall.objects.update(result=result)

        text = get("whole", call=str(call.pk), side="result").text

        assert "row 0" in text
        assert "Part 1 of 3" in text
        assert "row 2999" in get("whole", call=str(call.pk), side="result", part=3).text

    def test_whole_call_shows_what_was_asked_for(self, get):
        call = ToolCall.objects.get()

        text = get("whole", call=str(call.pk), side="arguments").text

        assert "&lt;b&gt;read&lt;/b&gt;" in text

    def test_whole_call_is_for_its_own_person(self, get):
        call = ToolCall.objects.get()

        assert get("whole", "bob", call=str(call.pk), side="result").status_code == 404


class TestTable:
    GROUPS = (("Night shift", 3), ("=SUM(A1)", None), ("day shift", 12))

    @pytest.fixture
    def call(self, story):
        rows = [
            {"id": n, "text": name, "fields": {"beds": beds}}
            for n, (name, beds) in enumerate(self.GROUPS, start=1)
        ]
        more = [{"id": n, "text": f"ward {n}", "fields": {}} for n in range(4, 15)]
        data = {"model": "auth.group", "total": 14, "rows": [*rows, *more]}
        asked = {
            "model": "auth.group",
            "search": "shift",
            "filters": {"id__in": [1, 3]},
        }
        ToolCall.objects.update(
            name="search_objects",
            label="Search",
            arguments=asked,
            result={"ok": True, "data": data},
        )
        return str(ToolCall.objects.get().pk)

    def rows(self, response) -> list[str]:
        text = response.text
        return re.findall(r"<tr><td><bdi>(?:<a [^>]*>)?([^<]+)", text)

    def test_table_is_ordered_and_paged(self, get, call):
        by_beds = self.rows(get("table", call=call, order="1"))
        assert by_beds[:3] == ["Night shift", "day shift", "=SUM(A1)"]
        down = get("table", call=call, order="-0")
        assert self.rows(down)[0] == "ward 9"
        assert 'aria-sort="descending"' in down.text

        last = get("table", call=call, order="0", first=10)
        assert len(self.rows(last)) == 4
        assert "11 to 14 of 14" in last.text

        assert get("table", call=call, first=14).status_code == 404
        assert get("table", "bob", call=call).status_code == 404

    def test_table_is_a_file_without_formulas(self, get, call):
        response = get("table", call=call, **{"as": "csv"})

        lines = response.content.decode("utf-8-sig").splitlines()
        assert lines[:3] == ["Group,Beds", "Night shift,3", "'=SUM(A1),"]
        assert len(lines) == 15
        assert response["Content-Disposition"].endswith('.csv"')

    def test_list_of_the_admin_has_the_same_search_and_filters(self, get, call, people):
        assert "No list of this site" in get("table", call=call, **{"as": "list"}).text
        view = Permission.objects.get(codename="view_group")
        people["ada"].user_permissions.add(view)

        response = get("table", call=call, **{"as": "list"})

        assert response.url == "/admin/auth/group/?id__in=1%2C3&q=shift"
        ToolCall.objects.update(
            arguments={"model": "auth.group", "filters": {"user__password": "x"}}
        )
        assert get("table", call=call, **{"as": "list"}).status_code == 400


def test_what_is_allowed_without_asking_is_shown_and_taken_back(story, browser, people):
    url = reverse("ai_assistant:grants")
    Run.objects.update(state="waiting_approval")
    named = {"tool": "change_object", "model": "auth.group"}
    grant = Grant.objects.create(run=story.run, user=people["ada"], **named)
    script = {"headers": {"HX-Request": "true"}}

    assert "Change object</b> (groups)" in browser("ada").get(url, **script).text
    assert "groups" not in browser("bob").post(url, {"grant": grant.pk}, **script).text
    assert "Nothing." in browser("ada").post(url, {"grant": grant.pk}, **script).text
    assert not Grant.objects.exists()
