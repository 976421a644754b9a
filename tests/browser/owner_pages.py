"""
The owner's pages with rows in them, some of them broken, for who looks at each page.

`python -m tests.browser.owner_pages` makes the rows in the database of a server and
writes the addresses, by name, as JSON.
"""

import json
import subprocess
import sys
from datetime import timedelta
from typing import Any

from tests.servers.app import DemoServer
from tests.servers.process import python

APP = "/admin/ai_assistant/"
PAGE = "/admin/wiki/page/1/change/"
TABLES = (
    *("agent", "auditentry", "budget", "changeset", "conversation", "feedback"),
    *("instruction", "memory", "module", "policyrule", "profile", "promptcommand"),
    *("run", "skill", "suggestion", "toolcall", "usageledger", "accesstoken"),
)
REPORTS = ("usage", "tools", "failures", "approvals", "feedback", "budgets", "undo")
FORMS = ("profile", "module", "agent", "instruction", "promptcommand", "memory")


def addresses(server: DemoServer) -> dict[str, str]:
    """Make the rows on a server that has started; return its pages by name."""
    done = subprocess.run(
        python("-m", "tests.browser.owner_pages"),
        env=server.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout.splitlines()[-1]))


def fixed_pages() -> dict[str, str]:
    """Return the pages that are of no row."""
    found = {"start": APP, **{f"{table}-list": f"{APP}{table}/" for table in TABLES}}
    found |= {f"report-{name}": f"{APP}report/{name}/" for name in REPORTS}
    found |= {f"{form}-add": f"{APP}{form}/add/" for form in FORMS}
    told = f"user=admin&path={PAGE}&text=Sum+this+page+up"
    return {
        **found,
        "transfer": f"{APP}configurationfile/",
        "registered": f"{APP}module/registered/",
        "registered-here": f"{APP}module/registered/?user=admin&path={PAGE}",
        "prompt": f"{APP}run/prompt/",
        "prompt-told": f"{APP}run/prompt/?{told}",
    }


def make_rows() -> dict[str, str]:
    """Make rows of all kinds; return the pages of some of them."""
    from django.contrib.auth import get_user_model

    ada = get_user_model().objects.get(username="admin")
    keys = {**_configuration(), **_run(ada)}
    found = {}
    for name, key in keys.items():
        table, _dash, more = name.partition("-")
        found[f"{table}-change{more and f'-{more}'}"] = f"{APP}{table}/{key}/change/"
    found["versions"] = f"{APP}instruction/{keys['instruction']}/history/"
    found["prompts"] = f"{APP}run/{keys['run']}/prompts/"
    found["test"] = f"{APP}run/{keys['run']}/test/"
    return found


def _configuration() -> dict[str, Any]:
    from django.test import Client

    from ai_assistant import models
    from ai_assistant.models.configuration import Profile

    make = {
        "skill": models.Skill(name="weekly-report", description="How", body="1. Look."),
        "suggestion": models.Suggestion(name="open", label="What is still open?"),
        "promptcommand": models.PromptCommand(
            name="sum-up",
            text="Sum up **{{ period }}**.",
            arguments={"type": "object", "properties": {"period": {"type": "string"}}},
        ),
        "agent": models.Agent(
            name="analyst", label="Analyst", text="Count, *then* say."
        ),
        "memory": models.Memory(text="We close at six."),
        "policyrule": models.PolicyRule(tools="delete_.*", decision="deny"),
        "budget": models.Budget(scope="site", window="day", tokens=100_000),
        "module": models.Module(name="chapters", pages="wiki.page", text="Be brief."),
    }
    for row in make.values():
        row.save()
    # What has broken since: a tool that is gone, and a key of another SECRET_KEY.
    broken = models.Module(name="returns", pages="admin:nowhere_*", tools="gone_tool")
    key = Profile(name="spare", model="openai/gpt-5-mini", api_key_encrypted="x.y")
    for row in (broken, key):
        type(row).objects.bulk_create([row])
    client = Client(SERVER_NAME="localhost")
    client.login(username="admin", password="admin")
    instruction = models.Instruction.objects.create(name="tone", text="Be kind.")
    for text in ("Be brief.\nBe kind.", "Be brief.\nBe kind.\nSay *why*."):
        fields = {"name": "tone", "text": text, "priority": "0", "is_active": "on"}
        client.post(f"{APP}instruction/{instruction.pk}/change/", fields)
    return {
        **{name: row.pk for name, row in make.items()},
        "instruction": instruction.pk,
        "module-broken": models.Module.objects.get(name="returns").pk,
        "profile-broken": Profile.objects.get(name="spare").pk,
    }


def _run(ada: Any) -> dict[str, Any]:
    from ai_assistant import models
    from ai_assistant.models.usage import UsageLedger
    from ai_assistant.testing import (
        answer_interrupt,
        call,
        reasoning,
        reply,
        run_assistant,
    )

    values = {"model": "auth.group", "values": {"name": "Proof-readers"}}
    found = call("search_objects", {"model": "wiki.page"})
    played = run_assistant(
        ada,
        PAGE,
        "Which chapters are long? Make a group for those who read them.",
        replies=[
            [reasoning("First the chapters."), *reply("I look.", found)],
            reply("Now the group.", call("create_object", values)),
            "Three chapters are **long**. The group is there.",
        ],
    )
    run = answer_interrupt(played, "approve").run
    models.Feedback.objects.create(run=run, user=ada, value="down", text="Too long.")
    failed = run_assistant(
        ada, PAGE, "Try.", replies=["."], conversation_id=run.conversation_id
    )
    models.Step.objects.update(model="openai/gpt-5-mini")
    UsageLedger.objects.update(model="openai/gpt-5-mini")
    UsageLedger.objects.filter(run=run).update(cost_usd="0.0042")
    later = failed.run.created_at + timedelta(seconds=2)
    models.Run.objects.filter(pk=failed.run.pk).update(
        state="failed",
        error_code="bad_key",
        error_text="The key of the model is refused.",
        finished_at=later,
        hook_errors=[
            {"hook": "guard", "point": "before_tool", "error": "No", "count": 2}
        ],
    )
    return {
        "run": run.pk,
        "run-failed": failed.run.pk,
        "conversation": run.conversation_id,
        "toolcall": run.calls.order_by("created_at")[0].pk,
        "changeset": run.change_sets.get().pk,
        "feedback": run.feedback.get().pk,
        "auditentry": models.AuditEntry.objects.order_by("pk").last().pk,
        "usageledger": UsageLedger.objects.order_by("pk").last().pk,
    }


if __name__ == "__main__":
    import django

    django.setup()
    sys.stdout.write(json.dumps({**fixed_pages(), **make_rows()}) + "\n")
