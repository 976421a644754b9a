"""Layout shift of pages, and when the panel is first seen on them."""

from dataclasses import dataclass

from playwright.sync_api import Browser, Page

from tests.bench.report import emit, median
from tests.bench.throttled import NETWORK, slow_down
from tests.browser.visitor import VIEWPORT, sign_in

OPEN = "o=1&m=dock&w=400"
PAGES = {
    "index": "/admin/",
    "changelist": "/admin/auth/user/",
    "form": "/admin/questionnaires/questionnaire/4/change/",
}
ROUNDS = 5
# From the first frame on: a panel that is laid out there is painted with that frame.
WATCH = """() => {
  const seen = (window.benchSeen = { panel: null, shift: 0 });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      if (!entry.hadRecentInput) seen.shift += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  const look = (now) => {
    const panel = document.querySelector("#aia-input");
    if (panel?.checkVisibility() && panel.getBoundingClientRect().width) seen.panel = now;
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""
READ = """() => new Promise((done) => setTimeout(() => {
  const first = performance.getEntriesByName("first-contentful-paint")[0];
  done({ ...window.benchSeen, first: first?.startTime ?? null });
}, 800))"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """`shift` is the cumulative layout shift, `lead_ms` paint minus panel."""

    shift: float
    lead_ms: float  # how long before the first contentful paint the panel stood


def watched_page(
    browser: Browser, url: str, layout: str, *, slow: bool
) -> dict[str, list[Seen]]:
    """Load each page ROUNDS times; `layout` is the cookie of the panel."""
    context = browser.new_context(viewport=VIEWPORT)  # type: ignore[arg-type]
    page = context.new_page()
    sign_in(page, url, "admin")
    if layout:
        context.add_cookies([{"name": "aia_ui", "value": layout, "url": url}])
    page.add_init_script(f"({WATCH})()")
    if slow:
        debugger = slow_down(page)
        debugger.send("Network.enable")
        debugger.send("Network.emulateNetworkConditions", NETWORK)
    found: dict[str, list[Seen]] = {name: [] for name in PAGES}
    for _ in range(ROUNDS):
        for name, path in PAGES.items():
            found[name].append(_load(page, f"{url}{path}"))
    context.close()
    return found


def _load(page: Page, address: str) -> Seen:
    page.goto(address)
    seen = page.evaluate(READ)
    known = None not in (seen["panel"], seen["first"])
    lead_ms = seen["first"] - seen["panel"] if known else float("nan")
    return Seen(shift=seen["shift"], lead_ms=lead_ms)


def measure_shift(browser: Browser, urls: dict[str, str], note: str) -> None:
    """Print shift of pages with the open and the closed panel, and without."""
    own = watched_page(browser, urls["without"], "", slow=True)
    for state, layout in (("closed", ""), ("open", OPEN)):
        seen = watched_page(browser, urls["with"], layout, slow=True)
        for name in PAGES:
            shifts = [one.shift for one in seen[name]]
            before = median([one.shift for one in own[name]])
            said = f"the page's own: {before:.4f}; worst {max(shifts):.4f}; {note}"
            label = f"layout_shift_{state}_{name}"
            emit(label, median(shifts), "CLS", n=ROUNDS, note=said)
            if layout:
                leads = [one.lead_ms for one in seen[name]]
                label = f"panel_before_first_paint_{name}"
                said = f"least {min(leads):.0f}; at least 0 is asked; {note}"
                emit(label, median(leads), "ms", n=ROUNDS, note=said)
