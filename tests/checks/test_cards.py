"""Icons, templates and levels that a tool names and that are not there."""

import pytest
from django.template.loader import get_template

from ai_assistant.checks import check_assistant
from ai_assistant.checks.tools import ICONS
from ai_assistant.types import IMPORTANCES


def nothing(amount: int = 1) -> None: ...


@pytest.mark.row("T15")
class TestIcon:
    def test_misspelt(self, with_tool, only):
        tool = with_tool(nothing, icon="serch")

        assert only() == (
            "ai_assistant.W098",
            f"{tool} has the icon 'serch', which does not exist. | Use 'search'.",
        )

    def test_unknown_lists_those_there_are(self, with_tool, only):
        with_tool(nothing, icon="banana")

        assert (
            ", search, edit, table, chart, mail, user, file, book, clock," in only()[1]
        )

    @pytest.mark.parametrize("icon", ["", "chart"])
    def test_right_one(self, with_tool, icon):
        with_tool(nothing, icon=icon)

        assert check_assistant() == []

    def test_one_that_the_site_has_added(self, with_tool, site_templates):
        own = '<symbol id="aia-i-banana" viewBox="0 0 16 16"><path d="M3 3"/></symbol>'
        site_templates(ICONS, get_template(ICONS).template.source + own)
        with_tool(nothing, icon="banana")

        assert check_assistant() == []


@pytest.mark.row("L06")
class TestTemplate:
    def test_template_not_found(self, with_tool, only):
        tool = with_tool(nothing, template="shop/card.html")

        assert only() == (
            "ai_assistant.E099",
            f"{tool} has the template 'shop/card.html', which cannot be found. | Give "
            "a path below the 'templates' folder of an installed app, for example "
            "'ai_assistant/tools/tool.html'; that one need not be named.",
        )

    def test_template_not_readable(self, with_tool, only, site_templates):
        site_templates("shop/card.html", "{% if %}")
        tool = with_tool(nothing, template="shop/card.html", renders_only=True)

        check_id, text = only()
        assert check_id == "ai_assistant.E099"
        assert f"{tool} has the template 'shop/card.html', which cannot be" in text

    def test_right_one(self, with_tool):
        with_tool(nothing, template="ai_assistant/tools/measure.html")

        assert check_assistant() == []


@pytest.mark.row("T24")
class TestImportance:
    def test_unknown_importance_is_an_error(self, with_tool, only):
        tool = with_tool(nothing, importance="urgent")

        assert only() == (
            "ai_assistant.E088",
            f"{tool} has the importance 'urgent'. | "
            "Use 'low', 'medium', 'high' or 'critical', or leave it out.",
        )

    @pytest.mark.parametrize("importance", [None, *IMPORTANCES])
    def test_known(self, with_tool, importance):
        with_tool(nothing, importance=importance)

        assert check_assistant() == []
