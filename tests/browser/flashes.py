"""What a page shows for some seconds stays, for a busy machine looks later than that."""

import re
from pathlib import Path

from playwright.sync_api import Page

import ai_assistant

STATIC = Path(ai_assistant.__file__).parent / "static" / "ai_assistant"
KEEP = """shown => {
  const real = window.setTimeout;
  window.setTimeout = (work, ms, ...given) =>
    real(work, ms === shown ? 2 ** 31 - 1 : ms, ...given);
}"""


def keep_shown(page: Page, script: str, times: int = 1) -> None:
    """Let stay what a script of the panel shows for SHOWN_MS, or `times` as long."""
    found = re.search(r"\bSHOWN_MS = (\d+);", (STATIC / script).read_text())
    assert found, script
    shown_ms = int(found[1]) * times
    page.evaluate(KEEP, shown_ms)
    page.add_init_script(f"({KEEP})({shown_ms})")  # on the pages after this one, too
