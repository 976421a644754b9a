import pytest

from ai_assistant.render.html.fragments import with_buttons
from ai_assistant.render.markdown import render

SAID = '`<div class="aia-code">` and <div class="aia-code"> and &lt;div&gt;'


def drawn(text: str) -> str:
    return "".join(with_buttons(html) for html in render(text))


class TestCodeButtons:
    @pytest.mark.parametrize("text", ["```py\nx\n```", "```\nx", "    x"])
    def test_stand_on_each_block_of_code(self, text):
        assert drawn(text).count("<button") == 1

    def test_code_buttons_cannot_be_called_up_by_a_text(self):
        assert "<button" not in drawn(SAID)
        assert drawn(f"```\n{SAID}\n```").count("<button") == 1
