import pytest

from ai_assistant import ModelRetry
from project.questionnaires.assistant.designer.moving import move_question
from project.questionnaires.assistant.designer.sections import (
    add_section,
    move_section,
    reorder_sections,
    update_section_title,
)
from project.questionnaires.models import Section

pytestmark = pytest.mark.row("M06")


class TestAddSection:
    def test_add_section_goes_last(self, designing, titles):
        add_section(designing, " Dreams ")

        assert titles() == ["Nights", "Days", "Notes", "Dreams"]

    def test_add_section_needs_a_title(self, designing, titles):
        with pytest.raises(ModelRetry, match="title: This field cannot be blank"):
            add_section(designing, " ")

        assert len(titles()) == 3


class TestUpdateSectionTitle:
    def test_update_section_title_tells_both_titles(self, designing, sections):
        told = update_section_title(designing, sections[1].pk, "Daytime")

        assert (told["before"], told["title"]) == ("Days", "Daytime")


class TestMoveSection:
    @pytest.mark.parametrize(
        ("target", "after"),
        [
            (0, ["Notes", "Nights", "Days"]),
            (1, ["Nights", "Notes", "Days"]),
            (2, ["Nights", "Days", "Notes"]),
        ],
    )
    def test_move_section_to_each_place(
        self, designing, sections, titles, target, after
    ):
        move_section(designing, sections[2].pk, target)

        assert titles() == after

    @pytest.mark.parametrize("target", [-1, 3, 99])
    def test_outside_is_refused_not_clamped(self, designing, sections, titles, target):
        with pytest.raises(ModelRetry, match=f"{target} is outside of 0 to 2"):
            move_section(designing, sections[0].pk, target)

        assert titles() == ["Nights", "Days", "Notes"]

    def test_move_section_closes_gaps_of_before(self, designing, sections, titles):
        Section.objects.filter(pk=sections[2].pk).update(position=7)

        move_section(designing, sections[0].pk, 2)

        assert titles() == ["Days", "Notes", "Nights"]


class TestReorderSections:
    def test_all_in_a_new_order(self, designing, sections, titles):
        a, b, c = (section.pk for section in sections)

        reorder_sections(designing, [c, a, b])

        assert titles() == ["Notes", "Nights", "Days"]

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (lambda ids, foreign: ids[:2], "lack"),
            (lambda ids, foreign: [*ids, foreign], "which this questionnaire has not"),
            (lambda ids, foreign: [*ids[:2], foreign], "lack"),
            (lambda ids, foreign: [*ids, ids[0]], "name a section twice"),
            (lambda ids, foreign: [], "lack"),
        ],
    )
    def test_missing_or_foreign_fails_whole(
        self, designing, sections, published, titles, change, said
    ):
        ids = [section.pk for section in reversed(sections)]

        with pytest.raises(ModelRetry, match=f"{said}.*Nothing was moved"):
            reorder_sections(designing, change(ids, published.sections.get().pk))

        assert titles() == ["Nights", "Days", "Notes"]


class TestMoveQuestion:
    def test_within_its_section(self, designing, sections, question, order):
        here = sections[0].pk

        move_question(designing, question.pk, 2, here, here)

        assert order(sections[0]) == "acb"

    def test_move_question_to_another_section(
        self, designing, sections, question, order
    ):
        move_question(designing, question.pk, 0, sections[1].pk, sections[0].pk)

        assert (order(sections[0]), order(sections[1])) == ("ac", "bd")

    @pytest.mark.parametrize(("target", "place"), [(0, 3), (0, -1), (1, 2), (2, 1)])
    def test_outside_is_refused(
        self, designing, sections, question, order, target, place
    ):
        with pytest.raises(ModelRetry, match=f"target_position {place} is outside"):
            move_question(
                designing, question.pk, place, sections[target].pk, sections[0].pk
            )

        assert order(sections[0]) == "abc"
