import re
from collections.abc import Sequence

from ai_assistant.providers.offline.followups import FOLLOWED
from ai_assistant.providers.offline.messages import Message, Reply
from ai_assistant.providers.offline.provider import OfflineProvider
from project.demo_model import answers
from project.demo_model.rules import RULES
from project.demo_model.summaries import summary_of
from project.demo_model.titles import title_of

LIST = re.compile(
    r"(?:list|how many|count)\b.{0,80}\bquestionnaires\b.*", re.IGNORECASE
)


class DemoProvider(OfflineProvider):
    """The offline model with the words of the demo; it gives titles and sums up, too."""

    gives_titles = True
    sums_up = True
    rules = RULES
    followed = (
        *FOLLOWED,
        (LIST, ("List draft questionnaires", "How many questions are there?")),
    )
    what_it_is = answers.WHAT_I_AM
    help_text = answers.HELP
    needed = answers.NEEDED

    def reply_to(self, messages: Sequence[Message]) -> Reply:
        """Return a title or a summary if one is asked for, else what the rules give."""
        asked_for = title_of(messages) or summary_of(messages)
        return Reply(text=asked_for) if asked_for else super().reply_to(messages)
