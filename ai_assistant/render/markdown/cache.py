"""What was rendered, kept as long as there is room."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Cache(Generic[Key, Value]):
    """
    Keeps what was used last, up to `max_chars` characters of keys and values.

    Safe to use from several threads; two may compute the same value at once.
    """

    def __init__(self, *, max_chars: int) -> None:
        self.max_chars = max_chars
        self.chars = 0
        self._kept: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Key, compute: Callable[[], Value]) -> Value:
        """Return the value of `key`, computed if it is not kept."""
        with self._lock:
            if (found := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return found[0]
        value = compute()
        self._keep(key, value, _chars(key) + _chars(value))
        return value

    def _keep(self, key: Key, value: Value, size: int) -> None:
        if size > self.max_chars // 4:
            return
        with self._lock:
            if key in self._kept:
                return
            self._kept[key] = value, size
            self.chars += size
            while self.chars > self.max_chars:
                _, (_, freed) = self._kept.popitem(last=False)
                self.chars -= freed


def _chars(value: object) -> int:
    if isinstance(value, str):
        return len(value) + 50  # an object has a size of its own
    if isinstance(value, tuple | list):
        return sum(_chars(item) for item in value) + 50
    return 50
