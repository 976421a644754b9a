"""Calls of the tools for the API of a site, without an engine."""

import uuid

from ai_assistant import RunContext
from ai_assistant.models import Conversation, Message, Run, Step, ToolCall
from ai_assistant.registry import registry
from ai_assistant.tools.arguments import split_page, validate_arguments
from ai_assistant.tools.result import from_exception, from_value, paginate


def told(user, *operations):
    """Return a context of a conversation in which these were looked up."""
    conversation = Conversation.objects.create(owner=user, title="")
    run = Run.objects.create(
        conversation=conversation, user=user, idempotency_key=uuid.uuid4()
    )
    message = Message.objects.create(
        conversation=conversation, run=run, position=0, role="assistant"
    )
    step = Step.objects.create(run=run, index=0, message=message)
    ToolCall.objects.bulk_create(
        ToolCall(
            run=run,
            step=step,
            position=position,
            name="search_api",
            arguments={"operation": operation},
            status="complete",
        )
        for position, operation in enumerate(operations)
    )
    return RunContext(user=user, run_id=run.pk, conversation_id=conversation.pk)


def use(name, context, **arguments):
    """Return the result of a call of the tool, an approval taken for granted."""
    tool = registry.tool(name)
    try:
        given, page = split_page(tool, validate_arguments(tool, arguments))
        value = paginate(tool, tool.handler(context, **given), page)
        return from_value(name, value)
    except Exception as error:  # noqa: BLE001 - as the engine does
        return from_exception(name, error)


def call(user, operation, **arguments):
    """Return the result of `call_api`, its operation looked up before."""
    return use("call_api", told(user, operation), operation=operation, **arguments)
