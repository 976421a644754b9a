"""A page that the person has taken back is not told of."""

from types import SimpleNamespace

import pytest
from django.utils import timezone

from ai_assistant.models.run import Run
from ai_assistant.prompts.system import system_prompt


@pytest.mark.row("C16")
def test_path_and_title_go_with_the_chip_of_the_page():
    user = SimpleNamespace(get_username=lambda: "ada")
    run = Run(
        page_path="/admin/",
        page_title="Start",
        context={"dropped": ["page"]},
        created_at=timezone.now(),
    )

    prompt = system_prompt(run, user).flatten().text

    assert "Signed-in user: 'ada'\nAsked at: " in prompt
    assert "/admin/" not in prompt
