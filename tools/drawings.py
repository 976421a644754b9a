"""
Draw the Mermaid blocks of docs/*.md as docs/drawings/*.svg: `make drawings`.

A code host draws these blocks itself; `make docs` shows the files, so that the site
asks no other server for a script. A file is named after its page and the digest of its
block. Needs npm, from which Mermaid comes, and a Chromium.
"""

import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs"
FOLDER = PAGES / "drawings"
MERMAID = "mermaid@12.3.0"
BLOCK = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Text and not HTML in the labels, since such files are shown as images.
DRAW = """async source => {
  mermaid.initialize({
    startOnLoad: false, theme: "neutral", htmlLabels: false, fontSize: 14,
    fontFamily: "Arial, Helvetica, sans-serif",
    flowchart: {htmlLabels: false, wrappingWidth: 420, rankSpacing: 36},
    sequence: {actorMargin: 12, width: 110, mirrorActors: false},
  });
  const { svg } = await mermaid.render("drawing", source);
  const width = svg.match(/viewBox="\\S+ \\S+ ([0-9.]+)/)[1];
  return svg.replace('width="100%"', `width="${width}"`);  // not as wide as its page
}"""


def file_name(page: str, source: str) -> str:
    """Return the name of the file of one block of a page."""
    digest = hashlib.sha256(source.strip().encode()).hexdigest()
    return f"{page}-{digest[:12]}.svg"


def drawings() -> dict[str, str]:
    """Return the source of each drawing by the name of its file."""
    return {
        file_name(path.stem, source): source
        for path in sorted(PAGES.glob("*.md"))
        for source in BLOCK.findall(path.read_text(encoding="utf-8"))
    }


def draw(sources: list[str], script: Path) -> Iterator[str]:
    """Draw each source in a browser that has loaded Mermaid."""
    from tests.browser.chromium import chromium  # noqa: PLC0415 - `make docs` needs none

    with chromium() as browser:
        page = browser.new_page()
        page.set_content("<body></body>")
        page.add_script_tag(path=script)
        for source in sources:
            yield page.evaluate(DRAW, source)


def mermaid(folder: Path) -> Path:
    """Install Mermaid into `folder` unless it is there, and return its script."""
    script = folder / "node_modules" / "mermaid" / "dist" / "mermaid.min.js"
    if not script.is_file():
        if shutil.which("npm") is None:
            sys.exit(
                "make drawings needs npm. Install it (Debian: apt-get install npm)."
            )
        install = ["npm", "install", "--silent", "--ignore-scripts", "--prefix"]
        subprocess.run([*install, str(folder), MERMAID], check=True)
    return script


def main() -> None:
    """Draw what has changed, and remove drawings of blocks that are gone."""
    FOLDER.mkdir(exist_ok=True)
    wanted = drawings()
    for file in FOLDER.glob("*.svg"):
        if file.name not in wanted:
            file.unlink()
    new = [name for name in wanted if not (FOLDER / name).is_file()]
    if not new:
        return
    drawn = draw([wanted[name] for name in new], mermaid(ROOT / "build" / "mermaid"))
    for name, svg in zip(new, drawn, strict=True):
        (FOLDER / name).write_text(f"{svg}\n", encoding="utf-8")
        print(f"docs/drawings/{name}")


if __name__ == "__main__":
    main()
