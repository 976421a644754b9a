"""
The panel has the colours of the theme, also once its row is changed.

The form beside it is not under the navigation, which folds.
"""

from tests.hosts.packages.served.on_site import OnSite

FORM = "/admin/host/poll/1/change/"
THEME = "/admin/admin_interface/theme/1/change/"
# Of the page, and what is to be the same in the panel.
COLOURS = """() => {
  const colours = (place, button) => {
    const link = document.createElement("a");
    link.href = "/admin/";
    document.querySelector(place).append(link);
    const { backgroundColor, color } = getComputedStyle(document.querySelector(button));
    const found = [backgroundColor, color, getComputedStyle(link).color];
    link.remove();
    return found;
  };
  return {
    page: colours("#content-main", "[name=_save]"),
    panel: colours("#aia-log", "#aia-launcher"),
  };
}"""
CHOSEN = {
    "css_save_button_background_color": "#7A1FA2",
    "css_save_button_text_color": "#FFFDE7",
    "css_generic_link_color": "#004D99",
}
SEEN = ["rgb(122, 31, 162)", "rgb(255, 253, 231)", "rgb(0, 77, 153)"]


def look(here: OnSite) -> None:
    here.panel.goto(FORM)
    here.panel.open()
    here.shot("beside the panel")
    assert here.out_of_reach("label[for=id_title]", "[name=_save]", ".deletelink") == []

    here.panel.goto(THEME)
    before = here.page.evaluate(COLOURS)
    assert before["panel"] == before["page"]

    for name, colour in CHOSEN.items():
        here.page.locator(f"[name={name}]").fill(colour)
    with here.page.expect_navigation():
        here.page.locator("[name=_continue]").first.click()
    here.panel.ready()
    after = here.page.evaluate(COLOURS)
    here.shot("of another theme")
    assert after == {"page": SEEN, "panel": SEEN}
