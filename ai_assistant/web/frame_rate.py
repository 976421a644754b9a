"""How fast a page may send frames up its socket: token buckets, in this process."""

import time
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from ai_assistant.types import UserKey

# A page acknowledges each frame, up to some 15 a second while text grows, and says
# hello once for each socket. What it has not acknowledged in a sleep comes at once.
HELLO = 10  # tokens, as it reads the rows; any other frame takes one
OF_A_SOCKET = (300, 30.0)  # tokens at once, and a second
OF_A_USER = (1500, 150.0)


@dataclass(kw_only=True, slots=True, weakref_slot=True)
class Bucket:
    """Holds `size` tokens at most; `per_s` come back in each second."""

    size: float
    per_s: float
    left: float = field(init=False)
    at: float = field(default_factory=time.monotonic)  # when `left` was true

    def __post_init__(self) -> None:
        self.left = self.size

    def take(self, tokens: int, now: float) -> bool:
        """Take tokens out at `now`, a monotonic time; False if there are too few."""
        self.left = min(self.size, self.left + (now - self.at) * self.per_s)
        self.at = now
        if self.left < tokens:
            return False
        self.left -= tokens
        return True


_of_users: WeakValueDictionary[UserKey, Bucket] = WeakValueDictionary()


class FrameRate:
    """The rate of one socket, and of all sockets of its user that are open here."""

    def __init__(self, user_id: UserKey) -> None:
        self._own = _bucket(OF_A_SOCKET)
        # Held by its sockets: it goes with the last of them.
        self._of_user = _of_users.setdefault(user_id, _bucket(OF_A_USER))

    def admits(self, *, is_hello: bool = False) -> bool:
        """Count a frame; False if it is one too many."""
        tokens, now = HELLO if is_hello else 1, time.monotonic()
        return self._own.take(tokens, now) and self._of_user.take(tokens, now)


def _bucket(rate: tuple[int, float]) -> Bucket:
    size, per_s = rate
    return Bucket(size=size, per_s=per_s)
