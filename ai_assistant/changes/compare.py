"""Whether what happened is what the person was shown."""

from django.utils.translation import gettext as _

from ai_assistant.changes.describe import changes_of, gap_texts
from ai_assistant.changes.expected import Expected
from ai_assistant.changes.fingerprint import fingerprint
from ai_assistant.changes.missing import missing
from ai_assistant.changes.objects import objects_of
from ai_assistant.changes.recorder import Recorder
from ai_assistant.changes.values import Changes

__all__ = ["changes_of", "fingerprint", "unexpected"]


def unexpected(shown: Changes, recorder: Recorder) -> list[str]:
    """
    Return a sentence for each thing that is not as it was shown.

    Whatever was tried out before must happen in just that way. Of an admin action
    nothing could be shown, since it is code of the site: everything is expected
    there, and it is listed afterwards.
    """
    if any(one.kind == "action" for one in shown.objects):
        return []
    if shown.exact:
        if fingerprint(recorder) == shown.exact:
            return []
        return [_("Other things would happen than were shown.")]
    happened = objects_of(recorder.rows)
    return [
        *gap_texts(recorder),
        *Expected(shown).sentences(happened),
        *missing(shown, happened),
    ]
