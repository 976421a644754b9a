from dataclasses import replace
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import Permission
from django.template.loader import render_to_string

from ai_assistant.changes.stored import to_json
from ai_assistant.changes.values import (
    Changes,
    FieldChange,
    ObjectChange,
    Related,
)
from ai_assistant.models import Interrupt, ToolCall
from ai_assistant.render.html.diffs.differences import difference_entry, field_entry
from tests.render.html.dom import Node
from tests.render.html.tab import panel, whole_page

SECTION = "testapp.effect"
HOSTILE = "\"'><img src=x onerror=alert(1)><script>alert(2)</script>"


def one(kind="change", before="old", after="new", text="An effect", **more):
    field = FieldChange(name="value", label="Value", before=before, after=after)
    given = {"model": SECTION, "object_id": "1", "fields": (field,), **more}
    return ObjectChange(kind=kind, text=text, **given)


def changes(*objects, **more) -> Changes:
    given = {"title": "Change value of effect “x”", "total": len(objects), **more}
    return Changes(objects=objects, model=SECTION, **given)


def asked(story, proposal: Changes, **fields):
    """Return the page on which a call waits with this proposal."""
    story.ask("Hello")
    story._reply(("needs_approval",))
    story.park()
    Interrupt.objects.update(proposal=to_json(proposal))
    ToolCall.objects.update(**{"effect": "write", **fields})
    return whole_page(story.conversation)[0]


def diff(page) -> Node:
    (found,) = [node for node in page.root.elements() if "aia-diff" in node.classes()]
    return found


def texts(node, tag: str) -> list[str]:
    return [one.text() for one in node.elements() if one.tag == tag]


def with_class(node, name: str) -> list[Node]:
    return [one for one in node.elements() if name in one.classes()]


def panel_for(*, may: bool):
    shown = panel()
    shown.viewer.user = SimpleNamespace(has_perm=lambda name: may)
    return shown


def button(page, name: str):
    found = [node for node in page.root.elements() if name in node.attrs]
    return found[0].text() if found else ""


