"""Any sequence of ways to change rows, some of it rolled back."""

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.changes import forms
from tests.changes.conftest import check_true, gallery, recorded

pytestmark = pytest.mark.broad

STEPS = st.lists(
    st.tuples(st.sampled_from(forms.FORMS), st.sampled_from(["kept", "rolled back"])),
    min_size=1,
    max_size=5,
)


@pytest.mark.django_db
@given(steps=STEPS)
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_images_equal_the_rows_or_there_is_a_gap(media, steps):
    def work():
        for form, fate in steps:
            with transaction.atomic():
                form()
                transaction.set_rollback(fate == "rolled back")

    with transaction.atomic():
        forms.hang()
        recorder, before, after = recorded(work)
        check_true(recorder, before, after)
        if all(form.__name__ in forms.WHOLE for form, _ in steps):
            assert recorder.gaps == []
        assert gallery() == after
        transaction.set_rollback(True)
