"""The site's own templates inside the cards of tools."""

import re

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext

import ai_assistant
from ai_assistant.models import Message, ToolCall
from ai_assistant.registry import registry
from ai_assistant.render.html.cards.body import template_name
from ai_assistant.render.html.fragments import fragment, part_html
from ai_assistant.render.html.transcript.entries import call_entry, kin_of
from ai_assistant.render.html.transcript.thread import read_thread
from ai_assistant.tools.result import cut_for_card
from tests.render.html.tab import panel


@pytest.fixture
def call(story):
    """Make a call of the run that is on the page, with any fields."""

    def make(name, **fields):
        if story.run is None:
            story.ask("Hello")
        step = story.run.steps.first() or step_of(story)
        fields.setdefault("status", "complete")
        position = story.run.calls.count()
        return ToolCall.objects.create(
            run=story.run,
            step=step,
            position=position,
            name=name,
            **fields,
        )

    return make


@pytest.fixture
def ada(django_user_model):
    """Return a user who may see groups."""
    user = django_user_model.objects.create_user("ada2", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_group"))
    return user


def card(call, kin=None, *, faults=False, user=None):
    """Return the HTML of the card of a call."""
    shown = panel()
    shown.viewer.user = user
    shown.viewer.shows_faults = faults
    return part_html({"kind": "tool", "call": call_entry(call, kin)}, shown)


@pytest.mark.row("L06")
@pytest.mark.row("T03")
class TestTemplate:
    def test_template_is_found_by_the_name(self):
        assert template_name("measure") == "ai_assistant/tools/measure.html"

    def test_or_named_by_the_tool(self, with_template):
        with_template("echo", "ai_assistant/tools/map_card.html")

        assert template_name("echo") == "ai_assistant/tools/map_card.html"

    @pytest.mark.parametrize("name", ["echo", "gone", "../tool_card", "a/b", "ä", ""])
    def test_others_have_none(self, name):
        assert template_name(name) == ""

    def test_fills_the_card(self, call):
        one = call(
            "measure",
            label="Measure",
            arguments={"place": "<b>Rome</b>"},
            result={"ok": True, "data": {"sum": 60, "values": [10, 20, 30]}},
        )

        html = card(one)

        assert 'data-tool="measure" data-status="complete"' in html
        assert "&lt;b&gt;Rome&lt;/b&gt;" in html
        assert "60 in all" in html
        assert "<h4>" not in html  # of the default body

    def test_template_gets_the_error_and_the_status(
        self, call, with_template, settings
    ):
        with_template("echo", "shown.html")
        use_text(settings, "{{ status }}|{{ error }}|{{ args.a }}|{{ result }}")

        html = card(call("echo", status="failed", error="<No>", arguments={"a": 1}))

        assert "failed|&lt;No&gt;|1|None" in html

    def test_template_gets_what_was_told_so_far(self, call, with_template, settings):
        with_template("echo", "shown.html")
        use_text(settings, "{{ partial.n }}|{{ progress }}|{{ steps.0.text }}")

        html = card(
            call(
                "echo", status="executing", partial={"n": 7}, progress=0.5, steps=["a"]
            )
        )

        assert "7|0.5|a" in html

    @pytest.mark.parametrize(
        "text",
        ["{% load nothing %}", "{% include 'no/such.html' %}", "{% widthratio 1 %}"],
    )
    def test_template_that_fails_is_contained(
        self, call, with_template, settings, text
    ):
        with_template("echo", "shown.html")
        use_text(settings, text)

        html = card(call("echo", preview="the result"), faults=True)

        assert "The template of this tool failed: shown.html" in html
        assert "the result" in html

    def test_template_that_is_missing_is_told(self, call, with_template):
        with_template("echo", "no/such.html")

        assert "no/such.html" in card(call("echo"), faults=True)

    def test_fault_is_for_its_owner_only(self, call, caplog):
        one = call("torn", arguments={"text": "a"}, preview="the result")

        html = card(one)

        assert "failed" not in html
        assert "the result" in html
        assert "torn.html" in caplog.text

    @pytest.mark.parametrize(("name", "asked"), [("echo", 0), ("measure", 1)])
    def test_results_are_loaded_for_those_only(self, story, call, name, asked):
        data = {"ok": True, "data": {"sum": 60}}
        stored(story, call(name, result=data, preview="the result"))

        with CaptureQueriesContext(connection) as queries:
            html = thread(story)

        wanted = '"ai_assistant_toolcall"."result"'
        assert len([one for one in queries if wanted in one["sql"]]) == asked
        assert ("60 in all" in html) == bool(asked)

    def test_tool_that_is_gone_keeps_its_label(self, call):
        html = card(call("once_was", label="What it did", preview="the result"))

        assert "What it did" in html
        assert "the result" in html


@pytest.mark.row("L13")
def test_without_a_template_arguments_and_result_are_folded(call):
    html = card(call("echo", arguments={"text": "a"}, preview="the result"))

    assert "<details" in html
    assert "<details open" not in html
    assert "Asked for" in html
    assert "Result" in html


@pytest.mark.row("L10")
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"status": "waiting"}, "Waiting for you"),
        ({"status": "complete", "approved": True}, "Approved"),
        ({"status": "denied", "reason": "person"}, "Denied"),
        ({"status": "denied", "reason": "expired"}, "Expired"),
        ({"status": "cancelled"}, "Stopped"),
    ],
)
def test_what_became_of_an_approval(call, fields, said):
    for name in ("echo", "measure"):  # with the body of the app, and with its own
        assert said in card(call(name, **fields))


