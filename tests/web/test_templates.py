import re
from functools import cache
from pathlib import Path

import pytest
from django.template.loader import render_to_string

import ai_assistant
from ai_assistant.render.html.transcript.entries import text_part
from ai_assistant.render.html.transcript.growing import Growing
from ai_assistant.render.markdown import render as render_markdown
from tests.render.html.dom import Page, parse
from tests.web import samples
from tests.web.markup import all_with, elements, one_with

FOLDER = Path(ai_assistant.__file__).parent / "templates" / "ai_assistant"
ROOT = FOLDER.parents[2]
NAMES = sorted(file.stem for file in FOLDER.glob("*.html"))
LINE_CHARS = 120
PAGES = {
    "edit_page",
    "fullpage",
    "history_page",
    "keyboard_page",
    "raw",
    "refused",
    "share_page",
    "shared_page",
    "whole_text",
}  # extend a template of the admin
FIELDS = {"csrf", "answer_fields"}  # the inside of a form
FRAGMENTS = [name for name in NAMES if name not in PAGES]
PARTS_OF_A_PAGE = [
    name
    for name in NAMES
    if not (FOLDER / f"{name}.html").read_text().startswith("{% extends")
]
HX = "data-aia-hx-"  # of the panel's htmx
KEEPS_OUT = {
    f"hx-{name}{suffix}"
    for name in ("preserve", "disinherit", "boost", "select", "push-url", "confirm")
    for suffix in ("", ":inherited")
}
HOSTILE = "\"'><img src=x onerror=alert(1)><script>alert(2)</script>"
STATUSES = [
    "pending",
    "waiting",
    "executing",
    "complete",
    "failed",
    "denied",
    "cancelled",
    "unknown",
]


def draw(template: str, /, **context) -> str:
    return render_to_string(f"ai_assistant/{template}.html", context)


@cache
def drawn(template: str) -> str:
    """Draw a template with the usual words; many tests read it."""
    return draw(template, **samples.context())


def draw_panel(**changes) -> str:
    return draw("panel", **samples.context(**changes))


