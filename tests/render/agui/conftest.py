import pytest
from django.contrib.auth import get_user_model

from tests.render.html.story import Story


@pytest.fixture
def user(db):
    return get_user_model().objects.create_superuser("ada")


@pytest.fixture
def story(user):
    return Story(user)
