"""A new run in place of one that has ended, or after it: Retry, Continue, and versions."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.configuration.profiles import labelled_profiles
from ai_assistant.engine.intake.values import Lineage, SentPage, Submission
from ai_assistant.engine.lifecycle.finish import BUDGET
from ai_assistant.engine.queries import get_or_404, runs
from ai_assistant.engine.storage.branches import tree_of
from ai_assistant.engine.storage.told import question_of
from ai_assistant.exceptions import Refused
from ai_assistant.models.conversation import COMMAND_KEYS, Message
from ai_assistant.models.run import Run, RunKind, RunState
from ai_assistant.prompts.system import WISHES
from ai_assistant.safety.identity.session import SessionStamp
from ai_assistant.types import SentCommand, UserKey

FEW_PARTS, MOST_PARTS = 4, 200  # that are looked for above a run, and if all continue


def beginning(path: Sequence[UUID], place: int) -> int:
    """Return the place in `path` where the answer begins that the run at `place` is of."""
    for many in (FEW_PARTS, MOST_PARTS):
        first = max(0, place - many)
        found = Run.objects.filter(pk__in=path[first + 1 : place + 1])
        later = set(found.filter(kind=RunKind.CONTINUE).values_list("pk", flat=True))
        while place > first and path[place] in later:
            place -= 1
        if place > first:
            break
    return place


def whole_answer(run: Run) -> list[UUID]:
    """Return the runs of the answer as far as `run`, the first one first."""
    if run.kind != RunKind.CONTINUE:
        return [run.pk]
    path = tree_of(run.conversation).path_to(run.pk)
    return path[beginning(path, len(path) - 1) :]


@dataclass(frozen=True, kw_only=True, slots=True)
class Version:
    """Who wants another version of `run_id`. `key` makes a repeat harmless."""

    user_id: UserKey
    run_id: UUID
    key: str
    stamp: SessionStamp
    look_only: bool = False  # nothing may be changed; nor if that was so before


def is_asked_again(run: Run) -> bool:
    """Return whether a retry of `run` asks its question again instead of continuing."""
    if run.state == RunState.LIMITED and run.error_code == BUDGET:
        return not run.steps.exists()  # it never came to the model
    return run.state == RunState.FAILED


def again_submission(
    user_id: UserKey, run_id: UUID, key: str, session: SessionStamp
) -> Submission:
    """
    Return what is sent for another try at `run_id`.

    After a failure, and a limit before the first answer, the question is asked
    again, with all that was said to it, beside the first try; after a stop or another limit the assistant is asked
    to go on. Raise Refused not_found, or not_ended.
    """
    run = ended_run(user_id, run_id)
    retries = is_asked_again(run)
    asked = question_of(run.pk) if retries else None
    text, command = _all_said(run) if asked else (_("Go on."), None)
    return replace(
        _like(run, session),
        key=_key("retry" if retries else "continue", key),
        text=text,
        command=command,
        label=_label(run) if asked else Message.Label.USER,
        lineage=Lineage(
            kind=_beside_kind(run, RunKind.RETRY) if retries else RunKind.CONTINUE,
            continues=run.pk,
            beside=run.pk if retries else None,
            wish=run.wish,
        ),
        profile=run.profile,
    )


def regenerate_submission(
    version: Version,
    *,
    wish: str = "",
    profile: str = "",
    page: SentPage | None = None,
) -> Submission:
    """
    Return what is sent for another answer to the question of a run.

    `wish` says how to answer, `profile` who, `page` for which page; empty: as
    before. With another page, the old page's context is dropped. Raise Refused
    not_found, not_ended, bad_request for a wish or a profile that is not offered.
    """
    run = ended_run(version.user_id, version.run_id)
    offered = {run.profile, *dict(labelled_profiles(without=run.profile))}
    if wish not in ("", *WISHES) or (profile or run.profile) not in offered:
        raise Refused(
            "bad_request", _("This page is out of date. Reload it and try again.")
        )
    asked = question_of(run.pk)
    again = _beside(run, version)
    lineage = replace(
        again.lineage,
        kind=_beside_kind(run, RunKind.VERSION),
        continues=run.continues_id if run.kind == RunKind.CONTINUE else None,
        wish=wish,
    )
    return replace(
        again,
        key=_key(str(run.pk), version.key, wish, profile, page.path if page else ""),
        text=asked.typed if asked else "",
        command=_command_of(asked),
        label=_label(run),
        page=page or again.page,
        lineage=lineage,
        profile=profile or run.profile,
    )


def edited_submission(version: Version, text: str) -> Submission:
    """
    Return what is sent for another question in the place of that of a run.

    What code of the site has written there stays its words, whatever was changed of
    them. Raise Refused not_found, or not_ended.
    """
    run = ended_run(version.user_id, version.run_id)
    key = _key(str(run.pk), version.key)
    return replace(_beside(run, version), key=key, text=text, label=_label(run))


def ended_run(user_id: UserKey, run_id: UUID) -> Run:
    """Return an ended run of the user. Raise Refused not_found, or not_ended."""
    run = get_or_404(runs(user_id), run_id)
    if not run.is_final:
        raise Refused("not_ended", _("This answer is still being written."))
    return run


def _like(run: Run, session: SessionStamp) -> Submission:
    """Return what is sent from the page of `run`, by whoever is signed in now."""
    return Submission(
        user_id=run.user_id,
        conversation_id=run.conversation_id,
        key="",
        text="",
        # What was dropped stays dropped.
        page=SentPage(path=run.page_path, title=run.page_title, context=run.context),
        stamp=session,
        look_only=run.look_only,
        agent=run.agent,
        context_rounds=run.context_rounds,
    )


def _beside(run: Run, version: Version) -> Submission:
    return replace(
        _like(run, version.stamp),
        lineage=Lineage(kind=RunKind.VERSION, beside=run.pk),
        profile=run.profile,
        look_only=run.look_only or version.look_only,
    )


def _command_of(message: Message | None) -> SentCommand | None:
    """Return the command that was sent; it is not expanded another time."""
    if message is None or not message.command:
        return None
    kept = {name: message.command[name] for name in COMMAND_KEYS}
    return SentCommand(prompt=message.text, **kept)


def _all_said(run: Run) -> tuple[str, SentCommand | None]:
    """Return the question of a run, with what the person said while it worked."""
    rows = Message.objects.filter(run=run, role=Message.Role.USER).order_by("position")
    said = list(rows)
    prompt = "\n\n".join(one.text for one in said)
    if len(prompt) > int(conf.get("LIMITS", "MESSAGE_CHARS")):
        return said[0].typed, _command_of(said[0])
    typed = "\n\n".join(one.typed for one in said)
    # The site's words stay the site's: they are no command of the person's own.
    commands = [one for one in map(_command_of, said) if one is not None]
    command = min(commands, key=lambda one: one.label != "site", default=None)
    return typed, replace(command, prompt=prompt) if command else None


def _label(run: Run) -> str:
    """Return what the words that a run was asked with may cause: the least of them."""
    said = Message.objects.filter(run=run, role=Message.Role.USER)
    found = set(said.values_list("label", flat=True))
    labels = (Message.Label.DATA, Message.Label.SITE)
    return next((label for label in labels if label in found), Message.Label.USER)


def _beside_kind(run: Run, kind: RunKind) -> RunKind:
    """Return the kind of a run beside `run`: a “Go on.” stays one that nobody typed."""
    return RunKind.CONTINUE if run.kind == RunKind.CONTINUE else kind


def _key(*said: str) -> str:
    """Return a key that is the same for the same wish, and not that of a message."""
    return hashlib.sha256("\0".join(said).encode()).hexdigest()
