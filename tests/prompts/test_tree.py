"""The prompt is a tree whose parts are changed by id, the stable ones first."""

import pytest

from ai_assistant.prompts.tree import PromptPart, PromptTree, within


def part(name, **options):
    return PromptPart(**{"id": name, "text": name.upper(), **options})


@pytest.fixture
def tree():
    return PromptTree([part("a"), part("b"), part("c")])


def ids(tree):
    return [part.id for part in tree]


@pytest.mark.row("B01")
class TestChanges:
    def test_insert_before(self, tree):
        tree.insert_before("b", part("new"))

        assert ids(tree) == ["a", "new", "b", "c"]

    def test_insert_after_comes_behind_all_below(self, tree):
        tree.insert_below("b", part("under"))
        tree.insert_after("b", part("new"))

        assert ids(tree) == ["a", "b", "under", "new", "c"]

    def test_insert_below_goes_to_the_end_of_the_part(self, tree):
        tree.insert_below("b", part("first"))
        tree.insert_below("b", part("second"))
        tree.insert_below("first", part("deep"))

        assert ids(tree) == ["a", "b", "first", "deep", "second", "c"]

    def test_replace_keeps_what_is_below_and_names_who_wrote_it(self, tree):
        tree.insert_below("b", part("under"))
        tree.replace("b", "other", source="hook:mine")

        assert ids(tree) == ["a", "b", "under", "c"]
        assert (tree.get("b").text, tree.get("b").source) == ("other", "hook:mine")

    def test_remove_takes_what_is_below(self, tree):
        tree.insert_below("b", part("under"))
        tree.remove("b")

        assert ids(tree) == ["a", "c"]

    def test_ids_of_what_was_removed_are_free_again(self, tree):
        tree.insert_below("b", part("under"))
        other = tree.copy()
        tree.remove("b")

        tree.append(part("under"))

        assert ids(tree) == ["a", "c", "under"]
        assert "b" not in tree
        assert "b" in other
        with pytest.raises(ValueError, match="'under' is there already"):
            other.append(part("under"))

    def test_unknown_part_is_named_with_those_that_are_there(self, tree):
        with pytest.raises(KeyError, match="'x' is not there. There are: a, b, c"):
            tree.remove("x")

    def test_taken_id_is_refused(self, tree):
        with pytest.raises(ValueError, match="'a' is there already"):
            tree.insert_after("b", part("a"))


class TestFlatten:
    def test_cacheable_parts_come_first_in_their_order(self):
        tree = PromptTree(
            [part("a"), part("b", cacheable=True), part("c"), part("d", cacheable=True)]
        )

        prompt = tree.flatten()

        assert prompt.text == "B\n\nD\n\nA\n\nC"
        assert prompt.stable_text == "B\n\nD"

    def test_empty_part_leaves_no_gap(self):
        tree = PromptTree([part("a"), part("b", text=""), part("c")])

        assert tree.flatten().text == "A\n\nC"

    def test_replaced_part_is_no_longer_stable(self):
        tree = PromptTree([part("a", cacheable=True)])
        tree.replace("a", "x", source="hook")

        assert tree.flatten().stable_text == ""


class TestWithin:
    def test_priority_decides_what_stays_and_the_order_stays(self):
        parts = [
            part("a", text="x" * 6),
            part("b", text="x" * 6, priority=1),
            part("c", text="x" * 4),
        ]

        kept, left_out = within(parts, 10)

        assert ([one.id for one in kept], left_out) == (["b", "c"], ["a"])
