"""An action of a DRF viewset as a tool: the viewset itself is called."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.tools.adapters.functions import from_function
from ai_assistant.tools.adapters.request import user_request
from ai_assistant.types import WRITING, Effect, RunContext, ToolDefinition, ToolResult

if TYPE_CHECKING:
    from rest_framework.serializers import BaseSerializer


def serializer_schema(
    serializer: "type[BaseSerializer[Any]]", *, partial: bool = False
) -> dict[str, Any]:
    """Return the schema of the fields that may be written; none required if partial."""
    # A site without such tools has none of Django REST framework in its memory.
    from rest_framework.schemas.openapi import AutoSchema  # noqa: PLC0415

    given = serializer()
    if not hasattr(given, "fields"):
        return {"type": "object"}
    told = AutoSchema().map_serializer(given)
    names = [name for name, field in given.fields.items() if not field.read_only]
    required = [] if partial else [n for n in told.get("required", []) if n in names]
    return {
        "type": "object",
        "properties": {name: told["properties"][name] for name in names},
        "required": required,
        "additionalProperties": False,
    }


METHODS: Mapping[str, str] = {
    "list": "get",
    "retrieve": "get",
    "create": "post",
    "update": "put",
    "partial_update": "patch",
    "destroy": "delete",
}
OF_ONE = ("retrieve", "update", "partial_update", "destroy")
WITH_BODY = ("post", "put", "patch")
ERROR_TYPES: Mapping[int, str] = {
    400: "validation",
    401: "permission",
    403: "permission",
    404: "not_found",
    429: "rate_limited",
}


def from_viewset(
    viewset: type[Any],
    action: str,
    *,
    effect: Effect,
    name: str = "",
    path: str = "/",
    **fields: Any,
) -> ToolDefinition:
    """
    Return one action of a viewset as a tool, to be registered.

    It is dispatched with a request of the user: its permissions, throttles,
    serializers and querysets apply. `path` is what the request has as its path.
    The model gives the object's key, `data` and `query`, as the action needs them.
    Its name is `<app>_<basename>_<action>`, by the model of its queryset.
    """
    method = _method(viewset, action)
    if effect not in WRITING and method != "get":
        raise ImproperlyConfiguredAssistant(
            f"Action {action!r} of {viewset.__name__!r} is a {method.upper()} and has "
            f"the effect {effect!r}. Give it effect='write' or 'destructive'."
        )
    own = name or _name(viewset, action)
    handler = _handler(viewset, action, method, path)
    said = getattr(viewset, action).__doc__ or viewset.__doc__ or ""
    return from_function(
        handler,
        effect=effect,
        name=own,
        description=fields.pop("description", "") or said.strip(),
        schema=fields.pop("schema", None) or _schema(viewset, action, method),
        origin=fields.pop("origin", "") or viewset.__module__,
        **fields,
    )


def _method(viewset: type[Any], action: str) -> str:
    found = getattr(viewset, action, None)
    if found is None:
        raise ImproperlyConfiguredAssistant(
            f"Viewset {viewset.__name__!r} has no action {action!r}. Name one of its "
            "methods."
        )
    mapping = getattr(found, "mapping", None)
    if mapping:
        return str(next(iter(mapping)))
    if action not in METHODS:
        raise ImproperlyConfiguredAssistant(
            f"Method {action!r} of {viewset.__name__!r} is no action. Decorate it with "
            "rest_framework.decorators.action."
        )
    return METHODS[action]


def _is_of_one(viewset: type[Any], action: str) -> bool:
    found = getattr(viewset, action)
    return bool(getattr(found, "detail", False)) or action in OF_ONE


def _key(viewset: type[Any]) -> str:
    return str(viewset.lookup_url_kwarg or viewset.lookup_field)


def _name(viewset: type[Any], action: str) -> str:
    queryset = getattr(viewset, "queryset", None)
    if queryset is None:
        short = viewset.__name__.removesuffix("ViewSet").lower()
        return f"{viewset.__module__.split('.')[-2]}_{short}_{action}"
    options = queryset.model._meta
    return f"{options.app_label}_{options.model_name}_{action}"


def _schema(viewset: type[Any], action: str, method: str) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required = []
    if _is_of_one(viewset, action):
        properties[_key(viewset)] = {"type": ["string", "integer"]}
        required.append(_key(viewset))
    if method in WITH_BODY:
        properties["data"] = _body(viewset, action, partial=method == "patch")
    elif not _is_of_one(viewset, action):
        text = "filters and page, as in the address of the API"
        properties["query"] = {"type": "object", "description": text}
    return {
        "type": "object",
        "properties": properties,
        "required": required + (["data"] if _needs_body(properties) else []),
    }


def _needs_body(properties: Mapping[str, Any]) -> bool:
    return bool(properties.get("data", {}).get("required"))


def _body(viewset: type[Any], action: str, *, partial: bool) -> dict[str, Any]:

    options = getattr(getattr(viewset, action), "kwargs", {})
    serializer = options.get("serializer_class") or viewset.serializer_class
    if serializer is None:
        return {"type": "object"}
    return serializer_schema(serializer, partial=partial)


def _handler(
    viewset: type[Any], action: str, method: str, path: str
) -> Callable[..., ToolResult]:
    of_one, key = _is_of_one(viewset, action), _key(viewset)
    options = getattr(getattr(viewset, action), "kwargs", {})

    def call_viewset(context: RunContext, **arguments: Any) -> ToolResult:
        places = {key: arguments[key]} if of_one else {}
        request = user_request(
            context.user,
            method.upper(),
            path,
            query=arguments.get("query"),
            body=arguments.get("data", {}) if method in WITH_BODY else None,
        )
        # As DRF's own test client does: who is asked is decided, what may be is not.
        request._force_auth_user = context.user  # type: ignore[attr-defined] # noqa: SLF001
        view = viewset.as_view({method: action}, **options)
        return _result(view(request, **places))

    return call_viewset


def _result(response: Any) -> ToolResult:
    data = getattr(response, "data", None)
    status = response.status_code
    if status < 400:
        return ToolResult(ok=True, data=data)
    return ToolResult(
        ok=False,
        error=_sentence(data, status),
        error_type=ERROR_TYPES.get(status, "failed"),
        data=data,
    )


def _sentence(data: Any, status: int) -> str:
    if isinstance(data, Mapping) and "detail" in data:
        return str(data["detail"])
    if isinstance(data, Mapping):
        told = [f"{name}: {_joined(said)}" for name, said in data.items()]
        return " ".join(told)
    return _joined(data) or f"The API answered {status}."


def _joined(said: Any) -> str:
    if isinstance(said, list | tuple):
        return " ".join(str(one) for one in said)
    return str(said) if said else ""