class TestCard:
    def test_card_of_a_change_shows_both_values(self, story):
        page = asked(story, changes(one()))

        assert texts(diff(page), "del") == ["old"]
        assert texts(diff(page), "ins") == ["new"]
        assert texts(diff(page), "th") == ["Value"]

    def test_card_of_a_creation_shows_values_alone(self, story):
        page = asked(story, changes(one("create", before="")))

        assert [text.strip() for text in texts(diff(page), "td")] == ["new"]
        assert texts(diff(page), "del") == texts(diff(page), "ins") == []

    def test_card_of_an_emptied_field_says_so(self, story):
        page = asked(story, changes(one(after="")))

        assert texts(diff(page), "td")[0].split() == ["old", "→", "empty"]

    @pytest.mark.parametrize(
        ("kind", "sentence"),
        [
            ("delete", "3 order lines will be deleted"),
            ("change", "3 order lines will lose their effect"),
            ("create", "3 order lines will be added"),
            ("link", "3 links will change: order lines"),
        ],
    )
    def test_card_of_a_deletion_says_what_goes_along(self, story, kind, sentence):
        along = Related(
            model="shop.line", label="order lines", kind=kind, count=3, texts=("A", "B")
        )
        page = asked(story, changes(one("delete", fields=()), related=(along,)))

        shown = diff(page)
        assert sentence in shown.text()
        assert "and 1 more" in shown.text()
        assert "An effect" in texts(shown, "del")

    def test_card_of_many_has_ticks_and_counts_the_rest(self, story):
        objects = [replace(one(text=f"No. {n}"), object_id=str(n)) for n in range(20)]
        page = asked(
            story,
            changes(
                *objects,
                title="Change value of 1000 effects",
                verb="Change 1000 effects",
                total=1000,
                rows_argument="ids",
            ),
        )

        ticks = [n for n in diff(page).elements() if n.attrs.get("name") == "rows"]
        assert [tick.attrs["value"] for tick in ticks] == [str(n) for n in range(20)]
        assert all("checked" in tick.attrs for tick in ticks)
        assert "and 980 more" in diff(page).text()
        (count,) = [n for n in page.root.elements() if "data-aia-count" in n.attrs]
        assert (count.text(), count.attrs["data-rest"]) == ("1000", "980")
        assert button(page, "data-aia-approve") == "Approve 1000"

    def test_card_of_many_has_ticks_for_its_own_model_only(self, story):
        inline = replace(one(), model="testapp.other", object_id="9")
        objects = (one(), replace(one(), object_id="2"), inline)
        page = asked(story, changes(*objects, total=2, rows_argument="ids"))

        ticks = [n for n in diff(page).elements() if n.attrs.get("name") == "rows"]
        assert [tick.attrs["value"] for tick in ticks] == ["1", "2"]
        assert "more" not in diff(page).text()

    @pytest.mark.parametrize(
        ("total", "said"), [(1, "Approve"), (1000, "Approve 1000")]
    )
    def test_button_says_to_how_many(self, total, said, story):
        objects = (one(),) if total == 1 else (one(), one())
        page = asked(story, changes(*objects, verb="Publish them", total=total))

        assert button(page, "data-aia-approve") == said

    def test_title_links_its_object_for_who_may_see_it(self, story):
        group = one(text="Ed<b>", model="auth.group", object_id="3")
        shown = difference_entry(changes(group, title="Rename “Ed<b>” now"))
        template = "ai_assistant/approval_title.html"
        drawn = [
            render_to_string(template, {"diff": shown, "panel": panel_for(may=may)})
            for may in (True, False)
        ]

        linked = '<a href="/admin/auth/group/3/change/">Ed&lt;b&gt;</a>'
        assert drawn[0].strip() == f"Rename “<bdi>{linked}</bdi>” now"
        assert drawn[1].strip() == "Rename “<bdi>Ed&lt;b&gt;</bdi>” now"

    def test_values_stand_beside_each_other_if_they_have_little_in_common(self, story):
        long = "word " * 30
        page = asked(story, changes(one(before=f"{long}old", after=f"{long}new")))
        assert not with_class(diff(page), "aia-pair")
        story.end()

        page = asked(story, changes(one(before="ada@example.com", after="b@test.org")))
        (pair,) = with_class(diff(page), "aia-pair")
        assert texts(pair, "del") == ["ada@example.com"]
        assert texts(pair, "ins") == ["b@test.org"]
        (to,) = with_class(pair, "aia-to")  # the arrow stays with the new value
        assert to.text().split() == ["→", "b@test.org"]

    def test_new_value_of_a_relation_is_a_link(self, story):
        field = FieldChange(
            name="content_type", label="Type", before="a", after="b", raw=7
        )
        entry = field_entry(field, "change", 1, Permission)
        other = field_entry(replace(field, raw=None), "change", 1, Permission)

        assert entry["link"] == {"label": "contenttypes.contenttype", "id": "7"}
        assert other["link"] is None

    def test_fine_print_is_folded_and_says_how_long_from_the_server(self, story):
        page = asked(story, changes(one()))

        (fine,) = with_class(page.by_id("aia-pinned"), "aia-fine")
        assert fine.tag == "details"
        assert "open" not in fine.attrs
        assert texts(fine, "time") == ["in 23 hours"]
        assert "It can be undone." in fine.text()

    def test_reason_is_behind_the_deny_button(self, story):
        page = asked(story, changes(one()))

        (reason,) = [n for n in page.root.elements() if n.attrs.get("name") == "reason"]
        assert reason.parent.tag == "details"
        assert "open" not in reason.parent.attrs

    def test_card_says_what_cannot_be_undone_and_warns(self, story):
        page = asked(story, changes(one(), undoable=False, warnings=("Mails go out.",)))

        text = page.by_id("aia-pinned").text()
        assert "It cannot be undone." in text
        assert "Mails go out." in text

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({}, "It can be undone."),
            ({"undo_limits": ("Mail.",)}, "It can be undone in part. Mail."),
            (
                {"undo_limits": ("Mail.",), "undoable": False},
                "It cannot be undone. Mail.",
            ),
        ],
    )
    def test_card_says_whether_it_can_be_undone(self, story, given, said):
        page = asked(story, changes(one(), **given))

        assert said in page.by_id("aia-pinned").text()

    @pytest.mark.parametrize(
        ("kind", "given", "said"),
        [
            ("change", {}, ""),
            ("create", {}, ""),
            ("change", {"undo_limits": ("Mail.",)}, "It can be undone in part."),
            ("change", {"undoable": False}, "It cannot be undone."),
            ("delete", {"title": "Remove “An effect”"}, "effect · deleted"),
            ("action", {}, "It can be undone."),
        ],
    )
    def test_card_is_red_where_data_may_go_and_says_so(self, story, kind, given, said):
        changed = one(kind, **({"fields": ()} if kind == "delete" else {}))
        page = asked(story, changes(changed, **given), effect="destructive")

        (card,) = with_class(page.root, "aia-approval")
        (fine,) = with_class(card, "aia-fine")
        assert ("data-destructive" in card.attrs) is bool(said)
        assert said in card.text().removesuffix(fine.text())

    def test_card_is_red_if_nobody_knows_what_changes(self, story):
        page = asked(story, changes(one()), effect="destructive")
        Interrupt.objects.update(proposal=None)
        page = whole_page(story.conversation)[0]

        (card,) = with_class(page.root, "aia-approval")
        assert "data-destructive" in card.attrs
        assert "This may remove data for good." in card.text()

    def test_card_says_why_it_asks(self, story):
        page = asked(story, changes(one()), asks_because="It comes from a file.")

        assert "It comes from a file." in page.by_id("aia-pinned").text()

    @pytest.mark.parametrize(("effect", "count"), [("write", 1), ("destructive", 0)])
    def test_card_allows_for_the_answer_what_removes_nothing(
        self, story, effect, count
    ):
        page = asked(story, changes(one()), effect=effect)

        found = [node.text() for node in with_class(page.root, "aia-allow")]
        said = "Also for the rest of this answer: “Needs approval” on effects"
        assert found == [said] * count

    def test_card_tells_apart_what_looks_the_same(self, story):
        page = asked(story, changes(one(before="admin", after="\u0430dmin")))

        assert "Both look the same, but their characters differ." in diff(page).text()
        assert "U+0430" in diff(page).text()

    def test_card_says_that_a_hidden_value_changes(self, story):
        page = asked(story, changes(one(before="•••", after="•••")))

        assert "the values are not shown" in diff(page).text()

    @pytest.mark.parametrize("kind", ["create", "change", "delete", "link", "action"])
    def test_card_escapes_everything(self, story, kind):
        field = FieldChange(
            name="a", label=HOSTILE, before=HOSTILE, after=HOSTILE + "x"
        )
        hostile = ObjectChange(
            kind=kind, model=HOSTILE, object_id=HOSTILE, text=HOSTILE, fields=(field,)
        )
        along = Related(
            model="a.b", label=HOSTILE, kind=kind, count=2, texts=(HOSTILE,)
        )
        for objects in ((hostile,), (hostile, hostile)):
            proposal = Changes(
                title=HOSTILE,
                verb=HOSTILE,
                model=HOSTILE,
                objects=objects,
                total=len(objects),
                related=(along,),
                warnings=(HOSTILE,),
                rows_argument="ids",
            )
            pinned = asked(story, proposal).by_id("aia-pinned")

            assert not {node.tag for node in pinned.elements()} & {"img", "script"}
            assert not [node for node in pinned.elements() if "onerror" in node.attrs]
            assert HOSTILE in pinned.text()
            story.end()


