"""Keeps positions what they are: 0 to n-1, without gaps."""

from typing import TypeVar

from project.questionnaires.models import Question, Section

Row = TypeVar("Row", Section, Question)


def renumbered(rows: list[Row]) -> list[Row]:
    """Give each row its place; return those that had another one."""
    moved = []
    for place, row in enumerate(rows):
        if row.position != place:
            row.position = place
            moved.append(row)
    return moved


def place_sections(sections: list[Section]) -> None:
    """Store the sections in this order."""
    Section.objects.bulk_update(renumbered(sections), ["position"])


def place_questions(questions: list[Question]) -> None:
    """Store the questions of one section in this order."""
    Question.objects.bulk_update(renumbered(questions), ["position"])


def moved(rows: list[Row], row: Row, target: int) -> list[Row]:
    """
    Return the rows with `row` at place `target`, whether it was among them or not.

    Raise IndexError if there would be no such place.
    """
    others = [one for one in rows if one.pk != row.pk]
    if not 0 <= target <= len(others):
        raise IndexError(target)
    return [*others[:target], row, *others[target:]]
