"""What was asked of the server, and how each request ended."""

import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(kw_only=True, slots=True)
class Entry:
    """
    One request.

    `outcome` is done, cut, failed (a status), or closed (the client left early);
    empty while the request goes on. Times are seconds since the epoch.
    """

    number: int
    script: str
    tag: str
    step: int
    telling: int  # 1 for the first time that this is asked
    started: float = field(default_factory=time.time)
    first_byte: float | None = None
    ended: float | None = None
    outcome: str = ""
    chunks: int = 0
    authorization: str = ""
    request: dict[str, Any] = field(default_factory=dict)

    @property
    def closed_early(self) -> bool:
        return self.outcome == "closed"


class Record:
    """All requests, and how often each was made."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.entries: list[Entry] = []
        self.tellings: Counter[tuple[str, str, int, str]] = Counter()

    def open(self, key: tuple[str, str, int, str], request: dict[str, Any]) -> Entry:
        """Begin an entry; `key` is (script, tag, step, fingerprint)."""
        self.tellings[key] += 1
        script, tag, step, _ = key
        entry = Entry(
            number=len(self.entries),
            script=script,
            tag=tag,
            step=step,
            telling=self.tellings[key],
            request=request,
        )
        self.entries.append(entry)
        return entry

    def rows(self, *, requests: bool = False) -> list[dict[str, Any]]:
        rows = [{**asdict(e), "closed_early": e.closed_early} for e in self.entries]
        if not requests:
            for row in rows:
                del row["request"]
        return rows
