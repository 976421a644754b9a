"""Look for what was altered, deleted, moved or cut off in the audit log."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from ai_assistant.models.audit import AuditEntry, AuditHead
from ai_assistant.models.change import ChangeSet
from ai_assistant.safety.audit.chain import (
    ALTERED,
    MISSING,
    PK,
    is_own_hash,
    is_own_head,
)
from ai_assistant.safety.audit.seal import FORGED, behind_s, unsealed_entries

CHUNK = 1000
MARGIN = timedelta(minutes=10)  # that clocks of processes may differ
MOST = 20  # findings; one broken place may lead to others


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """A problem of the log, and the number of its entry."""

    n: int
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class VerifiedLog:
    """
    `n` and `hash` are the end of the log, to be kept somewhere else.

    Of the entries behind it, which are not sealed yet, `unsealed` is how many there
    are, and `unsealed_s` the age of the oldest.
    """

    count: int
    n: int
    hash: str
    unsealed: int
    unsealed_s: float
    findings: tuple[AuditFinding, ...]


def verify(*, anchor: tuple[int, str] | None = None) -> VerifiedLog:
    """
    Return what is wrong with the log, at most MOST findings, in order.

    `anchor` is a number and a hash that were noted earlier: they show what even the
    head does not, an older state of the whole database put back.
    """
    head = AuditHead.objects.filter(pk=PK).first() or AuditHead(pk=PK)
    findings: list[AuditFinding] = []
    count = 0
    expected = head.first
    previous: str | None = head.first_previous  # None: not known
    entries = AuditEntry.objects.filter(n__lte=head.n).order_by("n")
    for entry in entries.iterator(chunk_size=CHUNK):
        count += 1
        is_own = is_own_hash(entry)
        findings += _check_entry(entry, expected, previous, is_own=is_own)
        # After an altered entry, it is unknown what the next one followed.
        expected, previous = entry.place + 1, entry.hash if is_own else None
        if len(findings) >= MOST:
            break
    else:
        findings += _end(head, expected, previous)
    findings += _check_emptied(head)
    findings += _check_unsealed(head)
    if anchor is not None:
        findings += _check_anchor(*anchor, head)
    return VerifiedLog(
        count=count,
        n=head.n,
        hash=head.hash,
        unsealed=unsealed_entries().count(),
        unsealed_s=behind_s(),
        findings=tuple(findings[:MOST]),
    )


def _check_entry(
    entry: AuditEntry, expected: int, previous: str | None, *, is_own: bool
) -> Iterator[AuditFinding]:
    n = entry.place
    if n < expected:
        yield AuditFinding(n, f"Entry {n} is before the log's first entry.")
        return
    if n > expected:
        yield _missing(expected, n - 1)
    if not is_own:
        yield AuditFinding(n, _alteration_text(entry))
        return
    if n == expected and previous not in (None, entry.previous):
        yield AuditFinding(n, f"Entry {n} does not follow the one before it.")
    if entry.action in (ALTERED, MISSING):
        yield AuditFinding(
            n,
            f"Before entry {n} the end of the log was tampered with: "
            "entries may be missing there.",
        )
    if entry.action == FORGED:
        yield AuditFinding(n + 1, f"Entry {n + 1} was altered before it was sealed.")
    if _is_of_another(entry):
        yield AuditFinding(
            n, f"Entry {n} names a different user than it was created for."
        )


def _is_of_another(entry: AuditEntry) -> bool:
    user_id = entry.details.get("user_id") if isinstance(entry.details, dict) else None
    return entry.user_id is not None and str(entry.user_id) != user_id


def _alteration_text(entry: AuditEntry) -> str:
    """Return the finding about an entry whose hash is not its own."""
    before = AuditEntry.objects.filter(hash=entry.previous).first()
    # Of a moved one the hash is right for the place where it was.
    places = [before.place + 1, before.place] if before is not None else []
    neighbours = range(max(1, entry.place - MOST), entry.place + MOST + 1)
    for n in [*places, *neighbours]:
        if n != entry.n and is_own_hash(entry, n=n):
            return f"Entry {entry.n} was moved: it was written as entry {n}."
    return f"Entry {entry.n} was altered."


def _missing(first: int, last: int) -> AuditFinding:
    if first == last:
        return AuditFinding(first, f"Entry {first} is missing.")
    return AuditFinding(first, f"Entries {first} to {last} are missing.")


def _end(
    head: AuditHead, expected: int, previous: str | None
) -> Iterator[AuditFinding]:
    if head.n and expected <= head.n:
        yield _missing(expected, head.n)
    elif head.n and previous not in (None, head.hash):
        yield AuditFinding(head.n, f"Entry {head.n} is not the one that was written.")
    if head.mac and not is_own_head(head):
        yield AuditFinding(head.n, "The end of the log was altered.")
    beyond = AuditEntry.objects.filter(n__gt=head.n).order_by("n").first()
    last_n = AuditHead.objects.filter(pk=PK).values_list("n", flat=True).first() or 0
    if beyond is not None and last_n < beyond.place:
        yield AuditFinding(
            beyond.place,
            f"Entry {beyond.n} is after the end of the log, which is {last_n}.",
        )


def _check_emptied(head: AuditHead) -> Iterator[AuditFinding]:
    """Find an emptied log: objects that it had entries about still exist."""
    first = AuditEntry.objects.order_by("id").first()
    change = ChangeSet.objects.order_by("created_at").first()
    if change is None or head.first > 1:  # what is older was purged
        return
    if first is None:
        text = "The log is empty, but there are changes: they were recorded in it."
        yield AuditFinding(1, text)
    elif change.created_at < first.created_at - MARGIN:
        yield AuditFinding(
            1,
            f"The log begins at {first.created_at:%Y-%m-%d %H:%M}, but there are "
            "older changes: the earlier entries were deleted.",
        )


def _check_unsealed(head: AuditHead) -> Iterator[AuditFinding]:
    """Check the unsealed entries: an altered one is found, a deleted one is not."""
    for entry in unsealed_entries().iterator(chunk_size=CHUNK):
        if not is_own_hash(entry) or _is_of_another(entry):
            yield AuditFinding(
                head.n + 1,
                f"The entry of {entry.created_at:%Y-%m-%d %H:%M:%S}, "
                "which is not sealed yet, was altered.",
            )


def _check_anchor(n: int, own_hash: str, head: AuditHead) -> Iterator[AuditFinding]:
    if n > head.n:
        yield AuditFinding(n, f"The log ends at {head.n}, but entry {n} was written.")
        return
    entry = AuditEntry.objects.filter(n=n).first()
    if entry is not None and entry.hash != own_hash:
        yield AuditFinding(n, f"Entry {n} is not the one that was noted.")
