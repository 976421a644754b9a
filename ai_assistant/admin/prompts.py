"""What the model is told: with a message that is no run, and with those that were."""

import json
from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import connections, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ai_assistant import conf
from ai_assistant.engine.service import (
    DryRun,
    PromptLook,
    dry_run,
    look_at_prompt,
    prompts_of,
)
from ai_assistant.render.html.cards.body import prompt_entry
from ai_assistant.safety.audit import record, request_ip
from ai_assistant.safety.identity.permissions import (
    fresh_user,
    may_use,
    may_view_prompts,
)
from ai_assistant.safety.policy.policy import decision_label, tool_verdict
from ai_assistant.text.hidden_characters import mark_hidden_characters
from ai_assistant.tools.model_schema import model_schema, schema_chars
from ai_assistant.types import ToolDefinition
from ai_assistant.web.panel.fields import page_path

CHARS_PER_TOKEN = 4  # about, as of the parts of a prompt
PATH_CHARS = 2000
TEXT_CHARS = 4000


class LookForm(forms.Form):
    """For whom, on which page, and with which message."""

    user = forms.CharField(label=gettext_lazy("User"), max_length=200)
    path = forms.CharField(
        label=gettext_lazy("Page"),
        max_length=PATH_CHARS,
        widget=forms.TextInput(attrs={"class": "vLargeTextField"}),
        help_text=gettext_lazy("Its address, as “/admin/shop/order/1/change/”."),
    )
    text = forms.CharField(
        label=gettext_lazy("Message"),
        max_length=TEXT_CHARS,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "class": "vLargeTextField"}),
    )

    def clean_user(self) -> Any:
        """Return the user of that name, who may use the assistant."""
        name = self.cleaned_data["user"]
        users = get_user_model()._default_manager
        known = users.filter(**{get_user_model().USERNAME_FIELD: name}).first()
        user = fresh_user(known.pk) if known is not None else None
        if user is None:
            raise ValidationError(_("There is no user “%(name)s”.") % {"name": name})
        if not may_use(user):
            raise ValidationError(
                _("“%(name)s” may not use the assistant.") % {"name": name}
            )
        return user

    def clean_path(self) -> str:
        """Return the path of a page of this site."""
        found = page_path(self.cleaned_data["path"])
        if not found:
            raise ValidationError(_("Write the path of a page; it begins with “/”."))
        return found


class PromptPages:
    """Adds to the pages of runs what the model is told; of a ModelAdmin of runs."""

    admin_site: Any
    model: Any

    def get_urls(self) -> list[Any]:
        """Add the pages."""
        view = self.admin_site.admin_view
        own = [
            path(
                "prompt/",
                _not_atomic(view(self.prompt_view)),
                name="ai_assistant_run_prompt",
            ),
            path(
                "<uuid:run_id>/prompts/",
                view(self.prompts_view),
                name="ai_assistant_run_prompts",
            ),
        ]
        return [*own, *super().get_urls()]  # type: ignore[misc] # of the ModelAdmin

    def prompt_view(self, request: HttpRequest) -> HttpResponse:
        """
        Show what the model would be told with a message.

        A POST really sends it, as a dry run, and shows what the model says first.
        """
        _check(request)
        sends = request.method == "POST"
        asked = request.GET if "path" in request.GET else None
        name = request.user.get_username()
        initial = {"user": name, "path": "/admin/"}
        form = LookForm(request.POST if sends else asked, initial=initial)
        form.fields["text"].required = sends
        found: dict[str, Any] = {}
        if form.is_bound and form.is_valid():
            show = _sent if sends else _looked_at
            found = show(request, **form.cleaned_data)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.model._meta,
            "title": _("What the model is told"),
            "form": form,
            "look": {},
            **found,
        }
        return TemplateResponse(request, "ai_assistant/admin/prompt.html", context)

    def prompts_view(self, request: HttpRequest, run_id: Any) -> HttpResponse:
        """Show what the model was really told, for each of its calls of a run."""
        _check(request)
        run = self.get_object(request, str(run_id))  # type: ignore[attr-defined]
        if run is None:
            raise Http404
        if not self.has_view_permission(request, run):  # type: ignore[attr-defined]
            raise PermissionDenied
        _audit(request, {"of": str(run.user_id), "run": str(run.pk)})
        context = {
            **self.admin_site.each_context(request),
            "opts": self.model._meta,
            "title": _("What the model was told"),
            "run": run,
            "prompts": [
                {"number": index + 1, "prompt": prompt_entry(prompt)}
                for index, prompt in prompts_of(run)
            ],
        }
        return TemplateResponse(request, "ai_assistant/admin/prompts.html", context)


