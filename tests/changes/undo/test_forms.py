"""Each way of changing rows is undone exactly, and redone; or it is said beforehand."""

import pytest

from ai_assistant.changes.undo.values import Outcome
from tests.changes import forms
from tests.changes.conftest import Rows
from tests.changes.conftest import gallery as every_row

pytestmark = pytest.mark.django_db


def gallery() -> Rows:
    """Return every row; a link that was made again has a key of its own."""
    return {
        (table, str(row) if "_" in table else key): row
        for (table, key), row in (
            (
                (table, key),
                {n: v for n, v in row.items() if n != "id" or "_" not in table},
            )
            for (table, key), row in every_row().items()
        )
    }


@pytest.mark.row("R05")
@pytest.mark.parametrize("form", forms.FORMS, ids=lambda form: form.__name__)
def test_undo_restores_all_or_says_so(form, assistant, hung):
    before = gallery()
    change_set = assistant.do(form)
    if change_set is None:
        assert gallery() == before
        return

    plan = assistant.plan(change_set)
    differing = assistant.undo(change_set)

    if form.__name__ in forms.WHOLE:
        assert {row.outcome for row in plan.rows} <= {Outcome.RESTORE}
        assert (plan.gaps, differing, gallery()) == ([], [], before)
    else:
        assert plan.gaps or gallery() == before
