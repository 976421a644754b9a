"""What the panel shows of a command, and asks for what it lacks."""

import html
import json
import re

import pytest
from django.contrib.auth.models import Group
from django.urls import reverse
from django.utils.html import strip_tags

import ai_assistant
from ai_assistant.models import Conversation, Message
from ai_assistant.models import configuration as rows
from ai_assistant.registry import registry
from tests.web.conftest import ask
from tests.web.panel.test_send import SCRIPT, form, send

pytestmark = pytest.mark.usefixtures("quiet")


@pytest.fixture(autouse=True)
def commands():
    with registry.restored():

        @ai_assistant.prompt_command("sales-report")
        def sales_report(period: str) -> str:
            """Sum up the orders of a period."""
            return f"Sum up the orders of <b>{period}</b>."

        yield


def told_by(client, text):
    """Return what a command answers, as plain words."""
    response = send(client, form(text=text), script=True)
    return " ".join(html.unescape(strip_tags(response.content.decode())).split())


def panel(client, conversation):
    url = reverse("ai_assistant:page")
    return client.get(url, {"conversation": conversation, "path": "/admin/"})


@pytest.mark.row("P08")
class TestTranscript:
    def test_line_is_shown_with_what_was_sent(self, browser):
        client, fields = browser("ada"), form(text="/sales-report May")

        assert send(client, fields, script=True).status_code == 204

        assert Message.objects.get().text == "Sum up the orders of <b>May</b>."
        shown = panel(client, fields["conversation"]).content.decode()
        assert '<code class="aia-command">/sales-report</code> May' in shown
        assert "Sum up the orders of &lt;b&gt;May&lt;/b&gt;." in shown

    @pytest.mark.row("P04")
    def test_unknown_one_says_so_with_near_names(self, browser):
        client, fields = browser("ada"), form(text="/sales-reports")

        send(client, fields)

        shown = panel(client, fields["conversation"]).content.decode()
        assert "There is no command “<bdi>/sales-reports</bdi>” here" in shown
        assert '<code dir="ltr">/sales-report</code>' in shown


class TestArguments:
    """What a command lacks is asked for; nothing is stored until it is there."""

    def test_form_for_a_script_stands_in_the_composer(self, browser):
        response = send(browser("ada"), form(text="/sales-report"), script=True)

        assert response.status_code == 200
        shown = response.content.decode()
        assert 'id="aia-arguments"' in shown
        assert 'name="argument-period"' in shown
        assert "The command “<bdi>/sales-report</bdi>” needs: Period." in shown
        assert not Message.objects.exists()

    def test_field_is_taken_with_the_same_text(self, browser):
        given = {"argument_of": "sales-report", "argument-period": "May"}

        send(browser("ada"), form(text="/sales-report", **given), script=True)

        assert Message.objects.get().text == "Sum up the orders of <b>May</b>."

    def test_field_that_is_no_text_is_refused(self, browser):
        given = {"argument_of": "sales-report", "argument-period": "a\x00b"}

        response = send(
            browser("ada"), form(text="/sales-report", **given), script=True
        )

        assert b"contains characters that are not text" in response.content
        assert not Message.objects.exists()

    def test_field_of_another_command_is_not(self, browser):
        given = {"argument_of": "other", "argument-period": "May"}

        send(browser("ada"), form(text="/sales-report", **given), script=True)

        assert not Message.objects.exists()

    def test_page_without_a_script_keeps_the_text(self, browser):
        client, fields = browser("ada"), form(text="/sales-report")

        response = send(client, fields)

        assert response.status_code == 400
        shown = response.content.decode()
        assert '<input type="hidden" name="text" value="/sales-report">' in shown
        assert f'name="conversation" value="{fields["conversation"]}"' in shown
        assert 'name="argument-period"' in shown


@pytest.mark.row("P06")
class TestAnswer:
    def test_help_lists_commands_and_stores_nothing(self, browser):
        response = send(browser("ada"), form(text="/help"), script=True)

        assert response.status_code == 202
        shown = response.content.decode()
        assert "Sum up the orders of a period." in shown
        assert "/sales-report &lt;period&gt;" in shown
        assert not Conversation.objects.exists()

    def test_page_without_a_script(self, browser):
        response = send(browser("ada"), form(text="/help"))

        assert response.status_code == 200
        assert b"Sum up the orders of a period." in response.content

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("/tools", "Search"),
            ("/context", "The start page of the administration."),
            ("/model", "/model default"),
            ("/model nothing", "There is no model “nothing”"),
            ("/skill", "no procedures"),
            ("/undo", "Nothing was changed"),
            ("/export", "Save as Markdown"),
            ("/new", 'data-does="new"'),
            ("/clear", 'data-does="new"'),
            ("/model default", 'data-value="default"'),
        ],
    )
    def test_built_in_ones_answer(self, browser, text, said):
        response = send(browser("ada"), form(text=text), script=True)

        assert response.status_code == 202
        assert said in html.unescape(response.content.decode())

    @pytest.mark.row("C11")
    def test_tools_says_what_was_taught_and_to_superusers_by_whom(
        self, browser, people
    ):
        people["bob"].is_superuser = True
        people["bob"].save()
        rows.Skill.objects.create(name="refund", description="Money back.", body="b")
        rows.Instruction.objects.create(name="calm", text="x", language="en")
        rows.Instruction.objects.create(name="far-off", text="x", model="shop.order")
        with registry.restored():
            ai_assistant.hook("after_tool", name="tell", tools="delete_*")(print)
            ada, bob = (told_by(browser(name), "/tools") for name in ("ada", "bob"))

        assert ["refund (row): Money back." in told for told in (ada, bob)] == [
            True
        ] * 2
        of_owner = ["calm (row, language en)", "tell (", "after_tool: tools delete_*"]
        assert [one in bob for one in of_owner] == [True] * 3
        assert [one in ada for one in of_owner] == [False] * 3
        assert "far-off" not in bob

    def test_context_leaves_out_what_the_person_has_taken_back(self, browser):
        client, said = browser("ada"), "The start page of the administration."
        for kept, is_there in (({}, True), ({"dropped": ["page"]}, False)):
            fields = form(text="/context", context=json.dumps(kept))

            shown = send(client, fields, script=True).content.decode()

            assert (said in html.unescape(shown)) is is_there

    def test_clear_archives_the_conversation(self, browser):
        client, fields = browser("ada"), form(text="Hello")
        send(client, fields)

        send(client, form(text="/clear", conversation=fields["conversation"]))

        assert Conversation.objects.get().archived_at

    def test_skill_becomes_a_prompt(self, browser):
        rows.Skill.objects.create(name="refund", description="Pay back.", body="Do.")

        send(browser("ada"), form(text="/skill refund order 7"), script=True)

        assert Message.objects.get().text == (
            "Read the procedure 'refund' with get_skill and follow it. order 7"
        )


