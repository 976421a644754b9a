"""What tells whose account it is, and ends that, stays in reach beside the panel."""

from tests.hosts.packages.served.on_site import OnSite

PHONE = {"width": 390, "height": 844}
END = ".djhj [type=submit]"


def look(here: OnSite) -> None:
    here.panel.goto("/admin/auth/user/")
    here.panel.open()
    with here.page.expect_navigation():
        here.page.locator("[data-hijack-user]").last.click()
    here.panel.goto("/admin/host/poll/1/change/")
    here.shot("of another person")
    assert here.covered() == []
    assert here.out_of_reach(END) == []
    here.page.locator("#aia-close").click()
    assert here.out_of_reach(END, "#aia-launcher") == []

    here.page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    here.shot("of another person, narrow")
    assert here.out_of_reach(END, "#aia-launcher") == []
    with here.page.expect_navigation():
        here.page.locator(END).click()
