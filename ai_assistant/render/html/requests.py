"""What the page is asked to carry out: the open requests that no tab has yet."""

from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import Run
from ai_assistant.render.html.growth import Op


def requests_to_page(run: Run) -> list[Op]:
    """Return an operation for each request of `run`; a page takes each once."""
    if run.is_final:
        return []
    waiting = Interrupt.objects.filter(
        run=run, kind=Interrupt.Kind.BROWSER, status=Interrupt.Status.OPEN, tab=""
    )
    return [["event", "browser", _said(interrupt)] for interrupt in waiting]


def _said(interrupt: Interrupt) -> dict[str, object]:
    return {
        "interrupt": str(interrupt.pk),
        "nonce": interrupt.nonce,
        "name": interrupt.request["name"],
        "arguments": interrupt.request["arguments"],
    }
