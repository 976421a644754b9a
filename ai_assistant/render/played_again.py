"""A run as the Python source of a test, in which a script says what the model said."""

from collections.abc import Iterable, Iterator
from pprint import pformat
from typing import Any

from django.db.models import Q

from ai_assistant.models.call import ToolCall
from ai_assistant.models.change import RowChange
from ai_assistant.models.conversation import Message
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import WAITING_FOR_PERSON, Run, RunState, Step
from ai_assistant.text.redaction.redact import redact, redact_json

SOURCE = '''"""A run of the assistant, played again without a model."""

{imports}

class PlayedAgainTests(TestCase):
    def setUp(self):
{set_up}

    def test_run(self):
        replies = [
{replies}
        ]

        played = run_assistant(
            self.user,
            {path},
            {text},
            replies=replies,{context}
        )
{answers}
{checks}
'''
WIDTH = 70
Status = Interrupt.Status
PLAYED = (RunState.SUCCEEDED, *WAITING_FOR_PERSON)


def source_of(run: Run) -> str:
    """Return the source of a test that plays a run again; without secrets."""
    replies = [*_replies(run)]
    answers = [*_answers(run)]
    context = {name: value for name, value in run.context.items() if value}
    names = {"run_assistant", *(("answer_interrupt",) if answers else ())}
    names |= {
        name
        for name in ("call", "reasoning", "reply")
        if any(f"{name}(" in reply for reply in replies)
    }
    told = f"context={_value(redact_json(context))}," if context else ""
    return SOURCE.format(
        imports=_imports(run, names),
        set_up=_indented(_set_up(run), 8),
        replies=_indented((f"{reply}," for reply in replies), 12),
        path=_indented([_value(run.page_path)], 12).strip(),
        text=_indented([_value(_question(run))], 12).strip(),
        context="\n" + _indented([told], 12) if told else "",
        answers=_indented(answers, 8) + "\n" if answers else "",
        checks=_indented(_checks(run), 8),
    )


def _imports(run: Run, names: Iterable[str]) -> str:
    lines = ["from django.contrib.auth import get_user_model"]
    if not _is_superuser(run):
        lines.append("from django.contrib.auth.models import Permission")
    lines += ["from django.test import TestCase", ""]
    lines += [
        "from ai_assistant.testing import (",
        *(f"    {n}," for n in sorted(names)),
    ]
    return "\n".join([*lines, ")", ""])


def _is_superuser(run: Run) -> bool:
    return bool(getattr(run.user, "is_superuser", False))


def _set_up(run: Run) -> Iterator[str]:
    if _is_superuser(run):
        yield 'self.user = get_user_model().objects.create_superuser("tester")'
    else:
        yield 'self.user = get_user_model().objects.create_user("tester", is_staff=True)'
        names = sorted(run.user.get_all_permissions()) if run.user.is_active else []
        yield f"for name in {_value(names)}:"
        yield '    app, codename = name.split(".")'
        yield "    found = Permission.objects.get("
        yield "        content_type__app_label=app, codename=codename"
        yield "    )"
        yield "    self.user.user_permissions.add(found)"
    changed = RowChange.objects.filter(change_set__run=run).exclude(kind="create")
    rows = {
        f"{label} {key}" for label, key in changed.values_list("model", "object_id")
    }
    if rows or run.page_path.strip("/").count("/") > 2:
        yield "# Create here what the run works with: the object of the page, and others."
    yield from (f"# - {row!r}" for row in sorted(rows))  # a key may have lines


def _question(run: Run) -> str:
    said = run.messages.filter(role=Message.Role.USER).order_by("position").first()
    return redact(said.text) if said else ""


def _replies(run: Run) -> Iterator[str]:
    """Yield what the model said; what agents said that were asked, in between."""
    steps = Step.objects.filter(Q(run=run) | Q(run__root=run))
    calls: dict[int, list[str]] = {}
    called = ToolCall.objects.filter(step__in=steps, parent=None)
    rows = called.order_by("step", "position")
    for key, name, arguments, text in rows.values_list(
        "step", "name", "arguments", "arguments_text"
    ):
        told = redact(text) if text else redact_json(arguments)
        calls.setdefault(key, []).append(f"call({name!r}, {_value(told)})")
    for step in steps.select_related("message").order_by("created_at", "pk"):
        yield _reply(step.message, calls.get(step.pk, []))


def _reply(message: Message, calls: list[str]) -> str:
    parts = [part for part in message.parts if part["type"] == "reasoning"]
    thought = "\n\n".join(redact(part["text"]) for part in parts)
    text = _value(redact(message.text))
    said = _call_of("reply", [text, *calls]) if calls or thought else text
    if not thought:
        return said
    return "\n".join(
        ["[", *_lines(f"reasoning({_value(thought)}),"), *_lines(f"*{said},"), "]"]
    )


def _call_of(name: str, values: list[str]) -> str:
    short = f"{name}({', '.join(values)})"
    if len(short) <= WIDTH and "\n" not in short:
        return short
    return "\n".join(
        [f"{name}(", *(one for v in values for one in _lines(f"{v},")), ")"]
    )


def _answers(run: Run) -> Iterator[str]:
    """Yield how people, and pages, answered what waited for them, in order."""
    waits = Interrupt.objects.filter(Q(run=run) | Q(run__root=run))
    for one in waits.select_related("call").order_by("created_at"):
        if said := _answer(one):
            yield f"played = answer_interrupt(played, {said})"


def _answer(one: Interrupt) -> str:
    fixed = {Status.APPROVED: '"approve"', Status.DECLINED: '"skip"'}
    if one.status == Status.DENIED:
        reason = redact(str(one.answer or ""))
        return f'"deny", text={_value(reason)}' if reason else '"deny"'
    if one.status == Status.ANSWERED:
        return _given(one.answer)
    result = one.call.result or {}
    if one.status == Status.DONE and one.request:  # by the page
        if result.get("ok", True):
            return f"value={_value(redact_json(result.get('data')))}"
        return f"text={_value(redact(str(result.get('error', ''))))}"
    return fixed.get(Status(one.status), "")


def _given(answer: Any) -> str:
    if isinstance(answer, list):
        return f"chosen={_value(redact_json(answer))}"
    words = {True: "yes", False: "no"}.get(answer) if isinstance(answer, bool) else None
    return f"text={_value(words or redact(str(answer)))}"


def _checks(run: Run) -> Iterator[str]:
    if run.state not in PLAYED:
        yield f"# The run ended as “{run.state}”: a script cannot play that again."
        return
    yield f'self.assertEqual(played.state, "{run.state}")'
    calls = run.calls.order_by("step__index", "position").values_list("name", "status")
    yield "self.assertEqual("
    yield "    [(one.name, one.status) for one in played.calls],"
    yield from _lines(f"{_value([*map(tuple, calls)])},")
    yield ")"
    said = run.messages.filter(role=Message.Role.ASSISTANT).order_by("position")
    text = "\n\n".join(redact(one.text) for one in said if one.text)
    yield from (
        "self.assertEqual(",
        "    played.text,",
        *_lines(f"{_value(text)},"),
        ")",
    )


def _value(value: object) -> str:
    return pformat(value, width=WIDTH, sort_dicts=False)


def _lines(text: str) -> list[str]:
    return [f"    {line}" for line in text.splitlines()]


def _indented(lines: Iterable[str], spaces: int) -> str:
    """Return the lines, each with so much space before it; a value may have several."""
    return "\n".join(
        " " * spaces + line for text in lines for line in text.splitlines() or [""]
    )
