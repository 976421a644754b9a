"""The client: requests to a site, and its answers and problems."""

import time
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import urljoin
from uuid import UUID, uuid4

import httpx

from ai_assistant.client.values import (
    Call,
    Change,
    Conversation,
    Event,
    Events,
    Interrupt,
    Message,
    Queued,
    Run,
    Value,
)

V = TypeVar("V", bound=Value)

WAITING = ("waiting_approval", "waiting_answer", "waiting_run")  # for a person perhaps
TIMEOUT_S = 30.0
ACCEPT = "application/json, application/problem+json"


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
    """The run did not finish within the timeout; it is still active."""


class Transport:
    """
    Speaks JSON with the API at `url`.

    Raise AssistantProblem for a refusal, httpx.HTTPError if the site is not there.
    """

    def __init__(
        self, url: str, token: str, *, timeout_s: float, http: httpx.Client | None
    ) -> None:
        self.url = url.rstrip("/") + "/"
        self.http = http or httpx.Client(timeout=timeout_s)
        self.headers = {"Accept": ACCEPT, "Authorization": f"Bearer {token}"}

    def ask(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        key: str = "",
    ) -> Any:
        """Return the JSON of the answer; None if it has none."""
        headers = {**self.headers, **({"Idempotency-Key": key} if key else {})}
        query = {
            name: value for name, value in (params or {}).items() if value is not None
        }
        response = self.http.request(
            method,
            urljoin(self.url, path),
            params=query or None,
            json=body,
            headers=headers,
        )
        if response.is_success:
            return response.json() if response.content else None
        raise _problem(response)

    def rows(self, path: str, kind: type[V], params: Mapping[str, Any]) -> Iterator[V]:
        """Yield the rows of a list, and fetch its pages on demand."""
        page = self.ask("GET", path, params=params)
        while True:
            for row in page["results"]:
                yield kind.model_validate(row)
            if not page["next"]:
                return
            page = self.ask("GET", _below(self.url, page["next"]))


def _below(url: str, address: str) -> str:
    """Return `address` at the host of `url`: a token goes nowhere else."""
    target = httpx.URL(address)
    base = httpx.URL(url)
    return str(target.copy_with(scheme=base.scheme, host=base.host, port=base.port))


def _problem(response: httpx.Response) -> AssistantProblem:
    try:
        body = response.json()
    except ValueError:  # not from the API: from a proxy, or there is none
        body = {}
    if not isinstance(body, dict):
        body = {}
    body.setdefault("detail", response.reason_phrase)
    wait = response.headers.get("Retry-After", "")
    return AssistantProblem(
        response.status_code, body, int(wait) if wait.isdigit() else None
    )


POLL_S = 0.5

Id = UUID | str