@pytest.mark.row("T15")
def test_icon_and_label(call):
    html = card(call("measure", label="Measure"))

    icons = re.findall(r'href="#aia-i-(\w+)"', html)
    assert icons == [registry.tool("measure").display.icon, "fold"]
    assert html.index("<svg") < html.index("Measure</span>")


@pytest.mark.parametrize("status", ["executing", "waiting", "failed", "denied"])
def test_status_that_matters_has_its_own_icon(call, status):
    html = card(call("measure", label="Measure", status=status))

    assert re.findall(r'href="#aia-i-(\w+)"', html) == [status, "fold"]


class TestSummary:
    def test_line_says_what_happened(self, call):
        html = card(call("echo", label="Echo", summary="Echoed <twice>"))

        assert "Echoed &lt;twice&gt;</span>" in html
        assert ">Echo<" not in html

    def test_failure_is_told_to_the_person_once(self, call):
        one = call(
            "echo",
            label="Echo",
            status="failed",
            error="Argument 'query': extra. Call it again.",
            summary="The assistant asked for this wrongly.",
        )

        html = card(one)

        assert html.count("asked for this wrongly") == 1
        assert html.index("Call it again.") < html.index("</details>")  # in the fold
        assert '<span class="aia-label" dir="auto">Echo</span>' in html

    def test_result_is_a_table_with_links_for_who_may_open_them(self, call, ada):
        shown = {
            "fields": [["Total", {"text": "2"}]],
            "columns": ["Group", "Note"],
            "rows": [
                [
                    {"text": "Ed<b>", "model": "auth.group", "id": "3"},
                    {"text": "<i>"},
                ]
            ],
            "more": 1,
        }
        one = call("echo", shown=shown, preview='{"total": 2}')

        closed, opened = card(one), card(one, user=ada)

        assert "<td" in closed
        assert "Ed&lt;b&gt;" in closed
        assert "&lt;i&gt;" in closed
        assert "1 to 1 of 2" in closed
        assert closed.index("Raw") < closed.index("total&quot;")
        assert "/admin/auth/group/3/change/" not in closed
        assert '<a href="/admin/auth/group/3/change/">Ed&lt;b&gt;</a>' in opened

    def test_progress_is_a_bar_below_the_line(self, call):
        html = card(
            call("echo", status="executing", progress=0.25, progress_text="1 / 4")
        )

        assert html.index("</details>") < html.index('<progress max="1" value="0.250"')
        assert "1 / 4" in html


@pytest.mark.row("L09")
class TestSteps:
    @pytest.mark.parametrize(
        ("status", "last"),
        [
            ("pending", "executing"),
            ("executing", "executing"),
            ("complete", "complete"),
            ("failed", "failed"),
        ],
    )
    def test_last_is_as_far_as_the_call(self, call, status, last):
        entry = call_entry(call("echo", status=status, steps=["Reading", "Testing"]))

        assert [step["status"] for step in entry["steps"]] == ["complete", last]

    def test_steps_are_drawn(self, call):
        html = card(call("echo", status="executing", steps=["<Reading>"]))

        assert '<li data-status="executing">' in html
        assert "&lt;Reading&gt;" in html

    def test_result_so_far(self, call):
        assert "So far" in card(call("echo", status="executing", partial=[1]))
        assert "So far" not in card(call("echo", status="complete", partial=[1]))


