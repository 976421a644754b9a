"""A conversation as AG-UI messages, with the ids that were streamed, and its usage."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from ag_ui.core import (
    AssistantMessage,
    FunctionCall,
    ReasoningMessage,
    TokenUsage,
    ToolMessage,
    UserMessage,
)
from ag_ui.core import ToolCall as ClientCall

from ai_assistant.engine.storage.branches import tree_of
from ai_assistant.models.call import ToolCall
from ai_assistant.models.conversation import Conversation, Message
from ai_assistant.models.run import Run
from ai_assistant.models.usage import UsageLedger
from ai_assistant.render.agui.state import reasoning_id, result_id

AnyMessage = UserMessage | AssistantMessage | ReasoningMessage | ToolMessage


def messages_of(
    conversation: Conversation,
    *,
    run: Run | None = None,
    without: Callable[[], Collection[str]] = tuple,
) -> list[Any]:
    """
    Return the messages (AnyMessage) of a conversation, in order. Asks the database.

    Those of the branch that is shown, or of the one up to `run`. `without` returns ids
    of messages, and of calls with a result, that a stream will still send. It is called
    after the rows are read: otherwise, rows stored meanwhile would be sent twice.
    """
    tree = tree_of(conversation)
    path = set(tree.path if run is None else tree.path_to(run.pk))
    rows = list(conversation.messages.order_by("position"))
    calls = _calls_by_message(conversation)
    left_out = without()
    return [
        message
        for row in rows
        if row.run_id in path and str(row.pk) not in left_out
        for message in _messages(row, calls.get(str(row.pk), []))
        if not isinstance(message, ToolMessage) or message.tool_call_id not in left_out
    ]


def message_id(message: Message) -> str:
    """Return the id under which clients know a message."""
    return message.client_id or str(message.pk)


def _calls_by_message(conversation: Conversation) -> dict[str, list[ToolCall]]:
    calls_by_message: dict[str, list[ToolCall]] = {}
    calls = (
        ToolCall.objects.filter(run__conversation=conversation, parent=None)
        .select_related("step")
        .defer("result")
        .order_by("position")
    )
    for call in calls:
        calls_by_message.setdefault(str(call.step.message_id), []).append(call)
    return calls_by_message


def _messages(message: Message, calls: list[ToolCall]) -> Iterator[AnyMessage]:
    if message.role == Message.Role.SUMMARY:
        return  # a note for the model; what it stands for is told
    name = message_id(message)
    if message.role == Message.Role.USER:
        yield UserMessage(id=name, content=message.typed)
        return
    reasoning = "".join(
        part["text"] for part in message.parts if part["type"] == "reasoning"
    )
    if reasoning:
        yield ReasoningMessage(id=reasoning_id(name), content=reasoning)
    if message.text or calls:
        yield AssistantMessage(
            id=name,
            content=message.text or None,
            tool_calls=[_call(call) for call in calls] or None,
        )
    for call in calls:
        if not call.is_open:
            call_id = str(call.pk)
            yield ToolMessage(
                id=result_id(call_id), tool_call_id=call_id, content=call.result_text
            )


def _call(call: ToolCall) -> ClientCall:
    arguments = call.arguments_text or json.dumps(call.arguments, ensure_ascii=False)
    function = FunctionCall(name=call.name, arguments=arguments)
    return ClientCall(id=str(call.pk), function=function)


# --- usage ---


def usage_of(run: Run, first_step: int) -> list[TokenUsage]:
    """Return the usage by model, of the steps from `first_step` on."""
    rows = UsageLedger.objects.filter(
        run=run, step_index__gte=first_step, state=UsageLedger.State.SETTLED
    )
    return sums_of(rows.order_by("created_at"))


def sums_of(rows: Iterable[UsageLedger]) -> list[TokenUsage]:
    """Return the usage of these calls by model."""
    sums: dict[str, list[UsageLedger]] = {}
    for row in rows:
        if row.input_tokens or row.output_tokens:  # unknown is not nothing
            sums.setdefault(row.model, []).append(row)
    return [_sum(model, calls) for model, calls in sums.items()]


def _sum(model: str, calls: list[UsageLedger]) -> TokenUsage:
    tokens_in = sum(call.input_tokens for call in calls)
    tokens_out = sum(call.output_tokens for call in calls)
    return TokenUsage(
        model=model or None,
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        total_tokens=tokens_in + tokens_out,
        reasoning_tokens=sum(call.reasoning_tokens for call in calls) or None,
        cached_input_tokens=sum(call.cached_tokens for call in calls) or None,
    )
