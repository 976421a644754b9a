import re

import pytest

from tests.docs.blocks import ROOT, blocks, page, section
from tests.docs.site import own_tools

README = page("README.md")
STEPS = section(README, "Add it to your site")


pytestmark = pytest.mark.timeout(600)  # a site is made first


class TestSteps:
    def test_steps_are_at_most_five(self):
        numbers = re.findall(r"^(\d)\. ", STEPS, re.MULTILINE)

        assert numbers == ["1", "2", "3", "4", "5"]

    def test_install_what_the_package_offers(self):
        (names,) = re.findall(r"pip install daphne '\.\[(\w+)\]'", STEPS)

        assert f"\n{names} = [" in page("pyproject.toml")

    def test_doctor_passes(self, readme_site):
        told = readme_site.told["assistant_doctor"]

        assert "\nNothing prevents a chat. The key was not tried:" in told

    def test_pages_have_the_panel(self, readme_site):
        pages = readme_site.run("readme_session.py")

        assert pages.count('id="aia"') == 2

    def test_sample_is_a_good_tool(self, shop_site, tmp_path):
        site = shop_site.copy(tmp_path)
        (sample,) = [one for one in blocks(README) if one.file == "shop/assistant.py"]
        site.write(sample)

        site.give("check", "assistant_doctor")

        assert "no issues" in site.told["check"]
        assert own_tools(site.told["assistant_doctor"]) == ["mark_paid"]


class TestLinks:
    @pytest.mark.parametrize(
        "name",
        [
            *(file.name for file in ROOT.glob("*.md")),
            *(f"docs/{file.name}" for file in ROOT.glob("docs/*.md")),
        ],
    )
    def test_lead_to_files_and_headings(self, name):
        folder = (ROOT / name).parent
        for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page(name)):
            path, _, anchor = target.partition("#")
            file = folder / path if path else ROOT / name
            assert file.is_file(), target
            if anchor:
                assert anchor in headings(file.read_text()), target


def headings(text):
    names = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", name.lower()).replace(" ", "-") for name in names}