class TestEveryTemplate:
    @pytest.mark.parametrize("name", NAMES)
    def test_every_template_draws_something(self, name):
        assert draw(name, **samples.context(state="tool")).strip()

    @pytest.mark.parametrize("name", FRAGMENTS)
    def test_every_template_has_no_inline_code_or_style(self, name):
        html = drawn(name)

        for tag, attrs in elements(html):
            assert tag != "style"
            assert tag != "script" or attrs.get("src")
            assert "style" not in attrs
            assert not [key for key in attrs if key.startswith(("on", "hx-on"))]

    @pytest.mark.parametrize("name", FRAGMENTS)
    def test_every_template_has_attributes_of_its_own_htmx_that_are_no_code(self, name):
        """Those of the page's htmx may only keep it out: it knows another prefix."""
        html = drawn(name)

        for _, attrs in elements(html):
            assert {key for key in attrs if key.startswith("hx-")} <= KEEPS_OUT
            for key, value in attrs.items():
                if key.startswith(HX):
                    assert not key.startswith(f"{HX}on")
                    assert not re.search(r"^\s*(js|javascript):", value or "")
                    assert "[" not in (value or "") or not key.endswith("trigger")

    def test_no_template_asks_for_what_has_to_be_evaluated(self):
        """As written: also what is drawn for some values alone, and whole pages."""
        code = re.compile(r"""hx-on|=["']\s*(js|javascript):|hx-trigger=["'][^"']*\[""")
        sources = {file.name: file.read_text() for file in FOLDER.rglob("*.html")}

        assert [name for name, text in sources.items() if code.search(text)] == []

    @pytest.mark.parametrize("name", FRAGMENTS)
    def test_every_template_escapes_every_field(self, name):
        html = draw(name, **samples.context(HOSTILE))

        assert "<img" not in html
        assert "<script>" not in html
        assert not [attrs for _, attrs in elements(html) if "onerror" in attrs]

    @pytest.mark.parametrize("name", FRAGMENTS)
    def test_states_method_target_and_swap_of_each_form(self, name):
        html = drawn(name)

        for tag, attrs in elements(html):
            if tag == "form":
                assert attrs["method"] in ("get", "post")
                # What was not saved is sent again to the page itself.
                is_page = name in ("locked", "stale_form")
                own = "" if is_page else "/assistant/"
                assert attrs.get("action", "").startswith(own)
                if f"{HX}get" in attrs:
                    assert attrs["method"] == "get"
                    assert attrs[f"{HX}get"].startswith(attrs["action"])
            if f"{HX}post" in attrs:
                assert attrs["method"] == "post"
                assert attrs[f"{HX}post"] == attrs["action"]
            if f"{HX}post" in attrs or (tag == "form" and f"{HX}get" in attrs):
                assert attrs[f"{HX}target"].startswith("#")
                assert attrs[f"{HX}swap"] in ("innerHTML", "outerHTML", "upsert")

    @pytest.mark.parametrize("name", sorted({*FRAGMENTS} - FIELDS))
    def test_every_template_carries_the_token_in_each_form(self, name):
        html = drawn(name)

        forms: list[tuple[str | None, int]] = []
        for tag, attrs in elements(html):
            if tag == "form":
                forms.append((attrs["method"], 0))
            elif attrs.get("name") == "csrfmiddlewaretoken":
                method, count = forms.pop()
                forms.append((method, count + 1))
        # What only asks changes nothing, and a token in an address would be told on.
        assert {*forms} <= {("post", 1), ("get", 0)}

    def test_every_template_leaves_the_token_out_where_no_page_is_known(self):
        html = draw("approval", item=samples.approval(), panel=samples.panel())

        assert not all_with(html, name="csrfmiddlewaretoken")

    @pytest.mark.parametrize("folder", ["ai_assistant", "project", "templates"])
    def test_every_template_has_no_line_that_is_too_long_to_read(self, folder):
        files = list((ROOT / folder).rglob("*.html"))
        long = [
            f"{file.relative_to(ROOT)}:{number}"
            for file in files
            for number, line in enumerate(file.read_text().splitlines(), 1)
            if len(line) > LINE_CHARS
        ]

        assert files
        assert long == []

    @pytest.mark.parametrize("name", PARTS_OF_A_PAGE)
    def test_every_template_draws_no_line_break_of_its_own(self, name):
        html = drawn(name).strip()

        # Those of values, and of the browser's own: the first of a <textarea>.
        shown = r"(?s)<(pre|textarea)\b.*?</\1>"
        assert "\n" not in re.sub(shown, "", html)

    def test_every_template_never_uses_safe_or_autoescape_off(self):
        for name in NAMES:
            source = (FOLDER / f"{name}.html").read_text()
            assert not re.search(r"\|\s*safe|autoescape off", source), name


class TestIcons:
    NAMED = re.compile(r'{% aia_icon "([\w-]+)" %}')

    def drawn(self) -> set[str]:
        symbols = elements(draw("icons"))
        return {attrs["id"] for tag, attrs in symbols if tag == "symbol"}

    def test_each_that_a_template_names_is_drawn(self):
        sources = [file.read_text() for file in FOLDER.rglob("*.html")]
        named = {name for source in sources for name in self.NAMED.findall(source)}

        assert "send" in named
        assert {f"aia-i-{name}" for name in named} <= self.drawn()

    @pytest.mark.parametrize("status", STATUSES)
    def test_each_status_has_one(self, status):
        html = draw("tool_card", call=samples.call(status=status))

        used = {attrs["href"] for tag, attrs in elements(html) if tag == "use"}
        assert f"#aia-i-{status}" in used
        assert {name.removeprefix("#") for name in used} <= self.drawn()

    def test_open_panel_has_them_once(self):
        assert draw_panel().count('id="aia-icons"') == 1

    def test_closed_panel_neither_has_nor_uses_them(self):
        html = draw_panel(is_open=False)

        assert "aia-icons" not in html
        assert "<use" not in html
        assert html.count("<svg") == 1

    @pytest.mark.parametrize("page", ["history_page"])
    def test_page_that_uses_them_without_the_panel_has_them(self, page):
        assert 'id="aia-icons"' in draw(page, **samples.context())


class TestClosedPanel:
    def test_closed_panel_says_so_and_holds_no_conversation(self):
        html = draw_panel(is_open=False, state="error")

        root = one_with(html, id="aia")
        assert root["data-state"] == "closed"
        assert "data-open" not in root
        assert not all_with(html, id="aia-inner")

    def test_closed_panel_has_a_launcher_that_works_without_script(self):
        html = draw_panel(is_open=False)

        launcher = one_with(html, id="aia-launcher", data_aia_open=None)
        assert launcher["href"] == "/assistant/full/"

    def test_closed_panel_is_small(self):
        assert len(draw_panel(is_open=False)) < 3000


