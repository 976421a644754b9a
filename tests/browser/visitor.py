"""A signed-in person with a browser of their own."""

from typing import Any

from playwright.sync_api import Browser, Page

from tests.browser.chromium import Watch
from tests.browser.panel import WAIT_S, Panel

VIEWPORT = {"width": 1440, "height": 900}
_sessions: dict[tuple[str, str], Any] = {}  # (server, user) -> cookies

# What stands in the field would be stored as a draft when the page is left.
FORGET = """() => {
  const field = document.getElementById("aia-input");
  if (field) field.value = "";
  localStorage.clear();
  sessionStorage.clear();
}"""


class Visitor:
    """
    One person; all pages share cookies and storage, as tabs of a browser do.

    `url` may be that of a proxy. With `fresh` the person signs in anew, else the
    session of an earlier test goes on.
    """

    def __init__(
        self,
        browser: Browser,
        url: str,
        name: str = "admin",
        *,
        fresh: bool = False,
        **options: Any,
    ) -> None:
        self.url = url
        self.name = name
        self.watch = Watch({url})
        state = None if fresh else _session(browser, url, name)
        options = {"viewport": VIEWPORT, "reduced_motion": "reduce", **options}
        self.context = browser.new_context(storage_state=state, **options)
        self.context.set_default_timeout(WAIT_S * 1000)
        self.watch.begin(self.context)
        if fresh:
            page = self.context.new_page()
            sign_in(page, url, name)
            page.close()

    def tab(self) -> Panel:
        """Open a tab; no page is loaded in it yet."""
        return Panel(self.context.new_page(), self.url)

    def panel(self, path: str = "/admin/") -> Panel:
        """Open a tab with a page of the admin, and the panel on it."""
        tab = self.tab()
        tab.goto(path)
        tab.open()
        return tab

    def start_over(self) -> Panel:
        """
        Close all tabs and forget all but the session; open a tab, panel open.

        The tab is a new one: what a test did to its page (a route, a script) ends
        with it.
        """
        old = self.context.pages
        for page in old:
            if page.url.startswith(self.url):
                page.evaluate(FORGET)
        fresh = self.context.new_page()
        for page in old:
            page.close()
        self.context.clear_cookies(name="aia_look")
        self.context.add_cookies(
            [{"name": "aia_ui", "value": "o=1&m=dock&w=400&c=", "url": self.url}]
        )
        return Panel(fresh, self.url)

    def leave(self) -> list[str]:
        """Close everything; return what must not have happened."""
        self.context.close()
        return self.watch.take()


def sign_in(page: Page, url: str, name: str) -> None:
    """Sign in over the admin's form; the password is the name."""
    page.goto(f"{url}/admin/login/?next=/admin/")
    page.fill("[name=username]", name)
    page.fill("[name=password]", name)
    page.click("[type=submit]")
    page.wait_for_url(f"{url}/admin/", timeout=WAIT_S * 1000)


def remember_session(url: str, name: str, key: str) -> None:
    """Have a person signed in by a session that the server has made."""
    cookie = {"name": "sessionid", "value": key, "domain": "127.0.0.1", "path": "/"}
    _sessions[url, name] = {"cookies": [cookie]}


def forget_sessions(url: str) -> None:
    """Forget those of an earlier server, whose port a new one has got."""
    for key in [key for key in _sessions if key[0] == url]:
        del _sessions[key]


def _session(browser: Browser, url: str, name: str) -> Any:
    if (url, name) not in _sessions:
        context = browser.new_context()
        page = context.new_page()
        sign_in(page, url, name)
        _sessions[url, name] = context.storage_state()
        context.close()
    return _sessions[url, name]
