import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from ai_assistant.configuration.registered import names_registered
from ai_assistant.management import user_named
from ai_assistant.management.doctor import DoctorReport, examine
from ai_assistant.management.doctor_models import is_untried
from ai_assistant.management.doctor_parts import judged_tools, named_module


class Command(BaseCommand):
    """Tell what is configured, missing and registered; exit 1 if no chat can work."""

    help = "Check everything that the assistant needs, and report what is missing."
    requires_system_checks = ()  # it shows what they find

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="write one JSON object")
        parser.add_argument(
            "--try",
            action="store_true",
            dest="tries",
            help="make one real call of the model, and of each FALLBACK; it may cost a little",
        )
        parser.add_argument(
            "--user", default="", help="the username of the user whose policy is shown"
        )
        parser.add_argument(
            "--module", default="", help="the id of the module whose policy is shown"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        user = user_named(options["user"]) if options["user"] else None
        module = named_module(options["module"])
        report = examine(tries=options["tries"])
        if options["json"]:
            self._write_json(report)
        else:
            self._write_text(report)
            self._write_policy(user, module)
            self.stdout.write("")
            self.stdout.write(_verdict(report, tried=options["tries"]))
        if not report.ok:
            sys.exit(1)

    def _write_json(self, report: DoctorReport) -> None:
        payload = {
            "ok": report.ok,
            "problems": [str(problem) for problem in report.problems],
            "registered": names_registered(),
        }
        self.stdout.write(json.dumps(payload, indent=2, ensure_ascii=False))

    def _write_text(self, report: DoctorReport) -> None:
        for name, fact in report.facts.items():
            self.stdout.write(f"{name:14} {fact}")
        for kind, names in names_registered().items():
            if names or kind == "tools":
                self.stdout.write(f"{kind:14} {', '.join(names) or 'none'}")
        for problem in report.problems:
            style = self.style.ERROR if problem.blocks else self.style.WARNING
            self.stdout.write("")
            self.stdout.write(style(f"{problem.id}: {problem.text}"))
            self.stdout.write(f"    {problem.hint}")

    def _write_policy(self, user: Any, module: str) -> None:
        verdicts = judged_tools(user, module)
        if not verdicts:
            return
        user_text = f" for {user.get_username()}" if user is not None else ""
        module_text = f" on pages of {module}" if module else ""
        self.stdout.write("")
        self.stdout.write(f"Policy{user_text}{module_text}:")
        width = max(map(len, verdicts))
        for name, verdict in verdicts.items():
            self.stdout.write(f"  {name:{width}} {verdict.decision:5} {verdict.reason}")


def _verdict(report: DoctorReport, *, tried: bool) -> str:
    blocking = sum(problem.blocks for problem in report.problems)
    if blocking:
        keep = "prevents" if blocking == 1 else "prevent"
        return f"A chat cannot work: {blocking} of the problems above {keep} it."
    if is_untried() and not tried:
        see = "; see the problems above" if report.problems else ""
        return (
            f"Nothing prevents a chat{see}. The key was not tried: "
            "`assistant_doctor --try` makes one call."
        )
    if report.problems:
        return "A chat can work; see the problems above."
    return "A chat can work."