class TestOpenPanel:
    def test_root_names_what_is_drawn(self):
        root = one_with(draw_panel(state="idle"), id="aia", data_open=None)

        assert root["data-state"] == "idle"
        assert root["data-conversation"] == samples.CONVERSATION
        assert root["data-run"] == "r1"
        assert root["data-seq"] == "1234"
        assert "data-readonly" not in root

    def test_numbers_have_no_separators(self, settings):
        settings.USE_THOUSAND_SEPARATOR = True

        html = draw_panel()

        assert one_with(html, id="aia")["data-seq"] == "1234"
        assert one_with(html, id="aia-input")["data-max"] == "100000"

    @pytest.mark.parametrize(
        "name",
        [
            *("aia-form", "aia-input", "aia-send", "aia-stop", "aia-log", "aia-pinned"),
            *("aia-banner", "aia-say", "aia-alert", "aia-context", "aia-notice"),
            *("aia-title", "aia-conn", "aia-scroll", "aia-latest", "aia-history"),
        ],
    )
    def test_open_panel_has_the_hook(self, name):
        one_with(draw_panel(), id=name)

    def test_ids_are_unique(self):
        ids = [attrs["id"] for _, attrs in elements(draw_panel()) if "id" in attrs]

        assert len(ids) == len(set(ids))

    def test_controls_have_one_name_to_see_and_to_hear(self):
        named = 0
        for one in parse(draw_panel()).elements():
            if one.tag not in ("button", "summary", "a") or "title" not in one.attrs:
                continue
            heard = one.attrs.get("aria-label") or " ".join(one.text().split())
            if "aia-icon" in one.classes():
                assert heard == one.attrs["title"]
                named += 1
        assert named > 8

    def test_readonly_is_marked_and_said(self):
        html = draw_panel(readonly=True)

        assert "data-readonly" in one_with(html, id="aia")
        assert all_with(html, class_="aia-about")

    @pytest.mark.parametrize(
        ("state", "busy"),
        [
            ("thinking", "run"),
            ("tool", "run"),
            ("stopping", "run"),
            ("waiting-approval", "wait"),
            ("idle", None),
            ("error", None),
        ],
    )
    def test_stop_is_offered_while_a_run_is_unfinished(self, state, busy):
        root = one_with(draw_panel(state=state), id="aia")

        assert root.get("data-busy") == busy

    def test_open_panel_without_permission_there_is_no_composer(self):
        html = draw_panel(can_use=False)

        assert not all_with(html, id="aia-form")

    def test_stop_names_the_run(self):
        html = draw("composer", **samples.context())

        assert one_with(html, id="aia-stop")["form"] == "aia-stop-form"
        assert one_with(html, name="run")["value"] == "r1"

    def test_no_live_region_surrounds_the_text(self):
        log = one_with(draw_panel(), id="aia-log")

        assert log["role"] == "log"
        assert log["aria-live"] == "off"


class TestFullPage:
    def test_full_page_holds_the_panel_and_no_launcher(self):
        html = draw("fullpage", **samples.context(mode="page"))

        assert one_with(html, id="aia")["data-mode"] == "page"
        assert not all_with(html, id="aia-launcher")
        assert not all_with(html, id="aia-close")


class TestThread:
    def test_thread_has_one_article_for_each_message_and_run(self):
        html = draw("thread", panel=samples.panel())

        mine = all_with(html, class_="aia-msg", data_role="user")
        assert [attrs["id"] for attrs in mine] == ["u-1", "u-2"]
        run = one_with(html, class_="aia-msg", data_role="assistant")
        assert run["data-run-id"] == "r1"
        assert run["aria-busy"] == "true"

    def test_thread_keeps_the_order_of_the_parts(self):
        html = draw("message_assistant", entry=samples.run(), panel=samples.panel())

        parts = ["t-m1", "c-c1", "m-m1", "u-2"]
        assert sorted(parts, key=lambda name: html.index(f'id="{name}"')) == parts

    def test_part_that_goes_on_stands_in_the_message(self):
        entry = samples.run(later=[samples.later()])
        html = draw("message_assistant", entry=entry, panel=samples.panel())

        assert len(all_with(html, class_="aia-msg", data_role="assistant")) == 1
        parts = ["m-m1", "r-r1-end", "r-r4", "u-3", "b-3-next", "r-r4-parts"]
        assert sorted(parts, key=lambda name: html.index(f'id="{name}"')) == parts

    def test_finished_run_is_not_busy(self):
        html = draw("message_assistant", entry=samples.run(busy=False))

        assert "aria-busy" not in one_with(html, id="r-r1")

    def test_thread_shows_the_key_of_a_message(self):
        html = draw("message_user", entry=samples.user(key="k7"))

        assert one_with(html, id="u-1")["data-key"] == "k7"

    def test_empty_conversation_says_what_to_do(self):
        html = draw("thread", panel=samples.panel(entries=[]))

        one_with(html, id="aia-empty")


