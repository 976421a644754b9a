"""What a run has changed, in its message: the same from history and from frames."""

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.utils.translation import override

from ai_assistant.models import ToolCall
from ai_assistant.models.change import ChangeSet, RowChange
from ai_assistant.render.html.diffs.changes import changes_of_runs
from ai_assistant.render.html.diffs.long_texts import whole_change
from tests.render.html.dom import Node
from tests.render.html.tab import Tab, whole_page
from tests.render.html.test_projection import assert_whole

EFFECT = "testapp.effect"


def stored(story, *rows: dict, gaps: list | None = None) -> ChangeSet:
    """Store what the last call of the run has changed."""
    call = ToolCall.objects.filter(run=story.run).last()
    change_set = ChangeSet.objects.create(
        run=story.run, call=call, is_partial=bool(gaps), gaps=gaps or []
    )
    for order, row in enumerate(rows):
        RowChange.objects.create(
            **{
                "change_set": change_set,
                "order": order,
                "model": EFFECT,
                "object_id": str(order),
                "kind": "update",
                "text": f"Effect {order}",
                "fields": [*(row.get("after") or {})],
                **row,
            }
        )
    return change_set


def updated(before: dict, after: dict, **more) -> dict:
    return {"before": before, "after": after, **more}


@pytest.fixture
def called(story):
    story.ask("Hello")
    story._reply(("echo", "echo"))
    ToolCall.objects.update(effect="write")
    return story


def list_of(page) -> Node | None:
    found = [n for n in page.root.elements() if "aia-changes" in n.classes()]
    return found[0] if found else None


def texts(node: Node, tag: str) -> list[str]:
    return [one.text().strip() for one in node.elements() if one.tag == tag]


