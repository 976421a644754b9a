"""The operations that the site has opted in, built once for each choice of them."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.util import find_spec
from operator import itemgetter
from typing import Any, Literal

from django.conf import settings
from django.urls import get_urlconf
from django.utils.module_loading import import_string

from ai_assistant import conf
from ai_assistant.exceptions import ModelRetry
from ai_assistant.modules.base import ContextModule
from ai_assistant.modules.resolve import module_of
from ai_assistant.tools.api.base import COMPONENT, ApiAdapter, Operation
from ai_assistant.tools.find import likeness, words_of
from ai_assistant.types import JSON, RunContext

# Each is loaded where this module is installed; "ninja" alone is a build system too.
ADAPTERS: Mapping[str, str] = {
    "rest_framework": "ai_assistant.tools.api.drf.DrfAdapter",
    "ninja.openapi": "ai_assistant.tools.api.ninja.NinjaAdapter",
}
# A hit in the name weighs more than one in the address, and that more than others.
WEIGHTS = (4, 2, 1)
MOST_FOUND = 8
OF_API = frozenset({"search_api", "call_api"})  # the tools for them
REF = re.compile(rf'"{re.escape(COMPONENT)}([^"]+)"')
NOT = "!"
WILD = frozenset("*?[")
# Why an operation is not opted in.
WhyNot = Literal["never", "unknown", "taken_out", "by_name", "not_named"]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Catalogue:
    """The operations that may be searched and called; `elsewhere` other modules may."""

    operations: Mapping[str, Operation] = field(default_factory=dict)
    left_out: tuple[Operation, ...] = ()
    components: Mapping[str, JSON] = field(default_factory=dict)
    adapters: Mapping[str, ApiAdapter] = field(default_factory=dict)  # by operation
    packages: Mapping[str, str] = field(default_factory=dict)  # by operation, of all
    elsewhere: frozenset[str] = frozenset()

    def services(self) -> dict[str, list[Operation]]:
        """Return the operations of each service, both in the order of their names."""
        found: dict[str, list[Operation]] = {}
        for operation in sorted(
            self.operations.values(), key=lambda one: (one.service, one.id)
        ):
            found.setdefault(operation.service, []).append(operation)
        return found

    def find(self, operation_id: str) -> Operation:
        """Return an operation. Raise ModelRetry, with the nearest, if there is none."""
        if operation_id in self.operations:
            return self.operations[operation_id]
        if operation_id in self.elsewhere:
            raise ModelRetry(
                f"{operation_id!r} is not called on this page: the module of the page "
                "leaves it out. search_api lists those that are called."
            )
        near = get_close_matches(operation_id, self.operations, n=3)
        raise ModelRetry(
            f"There is no operation {operation_id[:100]!r}. "
            f"{'Nearest: ' + ', '.join(near) + '. ' if near else ''}"
            "search_api lists them."
        )

    def search(self, text: str) -> list[Operation]:
        """Return the operations that match words, the best first."""
        words = words_of(text)
        scored = [(_score(words, one), one) for one in self.operations.values()]
        scored.sort(key=itemgetter(0), reverse=True)
        return [one for score, one in scored[:MOST_FOUND] if score]


def catalogue() -> Catalogue:
    """Return what the site has opted in now; empty without API_OPERATIONS."""
    return whole_catalogue() if conf.get("API_OPERATIONS") else Catalogue()


def catalogue_of(context: RunContext) -> Catalogue:
    """Return what the module of a page or a run leaves of it."""
    known = catalogue()
    return narrowed(known, module_of(context)) if known.operations else known


def narrowed(known: Catalogue, module: ContextModule) -> Catalogue:
    """Return what a module leaves, by its code and by its row: both may take out."""
    said = (module.api_operations, module.configured.api_operations)
    choices = tuple(tuple(one) for one in said if one)
    return _narrowed(known, choices) if choices else known


@lru_cache(maxsize=64)
def _narrowed(known: Catalogue, choices: tuple[tuple[str, ...], ...]) -> Catalogue:
    left = {
        name: one
        for name, one in known.operations.items()
        if all(chooses(patterns, one) for patterns in choices)
    }
    return replace(
        known,
        operations=left,
        components=_referred(left.values(), known.components),
        elsewhere=frozenset(known.operations.keys() - left.keys()),
    )


def whole_catalogue() -> Catalogue:
    """Return it also where nothing is opted in: then all is left out."""
    patterns = tuple(conf.get("API_OPERATIONS"))
    data = tuple(
        tuple(conf.get("DATA", name))
        for name in ("MODELS_EXCLUDED", "READ_ONLY", "SENSITIVE", "NOT_SENSITIVE")
    )
    return _catalogue(get_urlconf() or settings.ROOT_URLCONF, patterns, data)


def has_operations(context: RunContext | None = None) -> bool:
    """Return whether there is anything to call: without it there are no tools for it."""
    return bool((catalogue_of(context) if context else catalogue()).operations)


@lru_cache(maxsize=8)
def _catalogue(_urlconf: Any, patterns: tuple[str, ...], _data: Any) -> Catalogue:
    operations: dict[str, Operation] = {}
    adapters: dict[str, ApiAdapter] = {}
    components: dict[str, JSON] = {}
    packages: dict[str, str] = {}
    left_out = []
    for module, path in ADAPTERS.items():
        if not _is_installed(module):
            continue
        adapter: ApiAdapter = import_string(path)()
        for one in adapter.operations():
            packages.setdefault(one.id, module.partition(".")[0])
            if one.id in operations or not is_opted_in(one, patterns):
                left_out.append(one)
                continue
            operations[one.id], adapters[one.id] = one, adapter
        components |= adapter.components()
    return Catalogue(
        operations=operations,
        left_out=tuple(left_out),
        components=_referred(operations.values(), components),
        adapters=adapters,
        packages=packages,
    )


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _referred(
    operations: Iterable[Operation], components: Mapping[str, JSON]
) -> dict[str, JSON]:
    """Return the schemas that operations refer to, and those to which these refer."""
    found: dict[str, JSON] = {}
    left: list[Any] = [
        [one.described.query, one.described.body, one.described.responses]
        for one in operations
    ]
    while left:
        for name in REF.findall(json.dumps(left.pop(), default=str)):
            if name in components and name not in found:
                found[name] = components[name]
                left.append(found[name])
    return found


def is_opted_in(operation: Operation, patterns: Iterable[str]) -> bool:
    """Return whether patterns choose an operation; what they leave out goes first."""
    return why_left_out(operation, list(patterns)) == ""


def why_left_out(operation: Operation, patterns: Sequence[str]) -> WhyNot | Literal[""]:
    """Return why patterns do not opt an operation in; empty if they do."""
    if operation.is_never:
        return "never"
    if operation.effect is None:
        return "unknown"
    if _taken_out(operation, patterns):
        return "taken_out"
    chosen = [one for one in patterns if fits(operation, one)]
    if operation.only_by_name and not any(WILD.isdisjoint(one) for one in chosen):
        return "by_name"
    return "" if chosen else "not_named"


def chooses(patterns: Sequence[str], operation: Operation) -> bool:
    """Return whether patterns choose one of those that are opted in."""
    chosen = any(fits(operation, one) for one in patterns)
    return chosen and not _taken_out(operation, patterns)


def _taken_out(operation: Operation, patterns: Iterable[str]) -> bool:
    return any(takes_out(operation, one[1:]) for one in patterns if one.startswith(NOT))


def matching(pattern: str, operations: Iterable[Operation]) -> list[Operation]:
    """Return the operations that a pattern names, be it to leave them out."""
    matches = takes_out if pattern.startswith(NOT) else fits
    return [one for one in operations if matches(one, pattern.removeprefix(NOT))]


def fits(operation: Operation, pattern: str) -> bool:
    """Return whether a pattern names an operation, by its id or by its service."""
    return any(fnmatchcase(name, pattern) for name in (operation.id, operation.name))


def takes_out(operation: Operation, pattern: str) -> bool:
    """Return whether a pattern after `!` names an operation, with its method or not."""
    # A second method gives the first one a longer name: it stays taken out.
    whole = operation.name.removesuffix(f".{operation.method.lower()}")
    shared = (whole, *operation.shared_names)
    return fits(operation, pattern) or any(fnmatchcase(one, pattern) for one in shared)


def _score(words: set[str], operation: Operation) -> int:
    texts = (
        f"{operation.id} {operation.name}",
        f"{operation.path} {operation.method}",
        f"{operation.about} {' '.join(operation.described.query)}",
    )
    places = [
        (weight, words_of(text)) for weight, text in zip(WEIGHTS, texts, strict=True)
    ]
    return sum(
        max(weight * likeness(word, place) for weight, place in places)
        for word in words
    )
