"""A conversation in which questions are asked and answered anew, and looked back at."""

from uuid import uuid4

from ai_assistant.engine.intake.retries import (
    Version,
    again_submission,
    edited_submission,
    regenerate_submission,
)
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.storage.branches import show_branch
from ai_assistant.models.run import Run
from ai_assistant.safety.identity.session import SessionStamp
from tests.render.html.story import Story


class Forking(Story):
    """Which run of before is meant, the length of a text says."""

    def possible(self) -> list[str]:
        able = super().possible()
        forks = ["answer_anew", "edit", "go_on", "switch", "switch"]
        return [*able, *forks] if able == ["ask"] and self.run else able

    def runs(self) -> list[Run]:
        return list(Run.objects.filter(conversation_id=self.conversation_id))

    def answer_anew(self, text: str) -> None:
        self._start(regenerate_submission(self._version(text)))

    def edit(self, text: str) -> None:
        self._start(edited_submission(self._version(text), f"Rather {text}"))

    def go_on(self, text: str) -> None:
        """Continue, or Retry after a failure."""
        wanted = self._meant(text).pk
        sent = again_submission(self.user.pk, wanted, str(uuid4()), SessionStamp())
        self._start(sent)

    def switch(self, text: str) -> None:
        show_branch(self.user.pk, self._meant(text).pk)

    def _meant(self, text: str) -> Run:
        runs = self.runs()
        return runs[len(text) % len(runs)]

    def _version(self, text: str) -> Version:
        return Version(
            user_id=self.user.pk,
            run_id=self._meant(text).pk,
            key=str(uuid4()),
            stamp=SessionStamp(),
        )

    def _start(self, submission) -> None:
        self.owners += 1
        self._begin(accept(submission, owner=f"process-{self.owners}").hold)