class TestNames:
    """Whoever approves knows which objects are meant."""

    def named(self, page):
        return [
            node.text().split()
            for node in diff(page).elements()
            if "aia-object" in node.classes()
        ]

    @pytest.mark.parametrize("kind", ["create", "delete"])
    def test_single_object_that_the_title_does_not_name(self, story, kind):
        page = asked(story, changes(one(kind, text="Order 2"), title="Forgive"))

        word = {"create": ["·", "new"], "delete": ["·", "deleted"]}[kind]
        (name,) = self.named(page)
        assert name == ["Order", "2", "effect", *word]

    def test_single_object_that_is_changed_is_named_in_the_title(self, story):
        page = asked(story, changes(one(text="Order 2"), title="Forgive"))

        assert texts(page.by_id("aia-pinned"), "h3") == ["Forgive: Order 2"]
        assert self.named(page) == []

    def test_names_without_fields(self, story):
        page = asked(story, changes(one("delete", fields=()), title="Forgive"))

        assert texts(diff(page), "del") == ["An effect"]
        assert "effect · deleted" in diff(page).text()

    @pytest.mark.parametrize(
        "title", ["Forgive “Order 2”", "Forgive „Order 2“", "« Order 2 »"]
    )
    def test_names_is_not_named_twice(self, story, title):
        assert self.named(asked(story, changes(one(text="Order 2"), title=title))) == []

    @pytest.mark.parametrize("title", ["Forgive Order 2", "Forgive “Order 22”"])
    def test_title_that_only_seems_to_name_it(self, story, title):
        page = asked(story, changes(one(text="Order 2"), title=title))

        assert self.named(page) == [["Order", "2", "effect"]]

    def test_object_without_a_text_has_its_id(self, story):
        page = asked(story, changes(one(text=""), title="Forgive"))

        assert self.named(page) == [["#1", "effect"]]

    @pytest.mark.parametrize("ticks", [True, False])
    def test_rows_that_are_called_alike_have_their_ids(self, story, ticks):
        rows = [one(text="Baseline"), one(text="Baseline"), one(text="Else")]
        rows = [replace(row, object_id=str(n)) for n, row in enumerate(rows, 7)]
        page = asked(story, changes(*rows, rows_argument="ids" if ticks else ""))

        shown = [text.replace("effect", "").split() for text in texts(diff(page), "th")]
        assert shown[-3:] == [["Baseline", "#7"], ["Baseline", "#8"], ["Else"]]


