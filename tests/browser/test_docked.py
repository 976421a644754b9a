"""A docked panel leaves the pages of the admin enough room to be used."""

import pytest

EDGES = """query => {
    const box = document.querySelector(query).getBoundingClientRect();
    return [box.left, box.right];
}"""


def edges(panel, query):
    """Return the left and the right edge of an element, in pixels."""
    return panel.page.evaluate(EDGES, query)


@pytest.mark.parametrize("width", [1280, 1366, 1440])
class TestBesideThePage:
    @pytest.fixture
    def docked(self, server, visit, width):
        panel = visit(server, viewport={"width": width, "height": 800}).panel()
        panel.open()
        return panel

    def test_index_is_not_cut(self, docked):
        docked.goto("/admin/")

        assert edges(docked, "#content-related")[1] < edges(docked, "#aia")[0]

    def test_actions_are_not_under_the_filter(self, docked):
        docked.goto("/admin/questionnaires/questionnaire/")

        filter_from, filter_to = edges(docked, "#changelist-filter")
        assert edges(docked, ".actions select")[1] < filter_from
        assert edges(docked, ".actions button")[1] < filter_from
        assert filter_to < edges(docked, "#aia")[0]
