"""The messages that a client holds of a thread, as the protocol's events build them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Message = dict[str, Any]
KEPT = ("activity", "reasoning")


@dataclass
class Held:
    """Applies events as the stock client does; `messages` go out with the next input."""

    messages: list[Message] = field(default_factory=list)

    def apply(self, event: Mapping[str, Any]) -> None:
        """Take an event of a stream that was found to be in order."""
        kind = event["type"]
        if kind in ("TEXT_MESSAGE_START", "REASONING_MESSAGE_START"):
            role = event.get("role", "assistant")
            self._append({"id": event["messageId"], "role": role, "content": ""})
        elif kind in ("TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT"):
            self.find(event["messageId"])["content"] += event["delta"]
        elif kind == "TOOL_CALL_START":
            self._call(event)
        elif kind == "TOOL_CALL_ARGS":
            self.call(event["toolCallId"])["function"]["arguments"] += event["delta"]
        elif kind == "TOOL_CALL_RESULT":
            self._result(event)
        elif kind == "MESSAGES_SNAPSHOT":
            self._snapshot(event["messages"])

    def find(self, message_id: str) -> Message:
        return next(one for one in self.messages if one["id"] == message_id)

    def call(self, call_id: str) -> dict[str, Any]:
        """Return the call, as it stands in the message that holds it."""
        return next(one for one in self.calls() if one["id"] == call_id)

    def calls(self) -> list[dict[str, Any]]:
        return [one for held in self.messages for one in held.get("toolCalls", ())]

    def results(self) -> dict[str, str]:
        """Return the results by call."""
        told = [one for one in self.messages if one["role"] == "tool"]
        return {one["toolCallId"]: one["content"] for one in told}

    def texts(self, role: str = "assistant") -> list[str]:
        """Return what one side has said, message by message."""
        told = [one.get("content") for one in self.messages if one["role"] == role]
        return [text for text in told if text]

    def _append(self, message: Message) -> None:
        self.messages.append(message)

    def _call(self, event: Mapping[str, Any]) -> None:
        parent = event.get("parentMessageId", event["toolCallId"])
        if all(one["id"] != parent for one in self.messages):
            self._append({"id": parent, "role": "assistant"})
        made = {
            "id": event["toolCallId"],
            "type": "function",
            "function": {"name": event["toolCallName"], "arguments": ""},
        }
        self.find(parent).setdefault("toolCalls", []).append(made)

    def _result(self, event: Mapping[str, Any]) -> None:
        """Insert it behind the message that made the call, after earlier results."""
        owner = next(
            at
            for at, one in enumerate(self.messages)
            if event["toolCallId"] in [call["id"] for call in one.get("toolCalls", ())]
        )
        at = owner + 1
        while at < len(self.messages) and self.messages[at]["role"] == "tool":
            at += 1
        told = {
            "id": event["messageId"],
            "role": "tool",
            "toolCallId": event["toolCallId"],
            "content": event["content"],
        }
        self.messages.insert(at, told)

    def _snapshot(self, told: list[Message]) -> None:
        new = {one["id"]: one for one in told}
        roles = {one["role"] for one in told}
        kept = [
            new.pop(one["id"], one)
            for one in self.messages
            if one["id"] in new or (one["role"] in KEPT and one["role"] not in roles)
        ]
        self.messages = [*kept, *(one for one in told if one["id"] in new)]
