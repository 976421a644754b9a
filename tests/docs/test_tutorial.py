import json

import pytest

from tests.docs.blocks import blocks, page, section
from tests.docs.site import own_tools

SHOP_TOOLS = "discount, list_orders, mark_paid, round_totals"


pytestmark = pytest.mark.timeout(600)  # a site is made first


@pytest.fixture(scope="module")
def site(shop_site, tmp_path_factory):
    """The site at the end of the tutorial."""
    site = shop_site.copy(tmp_path_factory.mktemp("tutorial"))
    tutorial = page("docs/tutorial.md")
    site.follow(tutorial[tutorial.index("\n## A tool that looks things up\n") :])
    return site


@pytest.fixture(scope="module")
def told(site):
    return json.loads(site.run("tutorial_session.py"))


@pytest.fixture(scope="module")
def said(site, tmp_path_factory):
    """What the model of the page says that plays without a key."""
    offline = site.copy(tmp_path_factory.mktemp("offline"))
    offline.follow(section(page("docs/tutorial.md"), "Without a key"))
    return json.loads(offline.run("offline_session.py"))


@pytest.fixture
def talks(told):
    return told["talks"]


class TestSite:
    def test_site_checks_pass(self, site):
        assert site.told["check"] == "System check identified no issues (0 silenced).\n"

    def test_doctor_knows_the_tools(self, site):
        assert own_tools(site.told["assistant_doctor"]) == SHOP_TOOLS.split(", ")


class TestTools:
    def test_tools_reads_at_once(self, talks):
        states, result = talks["list"]

        assert states == ["succeeded"]
        totals = [one["total"] for one in result["data"]]
        assert totals == ["100.00", "20.40", "30.00"]

    def test_tools_writes_after_approval(self, talks):
        states, result = talks["paid"]

        assert states == ["waiting_approval", "succeeded"]
        assert result["data"] == {"order": "Order 1 of Ada", "paid": True}

    def test_denial_is_told_to_the_model(self, talks):
        states, result = talks["deny"]

        assert states == ["waiting_approval", "succeeded"]
        assert result["status"] == "denied"
        assert "“Not that one.”" in result["error"]

    def test_mistake_is_told_to_the_model(self, talks):
        _, result = talks["unknown"]

        assert result["error"] == (
            "Order 7777 does not exist. Call list_orders to see the ids."
        )

    def test_tools_asks_which_of_the_two_that_are_left(self, talks):
        states, result = talks["ask"]

        assert states == ["waiting_answer", "succeeded"]
        labels = [one["label"] for one in result["options"]]
        assert labels == ["Order 2 of Ada", "Order 3 of Ada"]
        assert result["data"] == {"order": "Order 2 of Ada", "total": "18.36"}

    def test_tools_asks_nothing_about_one(self, talks):
        states, result = talks["one"]

        assert states == ["succeeded"]
        assert result["data"]["order"] == "Order 4 of Bob"

    def test_tools_takes_long(self, talks):
        states, result = talks["round"]

        assert states == ["waiting_approval", "succeeded"]
        assert result["data"] == {"orders": 4}
        assert result["progress"] == 1

    def test_rows_in_the_end(self, told):
        assert told["rows"] == [
            ["Ada", "100.00", True],
            ["Ada", "18.00", False],
            ["Ada", "30.00", False],
            ["Bob", "9.00", False],
        ]


class TestWithoutKey:
    def test_without_key_calls_the_tool_that_the_message_names(self, said):
        states, text = said["called"]

        assert states == ["waiting_approval", "succeeded"]
        assert text.startswith("The tool answers: ")
        assert 'of Ada", "paid": true' in text

    def test_without_key_names_the_tools_otherwise(self, said):
        states, text = said["lost"]

        assert states == ["succeeded"]
        assert text.startswith("Name one of these tools: ")
        assert all(name in text for name in SHOP_TOOLS.split(", "))


class TestTesting:
    def test_tests_pass(self, site):
        for block in blocks(page("docs/testing.md")):
            if block.file:
                site.write(block)

        site.give("test shop")
