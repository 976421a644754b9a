"""One request to a site, and its answer or its problem."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import urljoin

import httpx

from ai_assistant.client.errors import AssistantProblem
from ai_assistant.client.values import Value

V = TypeVar("V", bound=Value)

TIMEOUT_S = 30.0
ACCEPT = "application/json, application/problem+json"


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
    ) -> Any:  # noqa: ANN401 - JSON
        """Return the JSON of the answer; None if it has none."""
        headers = {**self.headers, **({"Idempotency-Key": key} if key else {})}
        given = {
            name: said for name, said in (params or {}).items() if said is not None
        }
        response = self.http.request(
            method,
            urljoin(self.url, path),
            params=given or None,
            json=body,
            headers=headers,
        )
        if response.is_success:
            return response.json() if response.content else None
        raise _problem(response)

    def rows(self, path: str, kind: type[V], params: Mapping[str, Any]) -> Iterator[V]:
        """Yield the rows of a list, one page after another as they are wanted."""
        page = self.ask("GET", path, params=params)
        while True:
            for row in page["results"]:
                yield kind.model_validate(row)
            if not page["next"]:
                return
            page = self.ask("GET", _below(self.url, page["next"]))


def _below(url: str, address: str) -> str:
    """Return `address` at the host of `url`: a token goes nowhere else."""
    there = httpx.URL(address)
    here = httpx.URL(url)
    return str(there.copy_with(scheme=here.scheme, host=here.host, port=here.port))


def _problem(response: httpx.Response) -> AssistantProblem:
    try:
        body = response.json()
    except ValueError:  # not ours: of a proxy, or no API is there
        body = {}
    if not isinstance(body, dict):
        body = {}
    body.setdefault("detail", response.reason_phrase)
    wait = response.headers.get("Retry-After", "")
    return AssistantProblem(
        response.status_code, body, int(wait) if wait.isdigit() else None
    )
