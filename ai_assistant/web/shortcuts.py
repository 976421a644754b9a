"""The keys that open the panel, as boot.js compares them."""

from collections.abc import Iterable, Mapping

# As boot.js lists them.
MODIFIERS: Mapping[str, int] = {"ctrl": 0, "cmd": 0, "shift": 1, "alt": 2}
FIRST_FUNCTION_KEY = 112  # the keyCode of F1


def key_signs(shortcuts: Iterable[str]) -> str:
    """
    Return what the panel's root names: "true,true,false,65" for Ctrl+Shift+A.

    Whether Ctrl, Shift and Alt are held, then the key's number. Ctrl means Cmd too.
    Raise ValueError for what is no shortcut.
    """
    return " ".join(_sign(one) for one in shortcuts)


def _sign(shortcut: str) -> str:
    *modifiers, key = [part.strip().lower() for part in shortcut.split("+")]
    unknown = [name for name in modifiers if name not in MODIFIERS]
    number = _key_number(key)
    pressed = {MODIFIERS[name] for name in modifiers if name in MODIFIERS}
    is_typed = number < FIRST_FUNCTION_KEY and not pressed & {0, 2}
    if unknown or not number or is_typed:
        raise ValueError(
            f"{shortcut!r} is no shortcut. Write Ctrl or Alt, perhaps Shift, and a "
            "letter, a digit or F1 to F12, joined by +: 'Ctrl+Shift+A'."
        )
    held = ",".join("true" if place in pressed else "false" for place in range(3))
    return f"{held},{number}"


def _key_number(key: str) -> int:
    """Return the browser's `keyCode`: it follows the layout of Latin keyboards."""
    if len(key) == 1 and key.isascii() and key.isalnum():
        return ord(key.upper())
    functions = [f"f{number}" for number in range(1, 13)]
    return FIRST_FUNCTION_KEY + functions.index(key) if key in functions else 0