class TestText:
    TEXT = "# Title\n\nOne *word*.\n\n- a\n- b\n\n```python\nx = 1\n```\n\nThe end."

    def drawn(self) -> str:
        part = text_part("m9", render_markdown(self.TEXT), complete=True)
        return draw("text_part", part=part).strip()

    @pytest.mark.parametrize("size", [1, 3, 7, 1000])
    def test_streamed_equals_drawn(self, size):
        growing = Growing(message_id="m9")
        ops: list[list[str]] = []
        for start in range(0, len(self.TEXT), size):
            piece = self.TEXT[start : start + size]
            growing.extend(piece, offset=start, reasoning=False)
            ops += growing.ops("parts")
        ops += growing.finish("parts")

        page = Page('<div id="parts"></div>')
        page.apply(ops)
        drawn = Page(f'<div id="parts">{self.drawn()}</div>')
        assert page.shown() == drawn.shown()

    def test_text_has_its_hooks(self):
        html = self.drawn()

        assert one_with(html, class_="aia-body")["data-message-id"] == "m9"
        assert one_with(html, id="m-m9-b0")["class"] == "aia-b"


class TestToolCard:
    @pytest.mark.parametrize("status", STATUSES)
    def test_tool_card_has_name_and_status(self, status):
        html = draw("tool_card", call=samples.call("count", status=status))

        card = one_with(html, class_="aia-tool")
        assert card["id"] == "c-c1"
        assert card["data-tool"] == "count"
        assert card["data-status"] == status

    def test_each_status_has_its_own_word(self):
        words = {draw("status", call=samples.call(status=name)) for name in STATUSES}

        assert len(words) == len(STATUSES)

    @pytest.mark.parametrize(
        ("status", "reason", "word"),
        [("denied", "expired", "Expired"), ("cancelled", "skipped", "Skipped")],
    )
    def test_tool_card_says_the_reason(self, status, reason, word):
        html = draw("status", call=samples.call(status=status, reason=reason))

        assert html.strip() == word

    def test_tool_card_shows_progress_only_while_it_runs(self):
        running = draw(
            "tool_card", call=samples.call(status="executing", progress=0.62)
        )
        done = draw("tool_card", call=samples.call(status="complete", progress=1.0))

        assert one_with(running, max="1")["value"] == "0.620"
        assert "<progress" not in done

    def test_no_progress_no_bar(self):
        html = draw("tool_card", call=samples.call(status="executing", progress=None))

        assert "<progress" not in html

    def test_shows_seconds_in_tenths(self):
        assert "0.8 s" in draw("tool_card", call=samples.call(seconds=0.84))

    def test_running_call_has_a_clock(self):
        html = draw("tool_card", call=samples.call(status="executing", seconds=None))

        began = str(int(samples.TIME.timestamp()))
        assert one_with(html, class_="aia-clock")["data-clock"] == began


class TestReasoning:
    def test_reasoning_is_open_while_it_grows(self):
        html = draw("reasoning", part=samples.reasoning(done=False))

        assert "open" in one_with(html, class_="aia-reasoning")

    def test_reasoning_is_folded_when_done(self):
        html = draw("reasoning", part=samples.reasoning(seconds=6.2))

        assert "open" not in one_with(html, class_="aia-reasoning")
        assert "Thought for 6 s" in html


