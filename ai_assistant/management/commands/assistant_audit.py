import json
import sys
from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from ai_assistant.engine.queries import stored_conversations
from ai_assistant.models.audit import AuditEntry
from ai_assistant.safety.audit import seal_all, verify
from ai_assistant.safety.audit.seal import anchor_later

EMPTY = (
    "The log is empty, but there are runs. It was emptied, unless all of them ended well "
    "and none called a tool that changes anything. With AUDIT['STARTS'] each has an entry."
)


class Command(BaseCommand):
    """Verify the audit log, or show what it says."""

    help = (
        "Find entries of the audit log that were altered, deleted, moved or cut off, "
        "or show entries."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="does", metavar="verify | seal | show")
        check = actions.add_parser("verify", help="exit 1 if the log is not intact")
        check.add_argument(
            "--anchor", metavar="N:HASH", help="the end of the log as it was noted"
        )
        actions.add_parser("seal", help="seal the entries that are not sealed yet")
        show = actions.add_parser("show", help="one JSON object per line, oldest first")
        show.add_argument("--run", type=UUID, help="the id of a run")
        show.add_argument("--user", help="the name of a user")
        show.add_argument(
            "--last",
            type=int,
            default=100,
            help="how many entries to show; default 100",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        match options["does"]:
            case "verify":
                self._verify(options["anchor"])
            case "seal":
                self.stdout.write(f"{seal_all()} entries sealed.")
            case "show":
                self._show(options["run"], options["user"], options["last"])
            case _:
                raise CommandError(
                    "Give a subcommand: `assistant_audit verify`, `assistant_audit "
                    "seal` or `assistant_audit show`."
                )

    def _verify(self, anchor: str | None) -> None:
        result = verify(anchor=_anchor(anchor) if anchor else None)
        for finding in result.findings:
            self.stdout.write(self.style.ERROR(f"{finding.n}: {finding.text}"))
        if result.findings:
            self.stdout.write(f"The audit log of {result.count} entries is not intact.")
            sys.exit(1)
        anchor_later(result.n, result.hash)
        count = result.count + result.unsealed
        if not count and stored_conversations().exists():
            self.stdout.write(self.style.ERROR(EMPTY))
            sys.exit(1)
        self.stdout.write(f"All {count} entries are as they were written.")
        if result.unsealed:
            are = "is" if result.unsealed == 1 else "are"
            self.stdout.write(
                f"{result.unsealed} of them {are} not sealed yet; "
                f"the oldest is {result.unsealed_s:.0f} s old."
            )
        if result.n:
            self.stdout.write(f"Anchor: {result.n}:{result.hash}")

    def _show(self, run: UUID | None, user: str | None, last: int) -> None:
        entries = AuditEntry.objects.order_by("-id")
        if run:
            entries = entries.filter(run_id=run)
        if user:
            entries = entries.filter(user_name=user)
        newest = list(entries[:last])
        for entry in reversed(newest):
            self.stdout.write(json.dumps(_entry_json(entry), ensure_ascii=False))
        if not newest:
            self.stderr.write(f"The audit log has no entry{_filter_text(run, user)}.")


def _filter_text(run: UUID | None, user: str | None) -> str:
    """Return the words for what was asked for, to be put after "entry"."""
    of_run = f" of run '{run}'" if run else ""
    return of_run + (f" of user {user!r}" if user else "")


def _anchor(text: str) -> tuple[int, str]:
    n, _, own_hash = text.partition(":")
    if not n.isdecimal() or not own_hash:
        raise CommandError(
            f"--anchor is {text!r}, not a number and a hash. "
            "Give what an earlier verify printed."
        )
    return int(n), own_hash


def _entry_json(entry: AuditEntry) -> dict[str, Any]:
    return {
        "n": entry.n,
        "time": entry.created_at.isoformat(),
        "user": entry.user_name,
        "action": entry.action,
        "tool": entry.tool,
        "run": str(entry.run_id or ""),
        "call": str(entry.call_id or ""),
        "ip": entry.ip,
        "details": entry.details,
    }
