"""What stands under an answer that has ended: when, how long it took, what of it."""

from collections.abc import Iterable, Mapping
from uuid import UUID

from django.utils.translation import gettext as _

from ai_assistant.engine.continued import whole_answer
from ai_assistant.models.conversation import Message
from ai_assistant.models.feedback import Feedback
from ai_assistant.models.run import Run
from ai_assistant.render.html.entries import Entry
from ai_assistant.render.html.sources import sources_of

MINUTE_S = 60
HOUR_S = 3600


def ends_of(runs: Mapping[UUID, Run], messages: Iterable[Message]) -> dict[UUID, Entry]:
    """
    Return what `run_end.html` draws of each run beside how it ended, by its id.

    `messages` are all of these runs; of a run that goes on nothing is told.
    """
    texts: dict[UUID, str] = {}
    for message in messages:
        if message.role == Message.Role.ASSISTANT:
            said = texts.get(message.run_id, "")
            texts[message.run_id] = f"{said}\n\n{message.text}".strip()
    ended = [run for run in runs.values() if run.is_final]
    told = _feedback(ended)
    sources = sources_of({run.pk: texts.get(run.pk, "") for run in ended})
    return {
        run.pk: {
            "ended_at": run.finished_at,
            "duration": duration(run.running_s),
            "has_text": bool(texts.get(run.pk)),
            "feedback": told.get(run.pk),
            "reasons": _reasons(told.get(run.pk)),
            "sources": sources.get(run.pk, []),
        }
        for run in ended
    }


def end_of(run: Run) -> Entry:
    """Return the same of one run, its messages read anew, with those it goes on with."""
    rows = Message.objects.filter(run_id__in=whole_answer(run)).order_by("position")
    messages = list(rows)
    end = ends_of({run.pk: run}, messages).get(run.pk, {})
    said = (one.text for one in messages if one.role == Message.Role.ASSISTANT)
    return {**end, "has_text": any(map(str.strip, said))} if end else {}


def duration(seconds: float) -> str:
    """Return how long it was worked, as "6 s", "2 min 5 s" or "1 h 4 min"."""
    whole = max(1, round(seconds))
    if whole < MINUTE_S:
        return _("%(seconds)d s") % {"seconds": whole}
    minutes, rest = divmod(whole, MINUTE_S)
    if whole < HOUR_S:
        return _("%(minutes)d min %(seconds)d s") % {
            "minutes": minutes,
            "seconds": rest,
        }
    hours, minutes = divmod(minutes, MINUTE_S)
    return _("%(hours)d h %(minutes)d min") % {"hours": hours, "minutes": minutes}


def _feedback(runs: list[Run]) -> dict[UUID, Feedback]:
    """Return what each run's own person thinks of it."""
    owners = {run.pk: run.user_id for run in runs}
    rows = Feedback.objects.filter(run_id__in=owners)
    return {row.run_id: row for row in rows if row.user_id == owners[row.run_id]}


def _reasons(feedback: Feedback | None) -> list[Entry]:
    """Return the reasons that can be ticked, and which are."""
    ticked = feedback.reasons if feedback else ()
    return [
        {"value": value, "label": label, "ticked": value in ticked}
        for value, label in Feedback.Reason.choices
    ]
