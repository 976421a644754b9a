"""Names of rows: one of the site, and one of each person."""

import pytest
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError

from ai_assistant.models.configuration import PromptCommand

pytestmark = pytest.mark.django_db


def command(**fields):
    made = PromptCommand(name="report", text="Sum up.", **fields)
    made.full_clean()
    made.save()
    return made


@pytest.mark.row("P01")
def test_the_site_and_each_person_have_a_command_of_one_name():
    ada, bob = (get_user_model().objects.create_user(name) for name in ("ada", "bob"))
    command()
    command(owner=ada)
    command(owner=bob)

    for owner in (None, ada):
        with pytest.raises(ValidationError):
            command(owner=owner)