class TestNothing:
    def test_nothing_is_not_promised_by_the_button(self, story):
        page = asked(story, changes(title="Mark Order 2 as paid"))

        assert "Nothing would change." in diff(page).text()
        assert button(page, "data-aia-approve") == "Continue without a change"
        assert "rest of this answer" not in page.by_id("aia-pinned").text()

    def test_nothing_is_not_said_beside_a_warning(self, story):
        page = asked(story, changes(warnings=("Something changes.",)))

        assert "Nothing would change." not in diff(page).text()
        assert button(page, "data-aia-approve") != "Continue without a change"


class TestDecision:
    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({}, "You approved this"),
            ({"edited": True, "rows": None}, "You edited and approved this"),
            ({"edited": False, "rows": ["1"]}, "You approved this, for chosen rows"),
            ({"granted": True}, "You allowed this for the answer"),
        ],
    )
    def test_decision_is_told_on_the_card_of_the_call(self, story, user, given, said):
        asked(story, changes(one()))
        Interrupt.objects.update(status="approved", decided_by=user, answer=given)

        page = whole_page(story.conversation)[0]

        assert said in page.by_id("aia-log").text()
        assert texts(diff(page), "ins") == ["new"]

    def test_decision_that_denies_has_its_reason(self, story, user):
        asked(story, changes(one()))
        Interrupt.objects.update(status="denied", decided_by=user, answer="<b>No</b>")

        page = whole_page(story.conversation)[0]

        assert "You denied this: <b>No</b>" in page.by_id("aia-log").text()


class TestOfAnotherRelease:
    OTHER = {"heading": "Change it", "objects": [{"kind": "mutate"}]}  # noqa: RUF012

    def test_open_card(self, story):
        asked(story, changes(one()))
        Interrupt.objects.update(proposal=self.OTHER)
        page = whole_page(story.conversation)[0]
        assert texts(page.root, "del") == []
        assert "Needs approval" in page.root.text()

    def test_closed_card(self, story):
        asked(story, changes(one()))
        Interrupt.objects.update(proposal=self.OTHER, status="denied")
        ToolCall.objects.update(status="denied")
        assert whole_page(story.conversation)[0]
