"""How often something is done again: more seldom while the event loop is busy."""

LATE_SHARE = 5  # a round that came 10 ms late adds 50 ms to the next pause
MOST_S = 0.5


class Pace:
    """The pause between two rounds of work that can as well be done in fewer."""

    def __init__(self, pause_s: float) -> None:
        self._least_s = pause_s
        self.pause_s = pause_s

    def came(self, late_s: float) -> None:
        """Take note of how late a round was."""
        wanted_s = self._least_s + LATE_SHARE * max(0.0, late_s)
        self.pause_s = min(MOST_S, wanted_s)
