import re

import pytest

from ai_assistant.web.panel.keyboard import key_signs


class TestKeySigns:
    def test_key_signs_is_the_modifiers_and_the_key(self):
        assert (
            key_signs(["Ctrl+Shift+A", "Alt+Shift+A"])
            == "true,true,false,65 false,true,true,65"
        )

    @pytest.mark.parametrize(
        ("shortcut", "sign"),
        [
            ("cmd + k", "true,false,false,75"),
            ("Ctrl+Cmd+K", "true,false,false,75"),
            ("Alt+1", "false,false,true,49"),
            ("F2", "false,false,false,113"),
            ("Shift+F12", "false,true,false,123"),
        ],
    )
    @pytest.mark.row("N07")
    def test_key_signs_takes_letters_digits_and_function_keys(self, shortcut, sign):
        assert key_signs([shortcut]) == sign

    def test_none_is_a_choice(self):
        assert key_signs([]) == ""

    @pytest.mark.parametrize(
        "shortcut", ["A", "Shift+A", "Ctrl+", "", "Ctrl+Plus", "Hyper+A", "Ctrl+F13"]
    )
    def test_what_is_none_is_refused(self, shortcut):
        expected = (
            f"{shortcut!r} is not a shortcut. Write Ctrl or Alt, optionally Shift, "
            "and a letter, a digit or F1 to F12, joined by +: 'Ctrl+Shift+A'."
        )

        with pytest.raises(ValueError, match=re.escape(expected)):
            key_signs([shortcut])
