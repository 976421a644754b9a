"""How deep JSON from a browser may be: what walks it later goes as deep as it is."""

from typing import Any

MAX_DEPTH = 32


def is_deep(value: Any) -> bool:  # noqa: ANN401 - any JSON
    """Tell whether lists and objects stand in each other deeper than is taken."""
    level = [value]
    for _depth in range(MAX_DEPTH):
        level = [below for one in level for below in _below(one)]
    return any(isinstance(one, dict | list) for one in level)


def _below(value: Any) -> list[Any]:  # noqa: ANN401
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
