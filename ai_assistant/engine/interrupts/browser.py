"""
Calls that a page executes: one tab claims the call, and reports its result.

The request is a row that every open tab of the conversation is notified of. The first
claim wins and holds a lease; the first result of its holder is the call's result.
"""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ai_assistant import conf
from ai_assistant.engine.interrupts.base import (
    Decided,
    InterruptKind,
    close_interrupts,
    lock_run,
    own_interrupt,
    register_kind,
    store_facts,
)
from ai_assistant.engine.interrupts.results import outcome_unknown, record_result
from ai_assistant.engine.storage.lease import database_now
from ai_assistant.engine.storage.units import unit
from ai_assistant.events import Event
from ai_assistant.exceptions import Refused
from ai_assistant.models import clock
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.clock import Now
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import Channel, Run, RunState
from ai_assistant.types import JSON, ToolDefinition, ToolResult, UserKey

VALUE_CHARS = 32_000  # of what a page returns
ERROR_CHARS = 500
# What a page says of a person who did not want to be taken elsewhere.
STAYED = {
    "stayed": gettext_lazy("The person wanted to stay on this page."),
    "left": gettext_lazy("The person went to another page by themselves."),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class FromPage:
    """
    A page's report on a request. `tab` is an id of its own making.

    `code` is empty if all went well, else `missing`, `unsaved`, `stayed`, `left` or
    `failed`; then `error` is a text of the page's own code.
    """

    user_id: UserKey
    interrupt_id: UUID
    nonce: str
    tab: str = ""
    is_client: bool = False  # reported by an AG-UI client, not by a page
    value: JSON = None
    code: str = ""
    error: str = ""
    path: str = ""  # of the page that says it


class Browser(InterruptKind):
    """Waits until a page, or an AG-UI client, has executed a request."""

    name = Interrupt.Kind.BROWSER
    run_state = RunState.WAITING_BROWSER

    def ask_page(self, call: ToolCall, tool: ToolDefinition, request: JSON) -> Event:
        """Let the call wait until a page has executed `request`."""
        waits_s = tool.execution.timeout_browser_s
        is_of_client = call.run.channel == Channel.AGUI
        if is_of_client:
            waits_s = conf.CLIENT_TOOL_S
        expires_at = clock.now() + timedelta(seconds=waits_s)
        return self.open(
            call, request=request, expires_at=expires_at, is_of_client=is_of_client
        )

    def late(self) -> Q:
        """Return the condition for requests not claimed in time, or with a lost tab."""
        claimed_and_silent = ~Q(tab="") & Q(lease_until__lt=database_now())
        return Q(expires_at__lt=Now()) | claimed_and_silent

    def expire(self, interrupt: Interrupt) -> list[Event]:
        """End a late request: unknown if a tab had claimed it, else failed."""
        # Checked again under the lock: a tab may have renewed its lease since.
        rows = Interrupt.objects.filter(self.late(), pk=interrupt.pk)
        interrupt.refresh_from_db(fields=["tab"])
        call, expired = interrupt.call, Interrupt.Status.EXPIRED
        if interrupt.tab or interrupt.is_of_client:
            unknown = outcome_unknown(call)
            return _close(rows, call, expired, unknown, call_status=CallStatus.UNKNOWN)
        result = ToolResult(
            ok=False,
            error=_("No page was open that could do this."),
            error_type="no_page",
            suggestion=_("Tell the person to open the page, then try again."),
        )
        return _close(rows, call, expired, result)


BROWSER = register_kind(Browser())


@unit
def claim_call(report: FromPage) -> bool:
    """
    Give the request to a tab, or renew its lease; False if another has it.

    Raise Refused: not_found as below, no_tab if the page does not name its tab.
    """
    interrupt = find_request(report)
    _check_tab(report)
    lock_run(interrupt.run)
    claimable = Interrupt.objects.filter(
        pk=interrupt.pk,
        status=Interrupt.Status.OPEN,
        is_of_client=False,
        tab__in=("", report.tab),
        expires_at__gt=Now(),
    )
    lease_until = database_now() + conf.BROWSER_LEASE_S
    return bool(claimable.update(tab=report.tab, lease_until=lease_until))


def finish_now(report: FromPage) -> Decided:
    """
    Store what the page reports as the result of its call, once. Call it in a unit.

    Raise Refused: not_found for another user's or a wrong nonce, already_answered
    if there is a result, or if another tab has the request, no_tab without one.
    """
    interrupt = find_request(report)
    if report.code != "missing" and not report.is_client:
        _check_tab(report)
    lock_run(interrupt.run)
    # A tool that the page does not know was not claimed by a tab.
    holder = "" if report.code == "missing" else report.tab
    claimed = Interrupt.objects.filter(
        pk=interrupt.pk, tab=holder, is_of_client=report.is_client
    )
    result = _result(interrupt.call, report)
    facts = _close(claimed, interrupt.call, Interrupt.Status.DONE, result)
    return store_facts(interrupt.run, facts)


finish_call = unit(finish_now)


def open_requests(run: Run, *, of_client: bool = False) -> QuerySet[Interrupt]:
    """Return the open requests of a run's client, or those no page has claimed."""
    still_open = run.interrupts.filter(kind=BROWSER.name, status=Interrupt.Status.OPEN)
    return still_open.filter(tab="", is_of_client=of_client)


def find_request(report: FromPage) -> Interrupt:
    """Return the request that a page names. Raise Refused not_found."""
    interrupt = own_interrupt(
        report.user_id, report.interrupt_id, report.nonce, [BROWSER.name]
    )
    if interrupt is None:
        raise Refused("not_found", _("This request does not exist."))
    return interrupt


def _check_tab(report: FromPage) -> None:
    """Raise Refused without a tab: a row that is not claimed has ""."""
    if not report.tab:
        raise Refused("no_tab", _("The page did not identify its tab."))


def _close(
    rows: QuerySet[Interrupt],
    call: ToolCall,
    status: str,
    result: ToolResult,
    *,
    call_status: str = "",
) -> list[Event]:
    """Close a request with the result of its call. Raise Refused if it is not open."""
    facts = close_interrupts(rows, status)
    if not facts:
        raise Refused(
            "already_answered", _("This was already done, here or in another tab.")
        )
    return facts + record_result(call, result, status=call_status)


def _result(call: ToolCall, report: FromPage) -> ToolResult:
    if not report.code:
        return ToolResult(ok=True, data=report.value)
    name = {"name": call.label or call.name}
    if report.code == "missing":
        return ToolResult(
            ok=False,
            error=_("“%(name)s” is not available on this page.") % name,
            error_type="not_on_page",
            suggestion=_("Do without it, or tell the person."),
        )
    if report.code == "unsaved":
        return ToolResult(
            ok=False,
            error=_("The page has unsaved changes. It was not left."),
            error_type="unsaved_changes",
            suggestion=_("Ask the person to save or discard them first."),
        )
    if report.code in STAYED:
        return ToolResult(
            ok=False,
            error=str(STAYED[report.code]),
            error_type="stayed",
            suggestion=_("Do without it, or tell the person."),
        )
    return ToolResult(
        ok=False,
        error=_("The page could not do “%(name)s”: %(text)s")
        % {**name, "text": report.error[:ERROR_CHARS]},
        error_type="page_error",
    )
