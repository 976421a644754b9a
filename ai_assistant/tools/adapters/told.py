"""What the code of an admin says to the person, kept for the result of a tool."""

from typing import Any

from django.contrib.messages.storage.base import BaseStorage


class Told(BaseStorage):
    """A storage of messages that no page will show: `request._messages`."""

    def _get(self, *_args: Any, **_kwargs: Any) -> tuple[list[Any], bool]:  # noqa: ANN401
        return [], True

    def _store(self, messages: Any, *_args: Any, **_kwargs: Any) -> list[Any]:  # noqa: ANN401
        return list(messages)
