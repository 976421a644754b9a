"""Content security policies: of nonces alone, and of Trusted Types."""

from collections.abc import Callable
from pathlib import Path

import django
import pytest

from tests.browser.panel import Panel
from tests.browser.sites import site
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess

Visit = Callable[..., Visitor]
TYPED = "default-src 'self'; require-trusted-types-for 'script'; trusted-types {names}"
NONCED = (
    "default-src 'self'; script-src 'self' 'nonce-{{nonce}}'; "
    "require-trusted-types-for 'script'; trusted-types {names}"
)
HTMX_WITH_CSP = {
    "scripts": ["hosts/htmx-4.0.1.min.js", "hosts/hx-csp.min.js"],
    "config": {"extensions": "hx-csp"},
}


def go_through(panel: Panel) -> None:
    """Ask, approve, answer, stop and look at the list, as a person does."""
    panel.ask("[[script:quick-report]]")
    assert panel.wait_done().text.strip().endswith("the report ends here.")
    panel.ask("[[script:approval]]")
    panel.wait_state("waiting-approval")
    panel.approve()
    panel.wait(lambda: panel.state == "idle", "the end")
    assert panel.wait_done(2).text.endswith("That is settled.")
    panel.ask("[[script:stream tokens=4000 rate=20]]")
    panel.wait(lambda: len(panel.answers()) == 3, "the third answer")
    panel.wait_words(5)
    panel.stop()
    panel.wait_state("stopped")


@pytest.mark.skipif(django.VERSION < (6, 0), reason="the policy is one of Django 6")
@pytest.mark.scenario(19)
def test_everything_works_on_every_page_with_nonces_alone(
    visit: Visit, tmp_path: Path, model: ModelServerProcess
) -> None:
    with site(tmp_path, model, "hosts.secure_settings") as nonced:
        visitor = visit(nonced)
        panel = visitor.panel()
        go_through(panel)
        panel.list_conversations()
        assert panel.page.locator("#aia-list").count() == 1
        assert visitor.watch.troubles() == []
        for path in ("/assistant/", "/admin/auth/group/add/"):
            panel.goto(path)  # the sheets are let in
            display = panel.page.locator(".aia-head").first.evaluate(
                "head => getComputedStyle(head).display"
            )
            assert display in ("flex", "grid"), path
            assert visitor.watch.troubles() == []


@pytest.mark.scenario(20)
def test_panel_works_with_its_own_trusted_types_policy_alone(
    visit: Visit, tmp_path: Path, model: ModelServerProcess
) -> None:
    policy = TYPED.format(names="ai-assistant")
    with site(tmp_path, model, "live_settings", TESTS_CSP=policy) as server:
        visitor = visit(server)
        panel = visitor.panel()
        go_through(panel)
        panel.list_conversations()
        assert panel.page.evaluate("typeof htmx") == "undefined"
        assert panel.page.locator("meta[name=htmx-config]").count() == 0
        assert visitor.watch.troubles() == []

        # A window is placed without an inline style.
        cookie = {"name": "aia_ui", "value": "o=1&m=float&w=400&p=20.10.5"}
        panel.page.goto("about:blank")
        panel.page.context.add_cookies([{**cookie, "url": panel.url}])
        panel.goto()
        assert panel.root.get_attribute("style") is None
        assert panel.root.bounding_box() == {
            "x": 1440 - 200 - 400,
            "y": 900 - 100 - 400,
            "width": 400,
            "height": 400,
        }
        assert visitor.watch.troubles() == []


@pytest.mark.scenario(20)
def test_panel_works_beside_htmx_and_its_csp_extension(
    visit: Visit, tmp_path: Path, model: ModelServerProcess
) -> None:
    """Whose gate lets no element pass without a nonce: it sees none of the panel's."""
    policy = NONCED.format(names="ai-assistant htmx")
    with site(
        tmp_path, model, "hosts.settings", host=HTMX_WITH_CSP, TESTS_CSP=policy
    ) as server:
        panel = visit(server).panel()
        go_through(panel)
        panel.page.locator("#host-button").click()
        panel.page.locator("#host-said").get_by_text("status").wait_for()
        assert panel.page.evaluate("htmx.version") == "4.0.1"
