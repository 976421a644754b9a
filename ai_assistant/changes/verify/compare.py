"""Whether what happened is what the person was shown."""

from django.utils.translation import gettext as _

from ai_assistant.changes.capture.recorder import Recorder
from ai_assistant.changes.values import Changes
from ai_assistant.changes.verify.description import changes_of, gap_texts
from ai_assistant.changes.verify.differences import (
    MissingDifference,
    UnexpectedDifference,
    objects_of,
)
from ai_assistant.changes.verify.expected import Expected
from ai_assistant.changes.verify.fingerprint import fingerprint
from ai_assistant.changes.verify.missing import missing_changes

__all__ = ["changes_of", "fingerprint", "unexpected_changes"]


def unexpected_changes(shown: Changes, recorder: Recorder) -> list[str]:
    """
    Return a sentence for each thing that is not as it was shown.

    It is More or Less if something comes beside what was shown, or does not come.
    Whatever was tried out before must happen in just that way. Of an admin action
    nothing could be shown, since it is code of the site: everything is expected
    there, and it is listed afterwards.
    """
    if any(one.kind == "action" for one in shown.objects):
        return []
    if shown.exact:
        if fingerprint(recorder) == shown.exact:
            return []
        return [_not_exact(shown, recorder)]
    happened = objects_of(recorder.rows)
    return [
        *map(UnexpectedDifference, gap_texts(recorder)),
        *Expected(shown).sentences(happened),
        *missing_changes(shown, happened),
    ]


def _not_exact(shown: Changes, recorder: Recorder) -> str:
    """Return what a fingerprint tells of a difference: little, unless all is gone."""
    if recorder.rows or recorder.gaps or shown.is_empty:
        return _("Something other than what was shown would happen.")
    return MissingDifference(_("Nothing would change."))
