"""Tools that propose what a test or a picture needs; only their previews matter."""

from dataclasses import replace

from django.db import connection

import ai_assistant
from ai_assistant import RunContext
from ai_assistant.changes.values import Changes, FieldChange, ObjectChange, Related
from tests.testapp.models import Effect

SECTION = "questionnaires.section"
LONG = (
    "Before the operation you are asked about pain, movement and daily life. "
    "It takes about ten minutes. Your answers go to the clinic only, and to nobody "
    "else. You may stop at any time and go on later on the same device. "
    "Some questions are about your mood; skip those that you do not want to answer. "
    "After the operation the same questions come again after six weeks, three months "
    "and a year, so that the clinic sees how you are doing. "
)
EDITED = LONG.replace("ten minutes", "fifteen minutes").replace(
    "three months", "four months"
)


def changed(text: str, before: str, after: str, label: str = "Title") -> ObjectChange:
    field = FieldChange(name="title", label=label, before=before, after=after)
    return ObjectChange(
        kind="change", model=SECTION, object_id=text, text=text, fields=(field,)
    )


ONE = Changes(
    title="Change title and status of questionnaire “Knee replacement”",
    verb="Change questionnaire",
    model="questionnaires.questionnaire",
    objects=(
        ObjectChange(
            kind="change",
            model="questionnaires.questionnaire",
            object_id="4",
            text="Knee replacement",
            fields=(
                FieldChange(
                    name="title",
                    label="Title",
                    before="Knee replacement: before surgery",
                    after="Knee replacement: four weeks before surgery",
                ),
                FieldChange(
                    name="status", label="Status", before="Draft", after="Published"
                ),
                FieldChange(
                    name="end", label="Date of the anchor", before="12 March 2026"
                ),
            ),
        ),
    ),
    total=1,
)
LONG_TEXT = replace(
    ONE,
    title="Change description of questionnaire “Knee replacement”",
    objects=(changed("4", LONG, EDITED, "Description"),),
)
HIDDEN = replace(
    ONE,
    title="Change 4 fields of questionnaire “Knee replacement”",
    objects=(
        replace(
            ONE.objects[0],
            fields=(
                FieldChange(name="a", label="Name", before="paypal", after="pаypal"),
                FieldChange(
                    name="b", label="File", before="", after="invoice\u202efdp.exe"
                ),
                FieldChange(
                    name="c", label="Note", before="As agreed", after="As\u00a0agreed "
                ),
                FieldChange(
                    name="d",
                    label="Comment",
                    before="",
                    after="Fine\u200b" + "".join(chr(0xE0000 + ord(c)) for c in "pay"),
                ),
            ),
        ),
    ),
)
WORDS = [f"Sentence {n} says a little about measurement {n}. " for n in range(22_000)]
HUGE = replace(
    ONE,
    title="Change description of questionnaire “Knee replacement”",
    objects=(
        changed(
            "4",
            "".join(WORDS),
            "".join([*WORDS[:100], "Here is something new. ", *WORDS[300:]]),
            "Description",
        ),
    ),
)
CREATE = replace(
    ONE,
    title="Add section",
    verb="Add section",
    objects=(
        ObjectChange(
            kind="create",
            model=SECTION,
            text="Sleep",
            fields=(
                FieldChange(name="t", label="Title", after="Sleep"),
                FieldChange(name="q", label="Questionnaire", after="Knee replacement"),
                FieldChange(name="p", label="Position", after="7"),
                FieldChange(name="d", label="Description", after=LONG),
            ),
        ),
    ),
)
DELETE = Changes(
    title="Delete questionnaire “Knee replacement”",
    verb="Delete questionnaire",
    model="questionnaires.questionnaire",
    objects=(
        ObjectChange(
            kind="delete",
            model="questionnaires.questionnaire",
            object_id="4",
            text="Knee replacement: before surgery",
        ),
    ),
    total=1,
    related=(
        Related(
            model=SECTION,
            label="sections",
            kind="delete",
            count=4,
            texts=("Welcome", "Daily life", "Pain", "Closing words"),
        ),
        Related(
            model="questionnaires.question",
            label="questions",
            kind="delete",
            count=14,
            texts=("How are you?", "Where does it hurt?", "Since when?"),
        ),
        Related(
            model="questionnaires.schedule", label="schedules", kind="change", count=2
        ),
    ),
    undoable=False,
    warnings=("Answers that were given are kept.",),
)
BULK = Changes(
    title="Change status of 1000 questionnaires",
    verb="Change 1000 questionnaires",
    model="questionnaires.questionnaire",
    objects=tuple(
        replace(
            changed(f"Survey number {n}", "Draft", "Published", "Status"),
            model="questionnaires.questionnaire",
            object_id=str(n),
        )
        for n in range(1, 21)
    ),
    total=1000,
    rows_argument="ids",
)
WIDE = replace(
    BULK,
    title="Change status, language and revision of 3 questionnaires",
    verb="Change 3 questionnaires",
    objects=tuple(
        replace(
            one,
            fields=(
                *one.fields,
                FieldChange(
                    name="l", label="Default language", before="English", after="German"
                ),
                FieldChange(name="r", label="Revision", before="1", after="2"),
            ),
        )
        for one in BULK.objects[:3]
    ),
    total=3,
)
ACTION = Changes(
    title="Publish 3 questionnaires",
    verb="Publish 3 questionnaires",
    model="questionnaires.questionnaire",
    objects=tuple(
        ObjectChange(
            kind="action",
            model="questionnaires.questionnaire",
            object_id=str(n),
            text=f"Survey number {n}",
        )
        for n in (1, 2, 3)
    ),
    total=3,
    rows_argument="ids",
    undoable=False,
    warnings=("The action runs code of this site. What it does is not known before.",),
)
PROPOSALS = {
    "one": ONE,
    "long": LONG_TEXT,
    "huge": HUGE,
    "hidden": HIDDEN,
    "create": CREATE,
    "delete": DELETE,
    "bulk": BULK,
    "wide": WIDE,
    "action": ACTION,
}


def preview(context: RunContext, name: str, ids: list[str] | None = None) -> Changes:
    return PROPOSALS[name]


@ai_assistant.tool(effect="write", preview=preview, rows_argument="ids")
def propose(context: RunContext, name: str, ids: list[str] | None = None) -> None:
    """Propose one of the changes that pictures show. It changes nothing."""


@ai_assistant.tool(effect="destructive", preview=preview, rows_argument="ids")
def propose_removal(
    context: RunContext, name: str, ids: list[str] | None = None
) -> None:
    """Propose one of the removals that pictures show. It removes nothing."""


@ai_assistant.tool(effect="write", preview="transaction", label="Write around the ORM")
def write_around(context: RunContext, key: str) -> dict[str, str]:
    """Write one effect, and others by a statement that no image covers."""
    Effect.objects.create(key=key, value="written", run=context.run_id)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO conformance_writtenrow (text, run_id, created_at) "
            "VALUES (%s, %s, CURRENT_TIMESTAMP)",
            [key, context.run_id.hex],
        )
    return {"key": key}
