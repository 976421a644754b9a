"""How `make docs` builds these pages as a site, with Sphinx."""

import os
import sys
from pathlib import Path

import django
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")
django.setup()  # autodoc imports what it documents

from ai_assistant import __version__  # noqa: E402
from tools.drawings import file_name  # noqa: E402

project = "ai-assistant"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]

myst_heading_anchors = 4  # so that a page can link to a heading of another one
myst_fence_as_directive = {"mermaid"}

autodoc_default_options = {"members": True}
default_role = "py:obj"  # single backticks in docstrings

html_theme = "furo"
html_title = "ai-assistant"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False

# Pages of the repository that are part of the site, by the page that includes them.
INCLUDED = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "how-to-contribute.md",
    "SECURITY.md": "reporting.md",
}


class Mermaid(Directive):
    """Show a Mermaid block as the file that `make drawings` has made of it."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the image; Sphinx warns if there is no such file."""
        page = Path(self.state.document.current_source or "").stem
        name = file_name(page, "\n".join(self.content))
        kind = self.content[0].partition("Diagram")[0]
        image = nodes.image(uri=f"drawings/{name}", alt=f"Drawing: {kind}")
        image["classes"].append("drawing")
        return [image]


def link_inside(app: Sphinx, name: str, source: list[str]) -> None:
    """Let links to pages above this folder lead to the pages that include them."""
    for outside, inside in INCLUDED.items():
        source[0] = source[0].replace(f"](../{outside}", f"]({inside}")


def setup(app: Sphinx) -> None:
    """Add what this project needs beyond the extensions."""
    app.add_directive("mermaid", Mermaid)
    app.connect("source-read", link_inside)
