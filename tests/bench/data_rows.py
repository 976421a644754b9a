"""A thousand pages of the wiki, the demo data, and calls of tools on them."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management import call_command

from ai_assistant.models.call import ToolCall
from ai_assistant.models.conversation import Conversation, Message
from ai_assistant.models.run import Run, Step
from ai_assistant.registry import registry
from ai_assistant.tools.arguments import validate_arguments
from ai_assistant.types import PageInfo, RunContext
from project.wiki.models import Page

PAGE = "wiki.page"
MANY = 1000  # pages, beside those of the demo
Work = Callable[[], object]


@dataclass(frozen=True, kw_only=True, slots=True)
class Rows:
    """Who calls, and for which call of which run."""

    user: Any
    run: Run
    call: ToolCall
    pages: list[Page]
    is_as_shown: bool = False

    @property
    def context(self) -> RunContext:
        """What a tool gets."""
        return RunContext(
            user=self.user,
            run_id=self.run.pk,
            conversation_id=self.run.conversation_id,
            page=PageInfo(view_name="admin:wiki_page_changelist"),
            is_as_shown=self.is_as_shown,
        )

    def use(self, name: str, **arguments: Any) -> Any:
        """Call a tool as the engine does, its arguments checked by their schema."""
        tool = registry.tool(name)
        return tool.handler(self.context, **validate_arguments(tool, arguments))

    def preview(self, name: str, **arguments: Any) -> Any:
        """Return what the person would be shown."""
        tool = registry.tool(name)
        return tool.approval.preview(
            self.context, **validate_arguments(tool, arguments)
        )


def make_rows() -> Rows:
    """Fill the database."""
    call_command("migrate", verbosity=0)
    user = get_user_model().objects.create_superuser("ada", password="x")
    call_command("demo_data", verbosity=0, stdout=StringIO())
    Page.objects.bulk_create(
        Page(slug=f"page-{number}", title=f"Page {number}", text="Some words. " * 20)
        for number in range(MANY)
    )
    conversation = Conversation.objects.create(owner=user)
    run = Run.objects.create(conversation=conversation, user=user)
    message = Message.objects.create(
        conversation=conversation, run=run, role="assistant", position=1
    )
    step = Step.objects.create(run=run, index=0, message=message)
    call = ToolCall.objects.create(
        run=run, step=step, position=0, name="change_objects", effect="write"
    )
    pages = list(Page.objects.filter(slug__startswith="page-").order_by("pk"))
    return Rows(user=user, run=run, call=call, pages=pages)


def timed(work: Work) -> float:
    """Return the milliseconds that `work` takes."""
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1000


def pairs(ours: Work, theirs: Work, count: int) -> list[tuple[float, float]]:
    """Return the times of both, done in turn, after some that do not count."""
    for _ in range(5):
        ours()
        theirs()
    return [(timed(ours), timed(theirs)) for _ in range(count)]
