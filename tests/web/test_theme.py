import re
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.test.utils import modify_settings, override_settings

import ai_assistant
from ai_assistant.web.panel.layout import bridge
from tests.docs.blocks import page, section

FOLDER = Path(ai_assistant.__file__).parent / "static" / "ai_assistant"
BRIDGES = sorted((FOLDER / "themes").glob("*.css"))
BLOCK = re.compile(r":where\(:root\) \{(.*?)\}", re.S)
DOCUMENTED = section(page("docs/panel.md"), "Theming")


@pytest.fixture(autouse=True)
def _own_site(monkeypatch):
    """Take the admin's site back from a theme that puts its own there when it loads."""
    monkeypatch.setattr(admin, "site", admin.site)
    monkeypatch.setattr(admin.sites, "site", admin.sites.site)


def with_theme(name):
    return override_settings(AI_ASSISTANT={"ENABLED": True, "PANEL": {"THEME": name}})


def public(sheet):
    return set(re.findall(r"(--aia-[\w-]+):", BLOCK.search(sheet)[1]))


class TestBridge:
    def test_admin_of_django_needs_none(self):
        assert bridge() == ""

    @pytest.mark.parametrize("app", ["unfold", "jazzmin"])
    def test_installed_theme_is_seen(self, app):
        with modify_settings(INSTALLED_APPS={"prepend": app}):
            assert bridge() == f"ai_assistant/themes/{app}.css"

    def test_theme_that_is_no_dependency_of_the_tests(self, monkeypatch):
        monkeypatch.setattr(apps, "is_installed", lambda name: "interface" in name)

        assert bridge() == "ai_assistant/themes/admin_interface.css"

    @pytest.mark.parametrize("name", ["unfold", "jazzmin", "none"])
    def test_named_one_is_taken(self, name):
        with with_theme(name):
            assert bridge() == f"ai_assistant/themes/{name}.css"

    def test_named_admin_goes_before_what_is_installed(self):
        with (
            modify_settings(INSTALLED_APPS={"prepend": "unfold"}),
            with_theme("admin"),
        ):
            assert bridge() == ""

    @pytest.mark.django_db
    def test_page_loads_it_after_the_sheet_of_the_panel(self, client):
        client.force_login(get_user_model().objects.create_superuser("root"))

        assert "ai_assistant/themes/" not in client.get("/admin/").content.decode()
        with with_theme("jazzmin"):
            html = client.get("/admin/").content.decode()

        assert html.index("panel.css") < html.index("themes/jazzmin.css")
        assert html.index("themes/jazzmin.css") < html.index("</head>")


class TestVariables:
    def test_variables_are_twelve(self):
        assert len(public((FOLDER / "panel.css").read_text())) == 12

    @pytest.mark.parametrize("file", BRIDGES, ids=lambda file: file.stem)
    def test_bridge_sets_nothing_else(self, file):
        ours = public((FOLDER / "panel.css").read_text())
        sheet = file.read_text()

        assert set(re.findall(r"(?<![-(])(--[\w-]+):", sheet)) <= ours
        # The panel's own green and amber are the system's, and some are Django's.
        if file.stem not in ("none", "admin_interface"):
            assert public(sheet) == ours

    @pytest.mark.parametrize("file", BRIDGES, ids=lambda file: file.stem)
    def test_site_can_go_before_a_bridge(self, file):
        """A rule of the site for `:root` or `html.dark` has more weight than ours."""
        text = re.sub(r"/\*.*?\*/", "", file.read_text(), flags=re.S)
        rules = re.findall(r"([^{}]+)\{([^{}]*)\}", text)

        assert rules
        for selector, body in rules:
            sets = re.search(r"--aia-[\w-]+:", body)
            assert not sets or re.fullmatch(r"\s*:where\([^()]+\)\s*", selector)

    def test_docs_list_each(self):
        rows = re.findall(r"^\| `(--aia-[\w-]+)` \|", DOCUMENTED, re.M)

        assert sorted(rows) == sorted(public((FOLDER / "panel.css").read_text()))
