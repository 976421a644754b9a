from collections.abc import Mapping
from typing import Any


class AssistantProblem(Exception):
    """
    The site has refused a request.

    `code` is stable and for programs, `detail` a sentence for people, `errors` what
    is wrong with single fields; `retry_after_s` is None if waiting does not help.
    """

    def __init__(
        self, status: int, body: Mapping[str, Any], retry_after_s: int | None = None
    ) -> None:
        self.status = status
        self.code = str(body.get("code", "unknown"))
        self.detail = str(body.get("detail", ""))
        self.errors: list[dict[str, str]] = list(body.get("errors", []))
        self.retry_after_s = retry_after_s
        super().__init__(f"{status} {self.code}: {self.detail}")


class NotInTime(Exception):
    """The run goes on, but longer than the caller waits."""
