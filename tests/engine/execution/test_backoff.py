"""How often something is done again, by how late it was."""

import pytest

from ai_assistant.engine.lifecycle.writer import MOST_S, Pace


class TestPace:
    def test_pace_is_steady_while_nothing_is_late(self):
        pace = Pace(0.1)
        pace.came(0.0)

        assert pace.pause_s == 0.1

    def test_pace_slows_down_while_the_loop_is_busy_and_recovers(self):
        pace = Pace(0.1)
        pace.came(0.02)

        assert pace.pause_s == pytest.approx(0.2)

        pace.came(-0.001)

        assert pace.pause_s == 0.1

    def test_pace_has_an_end(self):
        pace = Pace(0.1)
        pace.came(60)

        assert pace.pause_s == MOST_S
