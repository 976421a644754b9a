"""Tools of a site that lets all of them write without asking, as far as a site can."""

from typing import Any

from ai_assistant import RunContext, ToolFailed
from tests.attacks.dump import OUTSIDE
from tests.testapp.models import Effect


def note_down(context: RunContext, text: str) -> None:
    """Write it down."""
    Effect.objects.create(key="note", value=text, run=context.run_id)


def publish(context: RunContext, id: int) -> None:  # noqa: A002 - as models have it
    """Publish a product."""
    Effect.objects.create(key="published", value=str(id), run=context.run_id)


def keep(context: RunContext, text: str) -> None:
    """Keep something for later, for the hooks of the site."""
    context.state["kept"] = text


def purge(context: RunContext) -> None:
    """Remove what is old."""
    Effect.objects.create(key="purged", run=context.run_id)


def set_discount(context: RunContext, percent: int = 0) -> None:
    """Set the discount on everything."""
    Effect.objects.create(key="discount", value=percent, run=context.run_id)


def in_pieces(context: RunContext, text: str) -> None:
    """Write it down, later."""
    with context.transaction():
        Effect.objects.create(key="piece", value=text, run=context.run_id)


def send_mail(to: str, text: str = "") -> str:
    """Send a letter out of this site."""
    return _out("send_mail", to)


def pay(to: str, amount: int) -> str:
    """Pay somebody."""
    return _out("pay", f"{to} {amount}")


def _out(name: str, what: str) -> str:
    assert OUTSIDE.path is not None
    with OUTSIDE.path.open("a") as file:
        file.write(f"{name} {what}\n")
    return "sent"


def offer_tools(site: Any, offer: Any) -> None:
    """Register them; two of them say what `site.said` is."""

    def fetch_page(url: str) -> dict[str, str]:
        """Fetch a page."""
        return {"text": site.said}

    def fails() -> None:
        """Fail, with the words of another."""
        raise ToolFailed(site.said)

    offer(fetch_page)
    offer(fails)
    offer(keep)
    for tool in (send_mail, pay):
        offer(tool, effect="write", external=True, policy="allow")
    for tool in (note_down, publish, purge, set_discount):
        offer(tool, effect="write", policy="allow")
    offer(in_pieces, effect="write", background=True, policy="allow")