class Assistant:
    """
    The assistant of a site, for one user.

    `url` is that of the API, `https://example.com/assistant/api/`; `token` an access
    token of the user. Raise AssistantProblem for whatever the site refuses.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout_s: float = TIMEOUT_S,
        http: httpx.Client | None = None,
    ) -> None:
        self._to = Transport(url, token, timeout_s=timeout_s, http=http)

    def close(self) -> None:
        """Close the connections."""
        self._to.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- runs ---

    def start(
        self,
        text: str,
        *,
        conversation: Id | None = None,
        page_path: str = "",
        look_only: bool = False,
        key: str = "",
    ) -> Run | Queued:
        """
        Start a run. With the same `key` a second time, the same run is returned.

        While another run of the conversation works the message is Queued instead.
        """
        body: dict[str, Any] = {
            "text": text,
            "page_path": page_path,
            "look_only": look_only,
        }
        if conversation is not None:
            body["conversation"] = str(conversation)
        payload = self._to.ask("POST", "runs/", body=body, key=key or str(uuid4()))
        return (Run if "state" in payload else Queued).model_validate(payload)

    def queue(self, conversation_id: Id) -> Iterator[Queued]:
        """Yield the messages that wait in a conversation, the next one first."""
        return self._to.rows(f"conversations/{conversation_id}/queue/", Queued, {})

    def drop(self, queued: Queued) -> None:
        """Drop a waiting message."""
        path = f"conversations/{queued.conversation}/queue/{queued.id}/"
        self._to.ask("DELETE", path)

    def run(self, run_id: Id) -> Run:
        """Return a run as it is now."""
        return Run.model_validate(self._to.ask("GET", f"runs/{run_id}/"))

    def runs(self, **filters: Any) -> Iterator[Run]:
        """Yield runs, the newest first; `conversation`, `state`, `final`."""
        return self._to.rows("runs/", Run, filters)

    def stop(self, run_id: Id) -> Run:
        """Request a run to stop."""
        return Run.model_validate(self._to.ask("POST", f"runs/{run_id}/stop/"))

    def retry(self, run_id: Id, *, key: str = "") -> Run:
        """Start a run that retries an ended one, or continues it."""
        path = f"runs/{run_id}/retry/"
        return Run.model_validate(self._to.ask("POST", path, key=key or str(uuid4())))

    def wait(self, run_id: Id, *, timeout_s: float = 300.0) -> Run:
        """Return the run once it has ended or waits for a person. Raise NotInTime."""
        end = time.monotonic() + timeout_s
        while True:
            run = self.run(run_id)
            if run.is_final or run.waits_for_person:
                return run
            if time.monotonic() >= end:
                raise NotInTime(f"Run {run_id} is {run.state!r} after {timeout_s:g} s.")
            time.sleep(POLL_S)

    def events(self, run_id: Id, *, after: int = 0, limit: int = 500) -> Events:
        """Return the events of a run after a number, and its state."""
        params = {"after": after, "limit": limit}
        payload = self._to.ask("GET", f"runs/{run_id}/events/", params=params)
        return Events.model_validate(payload)

    def follow(
        self, run_id: Id, *, after: int = 0, timeout_s: float = 300.0
    ) -> Iterator[Event]:
        """
        Yield the events of a run as they come, until it ends or waits for a person.

        Raise NotInTime if nothing has come for `timeout_s` seconds.
        """
        end = time.monotonic() + timeout_s
        while True:
            page = self.events(run_id, after=after)
            for event in page.events:
                yield event
                after = event.number
            if page.events:
                end = time.monotonic() + timeout_s
            elif page.is_final or self._waits_for_person(run_id, page):
                return
            elif time.monotonic() >= end:
                raise NotInTime(f"Run {run_id}: nothing has come in {timeout_s:g} s.")
            if after >= page.last_event:
                time.sleep(0 if page.is_final else POLL_S)

    def _waits_for_person(self, run_id: Id, page: Events) -> bool:
        if page.state not in WAITING:
            return False
        run = self.run(run_id)  # it may have gone on since the events were read
        return run.waits_for_person and run.last_event <= page.last_event

    def text_of(self, run_id: Id) -> str:
        """Return what the assistant has said in a run."""
        run = self.run(run_id)
        messages = self.messages(run.conversation, run=run_id)
        texts = [
            message.text
            for message in messages
            if message.role == "assistant" and message.text
        ]
        return "\n\n".join(texts)

    # --- what waits for a person ---

    def interrupts(self, **filters: Any) -> Iterator[Interrupt]:
        """Yield interrupts; `open=True`, `kind`, `run`, `conversation`."""
        return self._to.rows("interrupts/", Interrupt, filters)

    def interrupt(self, interrupt_id: Id) -> Interrupt:
        """Return why a call waits, with its proposal or question."""
        path = f"interrupts/{interrupt_id}/"
        return Interrupt.model_validate(self._to.ask("GET", path))

    def approve(
        self,
        interrupt: Interrupt,
        *,
        rows: Sequence[str] | None = None,
        for_run: bool = False,
    ) -> Interrupt:
        """Approve a call: all of it, or only `rows`, which are ids of its objects."""
        decision = "approve_for_run" if for_run else "approve"
        selection = {} if rows is None else {"rows": list(rows)}
        return self._answer(interrupt, decision=decision, **selection)

    def deny(self, interrupt: Interrupt, reason: str = "") -> Interrupt:
        """Deny a call; the model is told the reason."""
        return self._answer(interrupt, decision="deny", reason=reason)

    def answer(
        self, interrupt: Interrupt, answer: str = "", *, chosen: Sequence[str] = ()
    ) -> Interrupt:
        """Answer a question: with a text or the id of an option, or with several."""
        return self._answer(
            interrupt, decision="answer", answer=answer, chosen=list(chosen)
        )

    def skip(self, interrupt: Interrupt) -> Interrupt:
        """Leave a question without an answer."""
        return self._answer(interrupt, decision="skip")

    def _answer(self, interrupt: Interrupt, **fields: Any) -> Interrupt:
        body = {"nonce": interrupt.nonce or "-", **fields}
        path = f"interrupts/{interrupt.id}/answer/"
        return Interrupt.model_validate(self._to.ask("POST", path, body=body))

    # --- conversations, calls and usage ---

    def conversations(self, **filters: Any) -> Iterator[Conversation]:
        """Yield conversations, the last used first; `active`, `used_after`."""
        return self._to.rows("conversations/", Conversation, filters)

    def conversation(self, conversation_id: Id) -> Conversation:
        """Return a conversation."""
        path = f"conversations/{conversation_id}/"
        return Conversation.model_validate(self._to.ask("GET", path))

    def rename(self, conversation_id: Id, title: str) -> Conversation:
        """Rename a conversation."""
        path = f"conversations/{conversation_id}/"
        payload = self._to.ask("PATCH", path, body={"title": title})
        return Conversation.model_validate(payload)

    def delete(self, conversation_id: Id) -> None:
        """Delete a conversation with all that belongs to it."""
        self._to.ask("DELETE", f"conversations/{conversation_id}/")

    def messages(self, conversation_id: Id, **filters: Any) -> Iterator[Message]:
        """Yield the messages of a conversation, the oldest first; `run`, `after`."""
        path = f"conversations/{conversation_id}/messages/"
        return self._to.rows(path, Message, filters)

    def calls(self, **filters: Any) -> Iterator[Call]:
        """Yield tool calls, the newest first; `run`, `status`, `tool`."""
        return self._to.rows("calls/", Call, filters)

    def call(self, call_id: Id) -> Call:
        """Return a tool call with its result."""
        return Call.model_validate(self._to.ask("GET", f"calls/{call_id}/"))

    def changes(self, **filters: Any) -> Iterator[Change]:
        """Yield what tool calls have changed, the newest first; `run`, `call`."""
        return self._to.rows("changes/", Change, filters)

    def change(self, change_id: Id) -> Change:
        """Return a change with the first of its rows."""
        return Change.model_validate(self._to.ask("GET", f"changes/{change_id}/"))

    def usage(self, **filters: Any) -> dict[str, Any]:
        """Return the sums of what was used; `run`, `conversation`, `since`, `until`."""
        sums: dict[str, Any] = self._to.ask("GET", "usage/sums/", params=filters)
        return sums

    def registered(self) -> dict[str, Any]:
        """Return what the user may call."""
        names: dict[str, Any] = self._to.ask("GET", "registry/")
        return names