class TestList:
    def test_list_is_not_there_without_changes(self, called):
        assert list_of(whole_page(called.conversation)[0]) is None

    @pytest.mark.row("R03")
    def test_list_counts_objects_and_shows_each(self, called):
        stored(
            called,
            updated({"value": "old"}, {"value": "new"}),
            updated({"key": "a"}, {"key": "b"}),
        )
        stored(called, updated({"value": "new"}, {"value": "newer"}, object_id="0"))

        shown = list_of(whole_page(called.conversation)[0])

        assert "2 effects changed" in shown.text()
        assert texts(shown, "del") == ["old", "a", "new"]
        assert texts(shown, "ins") == ["new", "b", "newer"]
        assert texts(shown, "th") == ["Value", "Key", "Value"]

    @pytest.mark.parametrize(
        ("rows", "said"),
        [
            ([{"text": "Rome"}], "Rome: value old → new"),
            ([{"text": "Rome", "after": {"value": ""}}], "Rome: value old → empty"),
            ([{"text": "Rome", "kind": "create"}], "Rome: added"),
            ([{"text": "Rome", "kind": "delete"}], "Rome: deleted"),
            ([{"after": {"value": "x" * 99}}], "Effect 0: value"),
            ([{}, {"model": "auth.group"}], "value old → new, +1 updated along"),
            ([{}] * 3, "3 effects changed"),
            ([{}, {}, {"kind": "create"}], "2 effects changed, 1 effect added"),
            ([{"text": "<b>"}], "<b>: value old → new"),
        ],
    )
    def test_headline_says_what_it_was_about(self, called, rows, said):
        whole = [updated({"value": "old"}, {"value": "new"}) | row for row in rows]
        stored(called, *whole)

        assert said in texts(list_of(whole_page(called.conversation)[0]), "summary")[0]

    def test_headline_names_fields_as_the_language_writes_them(self, called):
        """A noun of German begins with a capital letter, within a sentence too."""
        row = {"model": "auth.group", "before": {"name": "a"}, "after": {"name": "b"}}
        stored(called, updated({"value": "old"}, {"value": "new"}) | row)

        with override("de"):
            shown = list_of(whole_page(called.conversation)[0])

        assert "Name a → b" in texts(shown, "summary")[0]

    def test_list_has_five_rows_and_then_the_others(self, called):
        stored(called, *[updated({"value": "a"}, {"value": "b"}) for _ in range(7)])

        shown = list_of(whole_page(called.conversation)[0])

        lists = [one for one in shown.elements() if one.tag == "ul"]
        assert [len(texts(one, "li")) for one in lists] == [5, 2]
        assert lists[1].parent.tag == "details"
        assert texts(lists[1].parent, "summary") == ["Show 2 more"]

    def test_list_shows_what_was_made_and_deleted(self, called):
        stored(
            called,
            {"kind": "create", "after": {"id": 1, "key": "k", "value": ""}},
            {"kind": "delete", "before": {"id": 2, "key": "k"}},
        )

        shown = list_of(whole_page(called.conversation)[0])

        assert texts(shown, "ins") == ["Effect 0"]
        assert texts(shown, "del") == ["Effect 1"]
        assert texts(shown, "td") == ["k"]

    def test_objects_that_are_called_alike_have_their_ids(self, called):
        texts_of = ("Baseline", "Baseline", "Else")
        stored(called, *(updated({"key": "a"}, {"key": "b"}, text=t) for t in texts_of))
        # Of the same object twice no id is needed.
        stored(called, updated({"key": "b"}, {"key": "c"}, text="Else", object_id="2"))

        shown = list_of(whole_page(called.conversation)[0])

        names = [text.split() for text in texts(shown, "p")]
        assert names == [
            ["Baseline", "#0", "effect"],
            ["Baseline", "#1", "effect"],
            ["Else", "effect"],
            ["Else", "effect"],
        ]

    def test_list_leads_to_texts_too_long_for_it(self, called):
        long = "word " * 20_000
        change_set = stored(called, updated({"value": "a"}, {"value": f"{long}end"}))
        (row,) = change_set.rows.all()

        shown = list_of(whole_page(called.conversation)[0])

        links = [one.attrs["href"] for one in shown.elements() if one.tag == "a"]
        assert links[0].endswith(f"?change={row.pk}&field=0")
        entry = whole_change(row, 0, 99)
        assert entry["text"].endswith("end</ins>")
        assert entry["query"] == f"change={row.pk}&field=0"
        assert whole_change(row, 1, 1) is None

    def test_list_shows_sealed_values_as_hidden(self, called):
        sealed = [{"$sealed": "x" * 40, "mac": "y"}, {"$sealed": "z" * 40, "mac": "u"}]
        stored(called, updated({"value": sealed[0]}, {"value": sealed[1]}))

        text = list_of(whole_page(called.conversation)[0]).text()

        assert "hidden" in text
        assert "xxxx" not in text
        assert "zzzz" not in text

    def test_list_names_related_objects_in_one_query(
        self, called, django_assert_num_queries
    ):
        people = [get_user_model().objects.create_user(f"p{n}") for n in range(6)]
        stored(
            called,
            *(
                {
                    "model": "admin.logentry",
                    "before": {"user_id": people[n].pk},
                    "after": {"user_id": people[n + 1].pk},
                }
                for n in range(5)
            ),
        )
        run_id = called.run.pk
        with django_assert_num_queries(6):
            entry = changes_of_runs([run_id])[run_id]

        brief = [str(field["brief"]) for o in entry["objects"] for field in o["fields"]]
        assert brief[0] == "<del>p0</del> <ins>p1</ins>"

    def test_list_of_links_shows_both_ends(self, called):
        group = Group.objects.create(name="Editors")
        stored(
            called,
            {
                "kind": "m2m_add",
                "model": "auth.user_groups",
                "after": {"id": 3, "user_id": called.user.pk, "group_id": group.pk},
            },
        )

        shown = list_of(whole_page(called.conversation)[0])

        assert "1 user-group relationship linked" in shown.text()
        assert "ada" in shown.text()
        assert "Editors" in shown.text()

    @pytest.mark.row("ui 69")
    def test_list_says_who_saved_it_and_where_that_is_told(self, called):
        rows = [
            {"kind": kind, "model": "auth.group", "object_id": f"1{kind}"}
            for kind in ("create", "update", "delete", "m2m_add")
        ]
        change_set = stored(called, *rows, {"model": "gone.thing", "after": {"x": 1}})
        ChangeSet.objects.filter(pk=change_set.pk).update(user=called.user)

        shown = list_of(whole_page(called.conversation)[0])

        links = [one.attrs["href"] for one in shown.elements() if one.tag == "a"]
        assert links == [
            *(f"/admin/auth/group/1{kind}/history/" for kind in ("create", "update")),
            f"/assistant/undo/?run={called.run.pk}",
        ]
        assert "Saved as ada via the assistant." in shown.text()

    def test_list_of_a_user_who_is_gone_names_nobody(self, called):
        stored(called, updated({"value": "a"}, {"value": "b"}))

        shown = list_of(whole_page(called.conversation)[0])

        assert "Saved as" not in shown.text()

    def test_list_says_what_cannot_be_shown(self, called):
        stored(
            called,
            updated({"value": "a"}, {"value": "b"}),
            gaps=[{"table": "shop_stock", "kind": "update", "count": 3}],
        )

        shown = list_of(whole_page(called.conversation)[0])

        assert (
            "Something else was written in table shop_stock; "
            "it cannot be shown or undone." in shown.text()
        )

    def test_list_of_a_model_that_is_gone_still_names_the_object(self, called):
        stored(called, updated({"x": 1}, {"x": 2}, model="gone.thing"))

        shown = list_of(whole_page(called.conversation)[0])

        assert "Effect 0" in shown.text()

    def test_list_asks_as_often_for_many_runs(self, story, django_assert_num_queries):
        ids = []
        for _ in range(3):
            story.ask("Hello")
            story._reply(("echo",))
            stored(story, updated({"value": "a"}, {"value": "b"}))
            ids.append(story.run.pk)
            story.end()

        with django_assert_num_queries(5):
            assert len(changes_of_runs(ids)) == 3


class TestFrames:
    def test_bring_what_a_page_load_draws(self, called):
        tab = Tab(called)
        tab.connect()
        stored(called, updated({"value": "old"}, {"value": "new"}))

        called.work("x")
        tab.look()

        assert "Effect 0: value old → new" in list_of(tab.page).text()
        assert_whole(tab)

        stored(called, updated({"key": "a"}, {"key": "b"}, object_id="9"))
        called.work("x")
        tab.look()

        assert "2 effects changed" in list_of(tab.page).text()
        assert_whole(tab)

    def test_frames_do_not_repeat_what_has_not_changed(self, called):
        tab = Tab(called)
        tab.connect()
        stored(called, updated({"value": "old"}, {"value": "new"}))
        called.work("x")
        tab.look()

        called.work("x")
        ops = tab.projection.catch_up()

        assert not [op for op in ops if str(op[1]).endswith("-changes")]
