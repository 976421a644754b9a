"""A background call is held to what was shown, one piece after another."""

from dataclasses import replace
from functools import cached_property

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from ai_assistant.changes.expected_pieces import Pieces, done_by, not_done
from ai_assistant.changes.recorder import Recorder
from ai_assistant.changes.values import Changes
from ai_assistant.engine.effects import (
    because_unexpected,
    check_unmoved,
    has_moved,
    shown_before,
)
from ai_assistant.exceptions import Differs
from ai_assistant.models.call import ToolCall
from ai_assistant.models.change import ChangeSet
from ai_assistant.types import ToolResult

NAMED = 5  # of the objects that were left


class Holding:
    """Holds one attempt at a background call to what the person has approved."""

    def __init__(self, call: ToolCall) -> None:
        self.call = call
        self.differs: Differs | None = None  # of a piece: no other one is begun
        self._pieces: Pieces | None = None  # None: what was kept is to be read

    @cached_property
    def shown(self) -> Changes | None:
        """What the person approved, if that was shown as a difference."""
        return shown_before(self.call)

    def check_begin(self) -> None:
        """Raise Differs if a shown row is another, or a former piece was not as shown."""
        if self.differs is not None:
            raise self.differs
        if self.shown is not None and not self.has_begun():
            check_unmoved(self.shown)

    def check(self, recorder: Recorder) -> None:
        """Raise Differs if a piece is not among what was shown and not done yet."""
        if self.shown is None:
            return
        if self._pieces is None:
            self._pieces = Pieces(self.shown, self.call)
        because = ""
        if self._pieces.has_moved(recorder):
            because = has_moved()
        elif unexpected := self._pieces.unexpected(recorder):
            because = because_unexpected(unexpected)
        if because:
            self.differs = Differs(because)
            raise self.differs

    def keep(self) -> None:
        """Note that the piece that was checked is committed."""
        if self._pieces is not None:
            self._pieces.keep()

    def forget(self) -> None:
        """Read again what was kept: a piece was taken back."""
        self._pieces = None

    def has_begun(self) -> bool:
        """Tell whether a piece has changed anything, in this attempt or before."""
        return ChangeSet.objects.filter(call=self.call).exists()

    def ended_by(self, differs: Differs) -> Differs | ToolResult:
        """Return what comes of a call of which a piece was not as shown."""
        if not self.has_begun():
            return differs
        # It cannot be asked for again: a part of what was shown is done.
        stays = _("That part was taken back. What was done before stays: %(done)s.")
        return ToolResult(
            ok=False,
            error=f"{differs.because} {stays % {'done': self._done()}}",
            error_type="changed",
            suggestion=_("Look at what is done by now, then decide again."),
        )

    def told(self, result: ToolResult) -> ToolResult:
        """Return a result that says which of the shown objects were left."""
        left = not_done(self.shown, self.call) if self.shown and result.ok else []
        if not left:
            return result
        names = ", ".join(left[:NAMED])
        if len(left) > NAMED:
            more = {"names": names, "count": len(left) - NAMED}
            names = _("%(names)s and %(count)d more") % more
        said = _("Shown, but not done, or not wholly: %(names)s.") % {"names": names}
        # The model reads the message, the card shows the error.
        return replace(result, message=f"{result.message} {said}".strip(), error=said)

    def _done(self) -> str:
        count = len(done_by(self.call))
        return ngettext("%(count)d object", "%(count)d objects", count) % {
            "count": count
        }