def _not_atomic(view: Callable[..., Any]) -> Callable[..., Any]:
    """Return a view without a transaction of its own: it waits for a model."""
    for alias in connections:
        view = transaction.non_atomic_requests(using=alias)(view)
    return view


def _check(request: HttpRequest) -> None:
    if not (conf.enabled() and may_view_prompts(request.user)):
        raise PermissionDenied


def _looked_at(
    request: HttpRequest, *, user: Any, path: str, text: str
) -> dict[str, Any]:
    _audit(request, {"of": str(user.pk), "page": path})
    return {"look": _entry(look_at_prompt(user, path, text), user)}


def _sent(request: HttpRequest, *, user: Any, path: str, text: str) -> dict[str, Any]:
    payer: Any = request.user
    details = {"of": str(user.pk), "page": path}
    record("prompt.sent", user=payer, details=details, ip=request_ip(request))
    done = dry_run(user, path, text, payer=payer)
    look = _entry(done.look, user)
    return {"look": look, "reply": _reply_entry(done, look["tools"])}


def _audit(request: HttpRequest, details: dict[str, Any]) -> None:
    """Record who has looked at what is told for somebody else."""
    user: Any = request.user
    if details["of"] != str(user.pk):
        record("prompt.viewed", user=user, details=details, ip=request_ip(request))


def _entry(look: PromptLook, user: Any) -> dict[str, Any]:
    return {
        "prompt": prompt_entry(look.prompt),
        "message": mark_hidden_characters(look.message),
        "message_tokens": -(-len(look.message) // CHARS_PER_TOKEN),
        "module": look.module,
        "agent": look.agent,
        "profile": look.profile,
        "tools": [_tool_entry(tool, user, look) for tool in look.tools],
        "findable": [tool.name for tool in look.findable],
    }


def _tool_entry(tool: ToolDefinition, user: Any, look: PromptLook) -> dict[str, Any]:
    verdict = tool_verdict(tool, user=user, module=look.module)
    schema = model_schema(tool)["function"]
    return {
        "name": tool.name,
        "label": capfirst(str(tool.display.label)),
        "effect": tool.effect,
        "verdict": verdict,
        "decided": decision_label(verdict),
        "tokens": -(-schema_chars(tool) // CHARS_PER_TOKEN),
        "description": schema.get("description", ""),
        "parameters": schema.get("parameters", {}),
    }


def _reply_entry(done: DryRun, tools: list[dict[str, Any]]) -> dict[str, Any]:
    decided = {tool["name"]: tool["decided"] for tool in tools}
    return {
        "model": done.model,
        "error": done.error,
        "text": mark_hidden_characters(done.text),
        "reasoning": mark_hidden_characters(done.reasoning),
        "calls": [
            {
                "name": call.name,
                "arguments": mark_hidden_characters(_indented(call.arguments)),
                "decided": decided.get(call.name, _("not told to the model")),
            }
            for call in done.calls
        ],
        "usage": done.usage,
        "seconds": done.seconds,
    }


def _indented(arguments: str) -> str:
    """Return arguments as JSON that is read easily; as they are, if they are none."""
    try:
        return json.dumps(json.loads(arguments), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return arguments
