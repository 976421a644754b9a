"""
The calls that a page carries out: one tab claims one, and says what came of it.

The request is a row that every open tab of the conversation is told of. The first
claim wins and holds a lease; the first result of its holder is the call's result.
"""

import hmac
from dataclasses import dataclass, replace
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.engine.lifecycle.finish import outcome_unknown
from ai_assistant.engine.lifecycle.scope import RunScope
from ai_assistant.engine.lifecycle.waits import (
    Decided,
    close_interrupts,
    record_result,
    settle_wait,
)
from ai_assistant.engine.storage.eventlog import append
from ai_assistant.engine.storage.lease import database_now, pass_by_state
from ai_assistant.engine.storage.units import unit
from ai_assistant.events import Event
from ai_assistant.exceptions import LostLease, Refused
from ai_assistant.models.call import ToolCall
from ai_assistant.models.clock import Now
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import UNFINISHED, Run
from ai_assistant.safety.identity.permissions import fresh_user
from ai_assistant.tools.page.navigate import NAVIGATE_TO, landed
from ai_assistant.types import JSON, ToolResult, UserKey

VALUE_CHARS = 32_000  # of what a page returns
ERROR_CHARS = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class FromPage:
    """
    What a page says of a request. `tab` is an id of its own making.

    `code` is empty if all went well, else `missing`, `unsaved`, `stayed` or `failed`; then
    `error` is a text of the page's own code.
    """

    user_id: UserKey
    interrupt_id: UUID
    nonce: str
    tab: str
    value: JSON = None
    code: str = ""
    error: str = ""
    path: str = ""  # of the page that says it


@unit
def claim(said: FromPage) -> bool:
    """
    Give the request to a tab, or renew its lease; False if another has it.

    Raise Refused: not_found as below, no_tab if the page does not say which it is.
    """
    interrupt = _found(said)
    _check_tab(said)
    _lock(interrupt.run)
    mine = Interrupt.objects.filter(
        pk=interrupt.pk,
        status=Interrupt.Status.OPEN,
        tab__in=("", said.tab),
        expires_at__gt=Now(),
    )
    lease_until = database_now() + float(conf.get("BROWSER_LEASE_S"))
    return bool(mine.update(tab=said.tab, lease_until=lease_until))


def with_page(said: FromPage) -> FromPage:
    """Return the report of a navigation with what is on the new page. Blocks."""
    interrupt = _found(said)
    if interrupt.call.name != NAVIGATE_TO or said.code:
        return said
    context = RunScope(interrupt.run, fresh_user(said.user_id)).context
    return replace(said, value=landed(context, said.path, said.value))


def finish_now(said: FromPage) -> Decided:
    """
    Store what the page reports as the result of its call, once. Call it in a unit.

    Raise Refused: not_found for another user's or a wrong nonce, already_answered
    if there is a result, or if another tab has the request, no_tab without one.
    """
    interrupt = _found(said)
    if said.code != "missing":
        _check_tab(said)
    _lock(interrupt.run)
    # Nobody has claimed what a page says that it does not know.
    holder = "" if said.code == "missing" else said.tab
    own = Interrupt.objects.filter(pk=interrupt.pk, tab=holder)
    result = _result(interrupt.call, said)
    return _store(interrupt, own, Interrupt.Status.DONE, result)


finish_call = unit(finish_now)


def late_requests() -> QuerySet[Interrupt]:
    """Return the requests that nobody took in time, or whose tab has gone silent."""
    claimed_and_silent = ~Q(tab="") & Q(lease_until__lt=database_now())
    return Interrupt.objects.filter(
        Q(expires_at__lt=Now()) | claimed_and_silent,
        kind=Interrupt.Kind.BROWSER,
        status=Interrupt.Status.OPEN,
    )


@unit
def end_late(interrupt_id: UUID) -> Decided:
    """End a late request: unknown if a tab had begun with it, else failed."""
    interrupt = Interrupt.objects.select_related("run", "call").get(pk=interrupt_id)
    _lock(interrupt.run, waits=False)  # else the next sweep does it
    own = late_requests().filter(pk=interrupt.pk)
    interrupt.refresh_from_db(fields=["tab"])
    if interrupt.tab:
        result = outcome_unknown(interrupt.call)
        return _store(
            interrupt, own, Interrupt.Status.EXPIRED, result, call_status="unknown"
        )
    result = ToolResult(
        ok=False,
        error=_("No page was open that could do this."),
        error_type="no_page",
        suggestion=_("Tell the person to open the page, then try again."),
    )
    return _store(interrupt, own, Interrupt.Status.EXPIRED, result)


def _found(said: FromPage) -> Interrupt:
    interrupt = (
        Interrupt.objects.select_related("run", "call")
        .filter(
            pk=said.interrupt_id,
            run__user_id=said.user_id,
            kind=Interrupt.Kind.BROWSER,
        )
        .first()
    )
    if interrupt is None or not hmac.compare_digest(
        interrupt.nonce.encode(), said.nonce.encode()
    ):
        raise Refused("not_found", _("This request does not exist."))
    return interrupt


def _check_tab(said: FromPage) -> None:
    """Raise Refused without a tab: "" is what a row has that nobody has claimed."""
    if not said.tab:
        raise Refused("no_tab", _("The page did not say which tab it is."))


def _lock(run: Run, *, waits: bool = True) -> None:
    try:
        pass_by_state(run.pk, tuple(UNFINISHED), waits=waits)
    except LostLease as error:
        raise _too_late() from error


def _store(
    interrupt: Interrupt,
    own: QuerySet[Interrupt],
    status: str,
    result: ToolResult,
    *,
    call_status: str = "",
) -> Decided:
    facts: list[Event] = [*close_interrupts(own, status)]
    if not facts:
        raise _too_late()
    run = interrupt.run
    facts += record_result(interrupt.call, result, status=call_status)
    queued = settle_wait(run.pk)
    first = pass_by_state(run.pk, tuple(UNFINISHED), events=len(facts))
    append(run.pk, facts, first_seq=first, epoch=run.epoch)
    return Decided(run_id=run.pk, conversation_id=run.conversation_id, queued=queued)


def _too_late() -> Refused:
    return Refused("already_answered", _("This was done already, or in another tab."))


def _result(call: ToolCall, said: FromPage) -> ToolResult:
    if not said.code:
        return ToolResult(ok=True, data=said.value)
    name = {"name": call.label or call.name}
    if said.code == "missing":
        return ToolResult(
            ok=False,
            error=_("“%(name)s” is not available on this page.") % name,
            error_type="not_on_page",
            suggestion=_("Do without it, or tell the person."),
        )
    if said.code == "unsaved":
        return ToolResult(
            ok=False,
            error=_("The page has unsaved changes. It was not left."),
            error_type="unsaved_changes",
            suggestion=_("Ask the person to save or discard them first."),
        )
    if said.code == "stayed":
        return ToolResult(
            ok=False,
            error=_("The person wanted to stay on this page."),
            error_type="stayed",
            suggestion=_("Do without it, or tell the person."),
        )
    return ToolResult(
        ok=False,
        error=_("The page could not do “%(name)s”: %(text)s")
        % {**name, "text": said.error[:ERROR_CHARS]},
        error_type="page_error",
    )
