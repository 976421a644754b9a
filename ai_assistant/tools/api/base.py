"""One operation of an API, and what an adapter of a framework has to do."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from django.utils.translation import override

from ai_assistant.safety.policy.sensitive import RIGHTS, WORD_BREAKS, is_secret_name
from ai_assistant.types import JSON, Effect, RunContext

FAILED = 400  # the first status of an error
# Kept back also where no serializer says of what they are; much else has "groups".
RIGHTS_BY_NAME = RIGHTS - {"groups"}
COMPONENT = "#/components/schemas/"  # how a schema refers to another one
ABOUT_CHARS = 200  # of an operation or a service, in a list


@dataclass(frozen=True, kw_only=True, slots=True)
class Described:
    """What the schema says of an operation."""

    about: str = ""  # a line
    query: Mapping[str, JSON] = field(default_factory=dict)  # schemas by name
    body: JSON = None  # None: it takes none
    responses: Mapping[str, JSON] = field(default_factory=dict)  # by status


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """Names of fields in bodies and answers that the assistant is kept from."""

    hidden: frozenset[str] = frozenset()
    fixed: frozenset[str] = frozenset()  # told, and not written
    opened: frozenset[str] = frozenset()  # secrets by name, that the site has opened

    def has(self, name: str) -> bool:
        """Return whether a field of this name is neither told nor written."""
        names = {name, WORD_BREAKS.sub("_", name).lower()}  # also in camel case
        if names & self.hidden:
            return True
        is_secret = bool(names & RIGHTS_BY_NAME) or is_secret_name(name)
        return is_secret and not names & self.opened

    def keeps_as_it_is(self, name: str) -> bool:
        """Return whether a field of this name is not written."""
        names = {name, WORD_BREAKS.sub("_", name).lower()}
        return bool(names & self.fixed) or self.has(name)


@dataclass(frozen=True, kw_only=True, eq=False)
class Operation:
    """One method of one address, as it may be called."""

    id: str  # that of the schema
    name: str  # service.action: API_OPERATIONS may name it so too
    shared_names: tuple[str, ...] = ()  # with others: what is left out by them goes
    service: str
    method: str
    path: str  # as people read it: /api/orders/{pk}/
    effect: Effect | None  # None: nobody knows
    described: Described
    arguments: Mapping[str, JSON] = field(default_factory=dict)  # of the path
    model: str = ""  # "app.model", if it is about one
    is_never: bool = False  # not even by name
    only_by_name: str = ""  # why no wildcard opts it in
    can_be_tried: bool = True  # in a transaction that is rolled back
    is_external: bool = False  # its effect is not in the database alone
    is_declared: bool = False  # the site has said its effect
    takes_body: bool = False
    kept: Kept = field(default_factory=Kept)
    endpoint: Any = None  # what its adapter calls

    @property
    def about(self) -> str:
        """What it does, in a line."""
        return self.described.about


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiRequest:
    """The arguments of one call."""

    path: Mapping[str, str | int] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    body: JSON = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiResponse:
    """What an operation answered; `unread` says why its data is not told."""

    status: int
    data: JSON = None
    unread: str = ""


class OperationsById:
    """The operations of one framework, which are read once."""

    def __init__(self) -> None:
        self._components: dict[str, JSON] = {}  # filled as they are read

    def operations(self) -> list[Operation]:
        """Return all operations of the site, the first of each id."""
        return list(self._by_id.values())

    def components(self) -> Mapping[str, JSON]:
        """Return the schemas that the operations refer to."""
        return self._by_id and self._components

    @cached_property
    def _by_id(self) -> dict[str, Operation]:
        with override(None):  # for a model, whoever asks first
            return self._read()

    def _read(self) -> dict[str, Operation]:
        """Return the operations by their ids, and fill in what they refer to."""
        raise NotImplementedError


class ApiAdapter(Protocol):
    """The operations of one framework, and the way to call them in this process."""

    def operations(self) -> Iterable[Operation]:
        """Return all operations of the site, also those that are not opted in."""
        ...

    def components(self) -> Mapping[str, JSON]:
        """Return the schemas that the operations refer to, by name."""
        ...

    def may_call(self, operation: Operation, context: RunContext) -> bool:
        """Return False if the user may not call it, whatever the object."""
        ...

    def check(
        self, operation: Operation, context: RunContext, asked: ApiRequest
    ) -> str:
        """Return the path of a call. Raise ModelRetry or ToolFailed if it is refused."""
        ...

    def call(
        self, operation: Operation, context: RunContext, asked: ApiRequest
    ) -> ApiResponse:
        """Call it as the user. Raise ModelRetry or ToolFailed if it is refused."""
        ...