class TestChildren:
    @pytest.mark.row("T04")
    def test_stand_in_the_card_of_their_parent(self, call):
        top = call("locate")
        below = call("map_card", parent=top, arguments={"place": "Rome"})
        deep = call("echo", parent=below, preview="deep")

        html = card(top, kin_of([below, deep, top]))

        assert "Here lies Rome." in html
        assert html.index(f"c-{top.pk}") < html.index(f"c-{below.pk}")
        assert html.index(f"c-{below.pk}") < html.index(f"c-{deep.pk}")
        assert html.count("<div") == html.count("</div>")

    def test_news_of_a_child_draws_the_whole_card(self, story, call):
        from ai_assistant.render.html.transcript.groups import cards

        top = call("locate")
        below = call("map_card", parent=top, arguments={"place": "Rome"})
        stored(story, top)

        found = cards(story.run, {below.pk})

        assert found[below.pk]["call"]["id"] == str(top.pk)
        assert found[below.pk]["call"]["children"][0]["id"] == str(below.pk)

    def test_children_are_no_parts_of_their_own(self, story, call):
        top = call("locate")
        call("map_card", parent=top, arguments={"place": "Rome"})
        stored(story, top)

        assert thread(story).count("Here lies Rome.") == 1


PLAN = {
    "plan": [
        {"text": "Read <all>", "status": "complete"},
        {"text": "Compare", "status": "executing"},
        {"text": "Write", "status": "sideways"},
        {"status": "complete"},
        "nothing",
    ]
}


class TestPlan:
    def test_plan_is_a_list_that_ticks(self, call):
        html = card(call("echo", status="executing", partial=PLAN))

        assert "Plan: 1 of 3 done" in html
        assert "Read &lt;all&gt;" in html
        assert re.findall('<li data-status="([a-z]+)"', html) == [
            *("complete", "executing", "pending")
        ]
        assert "So far" not in html

    def test_plan_stays_in_the_fold_of_a_call_that_is_done(self, call):
        html = card(call("echo", status="complete", partial=PLAN))

        assert html.index("Plan: 1 of 3") < html.index("</details>")

    @pytest.mark.parametrize("partial", [None, [], {"plan": 7}, {"plan": []}, "plan"])
    def test_plan_is_not_made_of_anything_else(self, call, partial):
        assert "Plan" not in card(call("echo", status="executing", partial=partial))


class TestCut:
    def test_cut_leads_to_all_of_it(self, call):
        one = call(
            "echo", preview=cut_for_card("x" * 3000), arguments={"text": "y" * 3000}
        )

        html = card(one)

        for side in ("result", "arguments"):
            assert f"?call={one.pk}&amp;side={side}" in html
        assert "Show all" not in card(call("echo", preview="short"))


class TestGroups:
    @pytest.mark.row("T15")
    def test_say_the_plural(self, story, call):
        with registry.restored():
            tool = ai_assistant.tool(effect="read", label_plural="Orders")
            tool(look_up)
            stored(story, *[call("look_up", label="Order") for _ in range(2)])

            html = thread(story)

        assert '"aia-label">Orders</span> <span class="aia-count">×2' in html
        assert html.count("Order</span>") == 2

    def test_cards_with_a_template_stand_alone(self, story, call):
        stored(story, *[call("map_card", arguments={"place": p}) for p in ("a", "b")])

        html = thread(story)

        assert "aia-group" not in html
        assert html.count("Here lies") == 2


# --- what the tests above use ---


def look_up(text: str) -> str:
    """Look an order up."""
    return text


@pytest.fixture
def with_template():
    """Give a tool a template of its own, for the test."""

    with registry.restored():

        def give(name, template):
            tool = registry.tool(name)
            registry.add_tool(tool.changed(template=template), replace=True)

        yield give


def use_text(settings, text):
    """Let the template `shown.html` be this text."""
    (engine,) = [
        one for one in settings.TEMPLATES if one["BACKEND"].endswith("DjangoTemplates")
    ]
    loaders = [
        ("django.template.loaders.locmem.Loader", {"shown.html": text}),
        "django.template.loaders.app_directories.Loader",
    ]
    options = {**engine["OPTIONS"], "loaders": loaders}
    rest = {key: value for key, value in engine.items() if key != "APP_DIRS"}
    settings.TEMPLATES = [{**rest, "OPTIONS": options}]


def step_of(story):
    message = Message.objects.create(
        conversation_id=story.conversation_id,
        run=story.run,
        role=Message.Role.ASSISTANT,
        position=10,
    )
    return story.run.steps.create(index=0, message=message)


def stored(story, *calls):
    """Let the stored message of the run hold these calls."""
    parts = [{"type": "call", "call_id": str(one.pk)} for one in calls]
    Message.objects.filter(position=10).update(parts=parts)


def thread(story):
    drawn = read_thread(story.conversation)
    return "".join(
        fragment("message_assistant", entry=entry, panel=panel())
        for entry in drawn.entries
        if entry["kind"] == "run"
    )
