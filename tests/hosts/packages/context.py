"""What a tool is told that a person on a page of the site has asked for."""

from typing import Any
from uuid import uuid4

from django.test import Client, RequestFactory
from django.utils.translation import override

from ai_assistant import Changes, RunContext
from ai_assistant.context.page import page_info
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.intake.values import SentPage, Submission
from ai_assistant.engine.lifecycle.scope import RunScope
from ai_assistant.models import Run
from ai_assistant.modules.resolve import module_for
from ai_assistant.registry import registry
from ai_assistant.render.html.diffs.differences import difference_entry
from ai_assistant.safety.identity.session import session_stamp
from ai_assistant.tools.arguments import validate_arguments
from ai_assistant.types import ContextItem


def context_on(
    page: str, client: Client, user: Any, language: str = "en", *, key: str = "one"
) -> RunContext:
    """Return the context of a run, one for each key, that this browser has started."""
    request = RequestFactory().get(page)
    request.session, request.user = client.session, user
    submission = Submission(
        user_id=user.pk,
        conversation_id=uuid4(),
        key=key,
        text="Do it.",
        page=SentPage(path=page),
        stamp=session_stamp(request),
    )
    with override(language):
        run = accept(submission)
    return RunContext(
        user=user,
        run_id=run.run_id,
        conversation_id=run.conversation_id,
        page=page_info(page),
    )


def items_on(page: str, client: Client, user: Any) -> dict[str, ContextItem]:
    """Return what the model is told of a page, by the ids of the items."""
    context = context_on(page, client, user, key=page)
    run = Run.objects.get(pk=context.run_id)
    return {item.id: item for item in RunScope(run, user).items}


def texts_of(card: Changes) -> dict[str, tuple[str, str]]:
    """Return the fields of the first object of a card: before and after, by name."""
    return {one.name: (one.before, one.after) for one in card.objects[0].fields}


def lines_of(card: Changes) -> dict[str, list[str]]:
    """Return the labels of the lines that are drawn for each object of a card."""
    return {
        str(one["text"]): [str(field["label"]) for field in one["fields"]]
        for one in difference_entry(card)["objects"]
    }


def folded_of(card: Changes) -> set[str]:
    """Return the columns of a card that stand below one line, by name."""
    return {
        field.name for one in card.objects for field in one.fields if field.is_place
    }


def known_on(address: str, client: Client, user: Any) -> tuple[str, Any, str]:
    """
    Return what is known on a page, which has to open for this browser.

    The label of its model, the object as the model is told of it, and the module.
    """
    opened = client.get(address)
    assert opened.status_code == 200, f"{address}: {opened.status_code}"
    items = items_on(address, client, user)
    page, shown = items["page"].value, items.get("object")
    label = f"{page['app']}.{page['model']}"
    return label, shown and shown.value, module_for(page_info(address), user).id


def use(context: RunContext, name: str, **arguments: Any) -> Any:
    """Return what a tool of the assistant returns. Raise what it raises."""
    tool = registry.tool(name)
    assert tool is not None
    return tool.handler(context, **validate_arguments(tool, arguments))
