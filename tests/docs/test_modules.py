"""The pages for those who write tools and modules: all their code is carried out."""

import re

import pytest

from tests.docs.blocks import ROOT, blocks, page, section

pytestmark = pytest.mark.timeout(600)  # a site is made first

MOST_LINES, MOST_STEPS = 60, 8
PAGES = (
    *("docs/tutorial-module.md", "docs/modules.md"),
    *("docs/recipes.md", "docs/hooks.md", "docs/starting.md"),
)
RECIPES = (
    "Confirm",
    "Pick",
    "Progress",
    "Only a card",
    "A browser tool",
    "Instructions for some pages",
    "Suggestions from the data",
    "A module of your own",
)


def python(name):
    return [block for block in blocks(page(name)) if block.language == "python"]


@pytest.mark.row("E05")
class TestPages:
    @pytest.mark.parametrize("name", PAGES)
    def test_every_block_has_its_file(self, name):
        assert python(name)
        assert all(block.file.startswith("shop/") for block in python(name))

    @pytest.mark.parametrize("name", PAGES)
    def test_code_passes_checks_and_its_own_tests(self, name, shop_site, tmp_path):
        site = shop_site.copy(tmp_path)
        (site.folder / "shop" / "tests.py").write_text("")
        for block in python(name):
            site.write(block)

        site.give("check", "test shop")

        assert "no issues" in site.told["check"]


class TestTutorial:
    @pytest.mark.row("N03")
    def test_what_it_says_that_one_sees(self, shop_site, tmp_path):
        site = shop_site.copy(tmp_path)
        (site.folder / "shop" / "tests.py").write_text("")
        for block in python("docs/tutorial-module.md"):
            site.write(block)
        told = ROOT / "tests" / "docs" / "seen_in_panel.py"
        (site.folder / "shop" / "test_seen.py").write_text(told.read_text())

        site.give("test shop.test_seen")

    @pytest.mark.parametrize("name", ["READ_ONLY", "ABOUT"])
    def test_words_of_the_panel_are_those_of_the_page(self, name):
        (words,) = re.findall(
            rf'^{name} = "(.+)"$', page("tests/docs/seen_in_panel.py"), re.M
        )

        told = " ".join(page("docs/tutorial-module.md").split())
        assert f"*{words}*" in told

    def test_tutorial_is_short(self):
        code = "".join(block.code for block in python("docs/tutorial-module.md"))
        lines = [one for one in code.splitlines() if one and not one.startswith("# ")]

        assert len(lines) <= MOST_LINES

    def test_tutorial_has_few_steps(self):
        steps = re.findall(r"^## (\d)\. ", page("docs/tutorial-module.md"), re.M)

        assert steps == [str(n) for n in range(1, len(steps) + 1)]
        assert len(steps) <= MOST_STEPS


@pytest.mark.row("T20")
@pytest.mark.row("T21")
def test_how_to_names_one_step_each():
    headings = re.findall(r"^## (.+)$", page("docs/modules.md"), re.M)

    assert headings[:3] == ["Add a tool", "Add a shared tool", "Add a module"]


@pytest.mark.row("E04")
def test_recipes():
    headings = re.findall(r"^## (.+)$", page("docs/recipes.md"), re.M)

    assert set(RECIPES) <= set(headings)


@pytest.mark.row("E06")
class TestArchitecture:
    def test_architecture_names_every_package(self):
        folders = (
            path.parent for path in (ROOT / "ai_assistant").glob("*/__init__.py")
        )
        table = section(page("docs/architecture.md"), "Components")

        named = re.findall(r"`([a-z_.]+)`", table)
        assert not [folder.name for folder in folders if folder.name not in named]

    def test_architecture_names_nothing_that_is_gone(self):
        text = page("docs/architecture.md")

        for name in re.findall(r"`((?:\w+/)+\w+\.py)`", text):
            assert (ROOT / "ai_assistant" / name).is_file(), name
        for name in re.findall(r"`(engine(?:\.\w+)+)`", text):
            path = ROOT / "ai_assistant" / name.replace(".", "/")
            assert path.is_dir() or path.with_suffix(".py").is_file(), name