class TestPalette:
    def palette(self, client, path="/admin/"):
        url = reverse("ai_assistant:palette")
        return client.get(url, {"path": path}, headers=SCRIPT).content.decode()

    @pytest.mark.row("P02")
    def test_lists_what_may_be_typed(self, browser, people):
        rows.PromptCommand.objects.create(name="mine", text="Hi.", owner=people["ada"])
        rows.PromptCommand.objects.create(name="his", text="Hi.", owner=people["bob"])

        shown = self.palette(browser("ada"))

        assert 'data-title="/sales-report" data-hint="&lt;period&gt;"' in shown
        assert 'data-title="/mine"' in shown
        assert "/his" not in shown

    def test_own_come_first_then_help(self, browser, people):
        rows.PromptCommand.objects.create(name="zeta", text="Hi.", owner=people["ada"])

        names = re.findall(r'data-title="/([^"]+)', self.palette(browser("ada")))

        assert {"sales-report", "zeta"} <= {*names[: names.index("help")]}
        assert names[names.index("help") :][:2] == ["help", "clear"]

    @pytest.mark.row("F09")
    def test_at_sign_finds_pages_tools_and_skills(self, browser, people):
        rows.Skill.objects.create(name="refund", description="Pay back.", body="Do.")

        def found(text):
            values = {"path": "/admin/", "of": "@", "q": text}
            url = reverse("ai_assistant:palette")
            shown = browser("ada").get(url, values, headers=SCRIPT).content.decode()
            return re.findall(r'data-item="([^"]+)', shown)

        assert found("refu")[0] == "skill:refund"
        assert found("find tools")[0] == "tool:find_tools"
        assert found("r") == []

    @pytest.mark.row("P07")
    def test_command_of_a_group_is_for_its_members(self, browser, people):
        group = Group.objects.create(name="Shop")
        people["ada"].groups.add(group)
        rows.PromptCommand.objects.create(name="ours", text="Hi.", group=group)

        assert "/ours" in self.palette(browser("ada"))
        assert "/ours" not in self.palette(browser("bob"))


class TestOwnCommands:
    """A message becomes a command of one's own."""

    def save(self, client, **fields):
        url = reverse("ai_assistant:commands")
        values = {"name": "report", "text": "Sum up {{ arguments }}.", **fields}
        return client.post(url, values, headers=SCRIPT)

    def test_form_has_the_text_of_the_message(self, browser, people):
        run = ask(people["ada"], "Sum up May")
        url = reverse("ai_assistant:commands")

        response = browser("ada").get(url, {"run": run.pk}, headers=SCRIPT)

        assert ">\nSum up May</textarea>" in response.content.decode()
        other = browser("bob").get(url, {"run": run.pk}, headers=SCRIPT)
        assert other.status_code == 404

    def test_saved_one_is_ones_own(self, browser, people):
        response = self.save(browser("ada"), name="/Report", description="Monthly")

        assert "Type /report to send it." in response.content.decode()
        row = rows.PromptCommand.objects.get()
        assert (row.owner, row.name, row.description) == (
            people["ada"],
            "report",
            "Monthly",
        )

    @pytest.mark.parametrize(
        ("fields", "sentence"),
        [
            ({"name": "two words"}, "Use lower-case letters"),
            ({"name": "help"}, "The site has a command “/help”. Choose another name."),
            ({"text": "{{ secret }}"}, "The text has the place “{{ secret }}”."),
            (
                {"text": "x" * 8001},
                "This text has 8001 characters; at most 8000 can be kept.",
            ),
        ],
    )
    def test_bad_one_is_a_sentence_with_all_that_was_typed(
        self, browser, fields, sentence
    ):
        response = self.save(browser("ada"), description="Kept", **fields)

        shown = html.unescape(response.content.decode())
        assert sentence in shown
        assert 'value="Kept"' in shown
        assert not rows.PromptCommand.objects.exists()

    def test_only_its_owner_deletes_it(self, browser, people):
        row = rows.PromptCommand.objects.create(
            name="mine", text="Hi.", owner=people["ada"]
        )
        url = reverse("ai_assistant:commands")
        values = {"do": "delete", "command": row.pk}

        assert browser("bob").post(url, values, headers=SCRIPT).status_code == 404
        assert b"None yet" in browser("ada").post(url, values, headers=SCRIPT).content

    def test_who_may_not_use_the_assistant_saves_nothing(self, browser):
        assert self.save(browser("viewer")).status_code == 403