class TestRunEnd:
    def test_finished_run_has_nothing_to_add(self):
        end = {"error": "", "can_retry": False, "can_continue": False}
        entry = samples.run(state="succeeded", summaries=(), **end)

        assert draw("run_end", entry=entry, panel=samples.panel()).strip() == ""

    def test_run_that_was_continued_has_its_sources_alone(self):
        html = draw("run_end", entry=samples.run(is_continued=True))

        assert [attrs["class"] for attrs in all_with(html, class_="aia-sources")]
        assert not all_with(html, class_="aia-error")
        assert not all_with(html, name="how")

    def test_stopped_run_is_marked(self):
        entry = samples.run(state="cancelled", error="", can_retry=False)

        html = draw("run_end", entry=entry, panel=samples.panel())

        assert all_with(html, class_="aia-mark")
        assert one_with(html, name="how")["value"] == "continue"

    def test_failed_run_offers_to_try_again_once_and_asks_for_no_opinion(self):
        entry = samples.run(busy=False, can_continue=False, feedback=None)

        html = draw("run_end", entry=entry, panel=samples.panel())

        assert [attrs["value"] for attrs in all_with(html, name="how")] == ["retry"]
        assert not all_with(html, data_aia_use="edit")
        assert "-down" not in html

    def test_two_clicks_on_retry_send_one_key(self):
        entry = samples.run(can_continue=False)

        html = draw("run_end", entry=entry, panel=samples.panel())

        assert one_with(html, name="key")["value"] == "r1"


class TestLimits:
    def test_countdown_says_the_seconds_alone(self):
        """When it is possible again is in the sentence above it."""
        drawn = render_to_string("ai_assistant/countdown.html", {"wait_s": 59})

        assert one_with(drawn, data_left="59")
        assert parse(drawn).text().strip() == ""


class TestPinned:
    def test_approval_has_its_hooks(self):
        html = draw("pinned", panel=samples.panel(pinned=[samples.approval("n7")]))

        one_with(html, class_="aia-approval")
        one_with(html, class_="aia-diff")
        assert one_with(html, data_aia_approve=None)["value"] == "approve"
        assert one_with(html, data_aia_deny=None)["value"] == "deny"
        nonces = all_with(html, name="nonce")
        assert [field["value"] for field in nonces] == ["n7", "n7"]

    def test_question_has_buttons_and_free_text(self):
        html = self.asked("select", "a", "b")

        one_with(html, class_="aia-question")
        answers = all_with(html, name="answer")
        assert [attrs.get("value") for attrs in answers] == ["a", "b", None]
        assert one_with(html, name="decision")["value"] == "skip"

    def test_strict_question_has_no_free_text(self):
        html = self.asked("select", "a", strict=True)

        assert [attrs["value"] for attrs in all_with(html, name="answer")] == ["a"]

    def test_question_that_takes_several_has_boxes(self):
        html = self.asked("multi_select", "a", "b", strict=True)

        boxes = all_with(html, name="chosen")
        assert [(box["type"], box["value"]) for box in boxes] == [
            ("checkbox", "a"),
            ("checkbox", "b"),
        ]
        assert not all_with(html, name="answer")
        assert len(all_with(html, type="submit")) == 2

    def test_question_with_yes_and_no_has_two_buttons(self):
        html = self.asked("confirm", "yes", "no")

        answers = all_with(html, name="answer")
        assert [attrs["value"] for attrs in answers] == ["yes", "no"]

    def test_proposed_answers_are_there_already(self):
        option = {"id": "a", "label": "A", "proposed": True}
        ticked = self.draw(question="multi_select", options=[option])
        typed = self.draw(question="text", options=[], proposed="Hm")

        assert "checked" in one_with(ticked, name="chosen")
        assert one_with(typed, name="answer")["value"] == "Hm"

    def asked(self, kind, *ids, **fields):
        options = [{"id": one, "label": one.upper()} for one in ids]
        return self.draw(question=kind, options=options, proposed="", **fields)

    def draw(self, **fields):
        asked = samples.question(**fields)
        return draw("pinned", panel=samples.panel(pinned=[asked]))


class TestHistory:
    def test_links_each_conversation(self):
        html = draw("history", **samples.context())

        assert one_with(html, data_aia_conversation="c9")["href"] == "/assistant/"

    @pytest.mark.parametrize(
        ("busy", "words"), [("wait", "Waiting for you"), ("run", "Working")]
    )
    def test_history_says_in_words_what_goes_on(self, busy, words):
        listed = samples.listed(busy=busy)

        html = draw("history", listed=listed, panel=samples.panel())

        assert f'<small data-busy="{busy}">{words}</small>' in html
        assert "data-busy" not in draw("history", **samples.context())

    def test_history_says_when_there_is_none(self):
        html = draw("history", listed={"items": []})

        assert "No conversations yet." in html
        assert all_with(html, class_="aia-logo")
