"""`python -m tests.bench.long_conversation N`: write one of N messages, say its id."""

import sys

import django

django.setup()

from django.contrib.auth import get_user_model  # noqa: E402
from django.utils import timezone  # noqa: E402

from ai_assistant.models.conversation import Conversation, Message  # noqa: E402
from ai_assistant.models.run import Run, RunState  # noqa: E402
from tests.bench.markdown import numbered_markdown  # noqa: E402


def write(count: int) -> str:
    """Write half as many runs, each with a question and an answer."""
    user = get_user_model().objects.get(username="admin")
    conversation = Conversation.objects.create(owner=user, title="A long matter")
    said = numbered_markdown(150)
    before = None
    for number in range(count // 2):
        run = Run.objects.create(
            conversation=conversation,
            user=user,
            after=before,
            idempotency_key=f"long-{number}",
            state=RunState.SUCCEEDED,
            finished_at=timezone.now(),
        )
        for place, (role, text) in enumerate(
            (("user", f"Question {number}?"), ("assistant", said))
        ):
            Message.objects.create(
                conversation=conversation,
                run=run,
                role=role,
                position=2 * number + place,
                parts=[{"type": "text", "text": text}],
            )
        before = run
    return str(conversation.pk)


if __name__ == "__main__":
    print(write(int(sys.argv[1])))
