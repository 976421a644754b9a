"""The toolbar opens beside the docked panel, and lies below it."""

from tests.hosts.packages.served.on_site import OnSite


def look(here: OnSite) -> None:
    here.panel.goto("/admin/")
    here.panel.open()
    here.page.locator("#djShowToolBarButton").click()
    here.page.locator("#djHideToolBarButton").wait_for()
    here.shot("toolbar")
    assert here.covered() == []
