"""Names run their own way within a sentence that runs the other one."""

import pytest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import override

from ai_assistant.changes.values import Changes, ObjectChange, Related
from ai_assistant.render.html.diffs.differences import difference_entry
from ai_assistant.text.direction import isolate, isolate_quoted
from ai_assistant.text.hidden_characters import mark_hidden_characters
from tests.render.html.dom import parse
from tests.web import samples

LABEL = "testapp.effect"


def isolated(html: str) -> list[str]:
    return [node.text() for node in parse(html).elements() if node.tag == "bdi"]


def related(kind: str, language: str = "en") -> str:
    one = ObjectChange(kind="delete", model=LABEL, object_id="1", text="Alpha")
    along = Related(model="a.b", label="أقسام <b>", kind=kind, count=2)
    proposal = Changes(
        title="Delete it", model=LABEL, objects=(one,), related=(along,), total=1
    )
    with override(language):
        (entry,) = difference_entry(proposal)["related"]
    return entry["sentence"]


class TestIsolate:
    def test_isolate_escapes_a_name(self):
        assert isolate("<i>") == "<bdi>&lt;i&gt;</bdi>"

    @pytest.mark.parametrize(
        ("sentence", "names"),
        [
            ("“Alpha” has changed since.", ["Alpha"]),
            ("„Alpha“ und „Beta“ fehlen.", ["Alpha", "Beta"]),
            ("تغيّر «Alpha» منذ قراءته: title.", ["Alpha"]),
            ("「Alpha」は変更されました。", ["Alpha"]),
            ("« Alpha » a été modifié.", [" Alpha "]),
            ("Nothing's quoted, but for the apostrophe.", []),
            ("“An end is missing", []),
        ],
    )
    def test_isolate_quoted_names(self, sentence, names):
        html = isolate_quoted(sentence)

        assert isolated(html) == names
        assert parse(html).text() == sentence

    def test_isolate_quoted_escapes_all(self):
        html = isolate_quoted("<i> “<b>” & “c”")

        assert html == "&lt;i&gt; “<bdi>&lt;b&gt;</bdi>” &amp; “<bdi>c</bdi>”"

    def test_isolate_quoted_leaves_attributes_alone(self):
        marked = mark_hidden_characters("“a\u200bb” and “c”")
        titled = SafeString(marked.replace("title=", 'lang="“x”" title='))
        assert "“x”" in titled

        html = isolate_quoted(titled)

        assert html == titled.replace("“c”", "“<bdi>c</bdi>”")


class TestCard:
    @pytest.mark.parametrize("kind", ["delete", "create", "change", "link", "action"])
    def test_what_goes_along_isolates_its_names(self, kind):
        names = ["أقسام <b>", "effect"] if kind == "change" else ["أقسام <b>"]

        assert isolated(related(kind)) == names

    def test_what_goes_along_is_the_sentence_that_it_was(self):
        assert parse(related("change")).text() == "2 أقسام <b> will lose their effect"

    def test_what_goes_along_marks_what_is_hidden_in_a_name(self):
        along = Related(model="a.b", label="a\u202eb", kind="delete", count=2)
        (entry,) = difference_entry(Changes(title="x", related=(along,)))["related"]

        assert "RLO" in entry["sentence"]
        assert "\u202e" not in entry["sentence"]


class TestRefusal:
    @pytest.mark.parametrize(
        ("template", "names"),
        [
            ("tool_card", {"call": samples.call(error="“Alpha” was not found.")}),
            ("approval", {"item": samples.approval(allows="Also: “Alpha” on it")}),
            ("notice", {"notice": "“Alpha” was not found."}),
            ("limited", {"notice": "“Alpha” was not found."}),
            ("error", {"entry": {"error": "“Alpha” was not found."}}),
        ],
    )
    def test_refusal_takes_no_direction_from_a_name(self, template, names):
        given = {**samples.context(), **names}

        html = render_to_string(f"ai_assistant/{template}.html", given)

        assert "Alpha" in isolated(html)
