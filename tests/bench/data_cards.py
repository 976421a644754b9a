"""A card that asks for approval: from its stored row to HTML, and on the screen."""

import shutil
from collections.abc import Callable

from playwright.sync_api import sync_playwright

from ai_assistant.changes.stored import to_json
from ai_assistant.changes.values import Changes, FieldChange, ObjectChange
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.render.html.fragments import fragment
from ai_assistant.render.html.transcript.thread import read_pinned
from tests.bench.data_rows import PAGE, Rows, timed
from tests.bench.report import emit, median
from tests.bench.sizes import STATIC
from tests.browser.chromium import FLAGS
from tests.render.html.tab import panel

COUNT = 50
MEGABYTE = 1_000_000
# From the fragment as it comes to the end of its layout.
SHOW = """html => { const pinned = document.getElementById("aia-pinned");
  pinned.replaceChildren(); pinned.getBoundingClientRect();
  const begin = performance.now(); pinned.innerHTML = html;
  pinned.getBoundingClientRect(); return performance.now() - begin; }"""


def measure(rows: Rows) -> None:
    """Print the time of a card of 1,000 rows, on the server and in Chromium."""
    arguments = {
        "model": PAGE,
        "ids": [page.pk for page in rows.pages],
        "values": {"text": "Other words."},
    }
    changes = rows.preview("change_objects", **arguments)
    assert changes.total == len(rows.pages)
    rows.call.arguments = arguments
    rows.call.save()
    Interrupt.objects.create(
        run=rows.run,
        call=rows.call,
        kind=Interrupt.Kind.APPROVAL,
        nonce="nonce",
        proposal=to_json(changes),
    )

    def draw() -> str:
        return "".join(
            fragment("approval", item=item, panel=panel())
            for item in read_pinned(rows.run.conversation)
        )

    html = draw()
    assert html.count("<tr") >= 20
    times = [timed(draw) for _ in range(COUNT)]
    emit("approval_card_html", median(times), "ms", n=COUNT, note="at most 100")
    shown = median(_in_browser(html))
    note = "at most 100, with the time to draw it"
    emit("approval_card_shown", median(times) + shown, "ms", n=COUNT, note=note)
    _long(draw)


def _long(draw: Callable[[], str]) -> None:
    """Print the time of a card with a field of 1 MB, by what changes in it."""
    words = "".join(f"Sentence {n} of many. " for n in range(MEGABYTE // 22))
    after = {
        "one_word": words.replace("Sentence 20000 ", "Phrase 20000 "),
        "every_word": words.replace("Sentence", "Phrase"),
        "hidden": words.replace(" ", "\u00a0"),
    }
    for name, text in after.items():
        field = FieldChange(name="text", label="Text", before=words, after=text)
        row = ObjectChange(kind="change", model=PAGE, object_id="1", fields=(field,))
        changes = Changes(title="Change it", model=PAGE, objects=(row,), total=1)
        Interrupt.objects.update(proposal=to_json(changes))
        html = draw()
        assert len(html) < MEGABYTE / 20
        times = [timed(draw) for _ in range(COUNT)]
        shown = median(times) + median(_in_browser(html))
        note = "at most 100, with the time to draw it"
        emit(f"approval_card_1mb_{name}", shown, "ms", n=COUNT, note=note)


def _in_browser(html: str) -> list[float]:
    css = "".join(_css())
    page_html = f"<style>{css}</style><div id=aia><div id=aia-pinned></div></div>"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=[*FLAGS]
        )
        page = browser.new_page()
        page.set_content(page_html)
        times = [float(page.evaluate(SHOW, html)) for _ in range(COUNT)]
        browser.close()
    return times


def _css() -> list[str]:
    return [path.read_text() for path in sorted(STATIC.glob("*.css"))]
