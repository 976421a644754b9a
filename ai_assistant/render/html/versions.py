"""Which version of how many a question is, and what can be done to it."""

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _

from ai_assistant.engine.branches import Tree, has_changed, tree_of
from ai_assistant.engine.history import question_of
from ai_assistant.engine.profiles import labelled_profiles
from ai_assistant.models.run import Run
from ai_assistant.render.html.asked_on import page_instead

Entry = dict[str, Any]


def versions_entry(run: Run, tree: Tree) -> Entry | None:
    """Return what `branch_picker.html` draws; None if there is one version only."""
    versions = tree.versions(run.pk)
    if versions.count < 2:
        return None
    return {
        # The same for each of them: what has the focus keeps it.
        "id": f"b-{run.after_id or run.conversation_id}",
        "number": versions.index + 1,
        "count": versions.count,
        "previous": _text(versions.previous),
        "next": _text(versions.next),
    }


def versions_sentence(entries: Iterable[Entry]) -> str:
    """Return what is said when another branch is shown: the last choice there is."""
    questions = (one for entry in entries for one in (entry, *_seams(entry)))
    chosen = [found for one in questions if (found := one.get("versions"))]
    if not chosen:
        return ""
    return _("Version %(number)d of %(count)d is shown.") % {
        "number": chosen[-1]["number"],
        "count": chosen[-1]["count"],
    }


def fork_entry(run: Run, page: str = "") -> Entry:
    """
    Return what `message_edit.html` and `regenerate_menu.html` draw on `page`, a path.

    `changed` says that what is left has changed data, which stay as they are. Asks
    the database.
    """
    asked = question_of(run)
    tree = tree_of(run.conversation)
    return {
        "run_id": str(run.pk),
        "message_id": str(asked.pk) if asked else "",
        "text": asked.text if asked else "",
        "profiles": labelled_profiles(without=run.profile),
        "page": page_instead(run, page),
        "changed": has_changed(tree.below(run.pk)),
    }


def _seams(entry: Entry) -> list[Entry]:
    """Return what is drawn of the questions that nobody typed, within an answer."""
    return [later["seam"] for later in entry.get("later", ()) if later["seam"]]


def _text(found: object) -> str:
    return str(found) if found else ""
