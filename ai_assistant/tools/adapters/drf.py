"""An action of a DRF viewset as a tool, which calls the viewset itself."""

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
    # A site without such tools does not load Django REST framework.
    from rest_framework.schemas.openapi import AutoSchema  # noqa: PLC0415

    instance = serializer()
    if not hasattr(instance, "fields"):
        return {"type": "object"}
    schema = AutoSchema().map_serializer(instance)
    names = [name for name, field in instance.fields.items() if not field.read_only]
    required = [] if partial else [n for n in schema.get("required", []) if n in names]
    return {
        "type": "object",
        "properties": {name: schema["properties"][name] for name in names},
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
    422: "validation",
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
    docstring = getattr(viewset, action).__doc__ or viewset.__doc__ or ""
    return from_function(
        _handler(viewset, action, method, path),
        effect=effect,
        name=name or _name(viewset, action),
        description=fields.pop("description", "") or docstring.strip(),
        schema=fields.pop("schema", None) or _schema(viewset, action, method),
        origin=fields.pop("origin", "") or viewset.__module__,
        **fields,
    )


def _method(viewset: type[Any], action: str) -> str:
    function = getattr(viewset, action, None)
    if function is None:
        raise ImproperlyConfiguredAssistant(
            f"Viewset {viewset.__name__!r} has no action {action!r}. Name one of its "
            "methods."
        )
    if mapping := getattr(function, "mapping", None):
        return str(next(iter(mapping)))
    if action not in METHODS:
        raise ImproperlyConfiguredAssistant(
            f"Method {action!r} of {viewset.__name__!r} is not an action. Decorate it "
            "with rest_framework.decorators.action."
        )
    return METHODS[action]


def _lookup(viewset: type[Any], action: str) -> str:
    """Return the argument with the key of the object; empty for an action on many."""
    if not getattr(getattr(viewset, action), "detail", False) and action not in OF_ONE:
        return ""
    return str(viewset.lookup_url_kwarg or viewset.lookup_field)


def _name(viewset: type[Any], action: str) -> str:
    queryset = getattr(viewset, "queryset", None)
    if queryset is None:
        stem = viewset.__name__.removesuffix("ViewSet").lower()
        return f"{viewset.__module__.split('.')[-2]}_{stem}_{action}"
    options = queryset.model._meta
    return f"{options.app_label}_{options.model_name}_{action}"


def _schema(viewset: type[Any], action: str, method: str) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required = []
    if lookup := _lookup(viewset, action):
        properties[lookup] = {"type": ["string", "integer"]}
        required.append(lookup)
    if method in WITH_BODY:
        options = getattr(getattr(viewset, action), "kwargs", {})
        serializer = options.get("serializer_class") or viewset.serializer_class
        properties["data"] = (
            serializer_schema(serializer, partial=method == "patch")
            if serializer is not None
            else {"type": "object"}
        )
        if properties["data"].get("required"):
            required.append("data")
    elif not lookup:
        text = "filters and page, as in the URL of the API"
        properties["query"] = {"type": "object", "description": text}
    return {"type": "object", "properties": properties, "required": required}


def _handler(
    viewset: type[Any], action: str, method: str, path: str
) -> Callable[..., ToolResult]:
    lookup = _lookup(viewset, action)
    options = getattr(getattr(viewset, action), "kwargs", {})

    def call_viewset(context: RunContext, **arguments: Any) -> ToolResult:
        kwargs = {lookup: arguments[lookup]} if lookup else {}
        request = user_request(
            context.user,
            method.upper(),
            path,
            query=arguments.get("query"),
            body=arguments.get("data", {}) if method in WITH_BODY else None,
        )
        # As DRF's own test client does: it authenticates, permissions still apply.
        request._force_auth_user = context.user  # type: ignore[attr-defined] # noqa: SLF001
        view = viewset.as_view({method: action}, **options)
        return _result(view(request, **kwargs))

    return call_viewset


def _result(response: Any) -> ToolResult:
    data = getattr(response, "data", None)
    if response.status_code < 400:
        return ToolResult(ok=True, data=data)
    return failed_result(response.status_code, data)


def failed_result(status: int, data: Any) -> ToolResult:
    """Return the result of a call that the API has refused, in its own words."""
    if isinstance(data, Mapping) and "detail" in data:
        text = _joined(data["detail"])
    elif isinstance(data, Mapping):
        text = " ".join(f"{name}: {_joined(error)}" for name, error in data.items())
    else:
        text = _joined(data) or f"The API answered {status}."
    return ToolResult(
        ok=False,
        error=text,
        error_type=ERROR_TYPES.get(status, "failed"),
        data=data,
    )


def _joined(errors: Any) -> str:
    if isinstance(errors, list | tuple):
        return " ".join(map(_joined, errors))
    if isinstance(errors, Mapping) and {"loc", "msg"} <= errors.keys():
        # Of pydantic.
        return f"{'.'.join(map(str, errors['loc']))}: {errors['msg']}"
    return str(errors) if errors else ""
