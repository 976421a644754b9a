"""The report of `assistant_doctor`: the system checks, and checks at run time."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth import get_user_model
from django.core.checks import ERROR, run_checks
from django.core.exceptions import FieldError
from django.db import DatabaseError

from ai_assistant import conf
from ai_assistant.changes.capture.files import place_of_old_files
from ai_assistant.checks import TAG
from ai_assistant.configuration.rows import refresh
from ai_assistant.configuration.setup import registered_agents
from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.management.doctor_models import (
    fallback_facts,
    model_facts,
    stored_facts,
    tried,
    window_facts,
)
from ai_assistant.management.doctor_parts import (
    around_writes_in_words,
    count_of_budgets,
    count_of_rows,
    count_of_rules,
    count_of_tokens,
    failed_hooks_in_words,
    hooks_in_words,
    problems_of_agents,
    problems_of_modules,
    problems_of_rows,
    problems_of_rules,
    profile_without_price,
    who_may_call,
    why_not_passed,
)
from ai_assistant.management.doctor_services import (
    DoctorProblem,
    background_facts,
    database_facts,
    executor_facts,
    layer_facts,
    server_facts,
)
from ai_assistant.modules.resolve import module_ids
from ai_assistant.tools.data.access.sites import mounted_sites, why_missing
from ai_assistant.web.agui.routes import INSTALL, is_installed

NO_MODEL, NO_KEY = f"{TAG}.W011", f"{TAG}.W014"


@dataclass(kw_only=True, slots=True)
class DoctorReport:
    """The facts that were checked, by name, and the problems found."""

    facts: dict[str, str] = field(default_factory=dict)
    problems: list[DoctorProblem] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not any(problem.blocks for problem in self.problems)


def examine(*, tries: bool = False) -> DoctorReport:
    """Check everything that a chat needs. `tries`: call the models too."""
    with suppress(DatabaseError, ImproperlyConfiguredAssistant):  # it is told below
        refresh()
    report = DoctorReport(problems=_from_checks())
    try:
        enabled = conf.enabled()
    except ImproperlyConfiguredAssistant:
        return report  # the system checks report it
    if not enabled:
        problem = DoctorProblem(
            "doctor.off",
            "The assistant is switched off.",
            'Set AI_ASSISTANT = {"ENABLED": True}.',
        )
        return DoctorReport(problems=[problem])
    looks = {**LOOKS, "tried": tried} if tries else LOOKS
    for name, look in looks.items():
        try:
            report.facts[name] = look()
        except DatabaseError:
            report.facts[name] = "not known, see the database"
        except DoctorProblem as problem:
            report.facts[name] = problem.text
            report.problems.append(problem)
    return report


def _from_checks() -> list[DoctorProblem]:
    return [
        DoctorProblem(
            id=str(message.id),
            text=str(message.msg),
            hint=str(message.hint or ""),
            blocks=message.level >= ERROR or _is_blocking(str(message.id)),
        )
        for message in run_checks(tags=[TAG])
        if not message.is_silenced()
    ]


def _is_blocking(message_id: str) -> bool:
    """Return whether a warning is more than that: no model, or no key for it."""
    if message_id == NO_KEY:
        # A server of one's own may ask for no key.
        return not conf.profile().get("API_BASE")
    return message_id == NO_MODEL


# --- the checks at run time ---


def _data_tools() -> str:
    if not conf.get("DATA", "TOOLS"):
        return "switched off by DATA['TOOLS']"
    user = _active_superuser()
    if reasons := why_missing(user) if user is not None else []:
        raise DoctorProblem(
            "doctor.admin",
            " ".join(reasons),
            "Let has_permission() go by the user alone where a request has no session, "
            "or go on without these tools.",
            blocks=False,
        )
    names = ", ".join(site.name for site in mounted_sites())
    user_text = f"asked as {user.get_username()}" if user else "no superuser to ask as"
    return f"of AdminSite {names or 'none'}, {user_text}"


def _around_writes() -> str:
    user = _active_superuser()
    if failed := why_not_passed(user) if user is not None else "":
        raise DoctorProblem(
            "doctor.request",
            f"A request of a tool does not get through what the site puts around it: "
            f"{failed}. That is: {around_writes_in_words()}.",
            "Let it pass a request without cookies, and a run that is None; or remove it "
            "from AI_ASSISTANT['DATA'].",
            blocks=False,
        )
    return around_writes_in_words()


def _active_superuser() -> Any:
    """Return a user whom every AdminSite should let in, or None."""
    users = get_user_model()._default_manager.order_by("pk")
    try:
        return users.filter(is_active=True, is_superuser=True).first()
    except FieldError:
        return None


def _budgets() -> str:
    if name := profile_without_price():
        raise DoctorProblem(
            "doctor.price",
            f"A budget limits money, but the price of profile {name!r} is not known: "
            "its calls count as nothing.",
            "Give it INPUT_USD_PER_MTOK and OUTPUT_USD_PER_MTOK, or limit tokens.",
            blocks=False,
        )
    return count_of_budgets()


def _policy() -> str:
    if problems := problems_of_rules():
        raise DoctorProblem(
            "doctor.rules",
            f"Policy rules of the admin need a look: {' '.join(problems)}",
            "Correct or remove them, in the admin's list of policy rules.",
            blocks=False,
        )
    return count_of_rules()


def _modules() -> str:
    if problems := problems_of_modules():
        raise DoctorProblem(
            "doctor.modules",
            f"Modules of the admin need a look: {' '.join(problems)}",
            "Correct them in the admin's list of modules.",
            blocks=False,
        )
    return ", ".join(module_ids())


def _agents() -> str:
    if problems := problems_of_agents():
        raise DoctorProblem(
            "doctor.agents",
            f"Agents of the admin need a look: {' '.join(problems)}",
            "Correct them in the admin's list of agents.",
            blocks=False,
        )
    return ", ".join(agent.name for agent in registered_agents()) or "none"


def _rows() -> str:
    if problems := problems_of_rows():
        raise DoctorProblem(
            "doctor.rows",
            f"Rows of the admin need a look: {' '.join(problems)}",
            "Correct them in the lists of their kind.",
            blocks=False,
        )
    return count_of_rows()


def _old_files() -> str:
    try:
        return place_of_old_files()
    except Exception as error:  # any storage, any failure
        raise DoctorProblem(
            "doctor.stash",
            "The old files of changes cannot be kept, so that no undo restores them: "
            f"{type(error).__name__}.",
            "Make AI_ASSISTANT['STASH_STORAGE'] writable for this process.",
            blocks=False,
        ) from error


def _cors() -> str:
    has_tokens = count_of_tokens()[0] > 0
    if conf.get("CORS_ORIGINS") and not has_tokens:
        raise DoctorProblem(
            "doctor.cors",
            "Pages of CORS_ORIGINS may call, but there is no access token to call with.",
            "Create one: `python manage.py assistant_token create`. Cookies do not "
            "count.",
            blocks=False,
        )
    return who_may_call()


def _agui() -> str:
    return "ready" if is_installed() else f"not installed: {INSTALL}"


def _tokens() -> str:
    good, endless = count_of_tokens()
    return f"{good} good, {endless} of them never expire" if endless else f"{good} good"


def _hooks() -> str:
    if failed := failed_hooks_in_words():
        raise DoctorProblem(
            "doctor.hooks",
            f"Hooks have failed in the last day: {failed.rstrip('.')}.",
            "The runs went on without them. The log has the tracebacks.",
            blocks=False,
        )
    return hooks_in_words()


LOOKS: dict[str, Callable[[], str]] = {
    "model": model_facts,
    "window, price": window_facts,
    "profiles of the admin": stored_facts,
    "fallbacks": fallback_facts,
    "database": database_facts,
    "channel layer": layer_facts,
    "executor": executor_facts,
    "server": server_facts,
    "long tools": background_facts,
    "data tools": _data_tools,
    "around a write": _around_writes,
    "budgets": _budgets,
    "policy": _policy,
    "modules at work": _modules,
    "agents at work": _agents,
    "rows of the admin": _rows,
    "hooks at work": _hooks,
    "old files": _old_files,
    "access tokens": _tokens,
    "AG-UI": _agui,
    "pages elsewhere": _cors,
}
