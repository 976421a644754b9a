"""A long answer in a slow browser: what blocks, what lags, what keys cost."""

from dataclasses import dataclass, field
from typing import Any

from tests.bench.markdown import places
from tests.bench.throttled import task_ms
from tests.browser.panel import Panel
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import text

KEY_PAUSE_MS = 120
WATCH = r"""() => {
  const seen = (window.benchSeen = { tasks: [], keys: [], shown: [] });
  const durations = (list, into) => {
    for (const entry of list.getEntries())
      if (entry.entryType !== "event" || entry.name === "keydown")
        into.push(entry.duration);
  };
  const see = (type, into, more) =>
    new PerformanceObserver((list) => durations(list, into)).observe({ type, ...more });
  see("longtask", seen.tasks);
  see("event", seen.keys, { durationThreshold: 16 });
  const last = () => {
    const blocks = document.querySelectorAll("#aia-log .aia-body > .aia-b");
    for (let n = blocks.length - 1; n >= Math.max(0, blocks.length - 3); n -= 1) {
      const found = [...blocks[n].textContent.matchAll(/[a-z](\d+)/g)].at(-1);
      if (found) return Number(found[1]);
    }
    return 0;
  };
  setInterval(() => seen.shown.push([Date.now(), last()]), 50);
}"""


@dataclass(kw_only=True, slots=True)
class Watched:
    """Milliseconds, all of them. `lags`: between the model's text and the page's."""

    tasks: list[float] = field(default_factory=list)  # those over 50 ms
    keys: list[float] = field(default_factory=list)  # key to the next paint
    lags: list[float] = field(default_factory=list)
    typed: int = 0
    thread: float = 0.0  # processor time of the page's main thread, in all


def watched_answer(
    panel: Panel, model: ModelServerProcess, said: str, rate: int
) -> Watched:
    """Let the model say `said`, type meanwhile, and return what was seen."""
    model.script("long", [text(said, rate=rate)])
    model.clear()
    panel.new_conversation()
    panel.page.evaluate(WATCH)
    debugger = panel.page.context.new_cdp_session(panel.page)
    debugger.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = task_ms(debugger)
    panel.ask("[[script:long]]")
    panel.wait_words(5)
    typed = _type_until_done(panel)
    panel.wait_done()
    thread = task_ms(debugger) - before
    seen: dict[str, Any] = panel.page.evaluate("window.benchSeen")
    begin = max(model.log(), key=lambda row: row["chunks"])["first_byte"]
    lags = _lags(seen["shown"], places(said), begin * 1000, rate)
    # A key that took less than the browser's least figure is not told.
    keys = [*seen["keys"], *[16.0] * (typed - len(seen["keys"]))]
    panel.page.reload()  # ends the watch
    return Watched(
        tasks=seen["tasks"], keys=keys, lags=lags, typed=typed, thread=thread
    )


def _type_until_done(panel: Panel) -> int:
    panel.input.focus()
    typed = 0
    while panel.state in ("thinking", "streaming"):
        panel.page.keyboard.press("abcdefgh "[typed % 9])
        panel.page.wait_for_timeout(KEY_PAUSE_MS)
        typed += 1
    panel.input.fill("")
    return typed


def _lags(
    shown: list[list[float]], words: list[int], begin_ms: float, rate: int
) -> list[float]:
    """Return for each look how old the first word is that was said, not shown."""
    found = []
    for now, word in shown:
        if not 0 < word < len(words) - 1:
            continue
        said_ms = begin_ms + words[int(word) + 1] / rate * 1000
        found.append(max(0.0, now - said_ms))
    return found
