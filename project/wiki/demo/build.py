"""Makes pages from `pages/*.md`: the title, an empty line, the text."""

from pathlib import Path

from project.wiki.models import Page

PAGES = Path(__file__).parent / "pages"


def build() -> dict[str, int]:
    """Create the pages unless there are any; return how many."""
    if Page.objects.exists():
        return {}
    made = [_page(path) for path in sorted(PAGES.glob("*.md"))]
    return {"wiki pages": len(Page.objects.bulk_create(made))}


def _page(path: Path) -> Page:
    title, _empty, text = path.read_text(encoding="utf-8").partition("\n\n")
    return Page(slug=path.stem, title=title.lstrip("# "), text=text.strip())
