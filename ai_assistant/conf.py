"""
The one setting, `AI_ASSISTANT`: a dict over `DEFAULTS`.

Read when used, so that `override_settings` works. Times are in seconds.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from django.conf import settings
from django.core.signals import setting_changed
from django.utils.functional import Promise
from django.utils.module_loading import import_string

from ai_assistant.exceptions import ImproperlyConfiguredAssistant


@dataclass(frozen=True, slots=True)
class Setting:
    """A default, and which other values are right: else those of its type above 0."""

    default: Any
    also: tuple[type, ...] = ()  # types besides that of the default
    items: type = str  # of a list
    choices: tuple[str, ...] = ()
    may_be_zero: bool = False
    wanted: str = ""  # in words, where the type alone does not say


def choice_of(*choices: str) -> Setting:
    """Return a setting whose default is the first choice."""
    return Setting(choices[0], choices=choices)


OPTIONAL = Setting(None, (int, float), wanted="a number or None")

# A plain dict is a group, whose settings have defaults one by one.
SETTINGS: Mapping[str, Any] = {
    "ENABLED": False,  # off means no URL, no panel, no socket route
    "STAFF_ONLY": True,
    # --- the model ---
    # name -> {PROVIDER, MODEL, API_BASE, API_KEY_ENV, API_KEY, LABEL, ...}
    "PROFILES": Setting({"default": {}}),
    "MODEL_HOSTS": [],  # that profiles of the admin may name though they are private
    "SYSTEM_PROMPT": "",  # added to the built-in prompt
    "TITLES": True,  # the model is asked once for the title of a conversation
    "TITLE_PROFILE": "",  # whose model it is; "": the one that has answered
    "MEMORY": True,  # people may have it remember something
    "SUMMARIES": True,  # the model sums up the earlier part of a long conversation
    "SUMMARY_PROFILE": "",  # whose model it is; "": the one that answers
    "FOLLOWUPS": False,  # the model may suggest what to ask after an answer
    # --- the run ---
    "EXECUTOR": choice_of("web", "worker"),  # worker: `manage.py runworker` executes
    "BACKGROUND": choice_of("auto", "celery", "threads"),  # auto: Celery with a broker
    "LEASE_S": 10.0,  # heartbeat, sweep and resend scale with it
    "POLL_S": 1.0,  # executors look for queued runs, panels for missed events
    "LIMITS": {
        # of one run
        "STEPS": 10,
        "CALLS_PER_STEP": 25,
        "RUN_S": 30 * 60.0,
        "MODEL_RETRIES": Setting(2, may_be_zero=True),  # before the first token only
        # side by side
        "RUNS_PER_PROCESS": 50,
        "RUNS_PER_USER": 5,
        "BACKGROUND_THREADS": 4,
        # sizes
        "MESSAGE_CHARS": 100_000,
        "RESULT_CHARS": 32_000,
        "HISTORY_MESSAGES": 50,  # sent to the model
        "HISTORY_CHARS": 400_000,  # sent to the model, with the results of tools
        "TOOL_SCHEMA_CHARS": 12_000,  # more than this is found by find_tools
    },
    "TIMEOUTS": {
        "FIRST_BYTE_S": 30.0,  # of the model
        "IDLE_S": 60.0,
        "MODEL_CALL_S": 600.0,
        "TOOL_S": 30.0,
        "READS_S": 120.0,  # of all reads of a step together
        "WRITE_S": OPTIONAL,  # of the write phase; None: 1 on SQLite, else 5
        "PIECE_S": 120.0,  # for which a piece of a long tool may do nothing
        "CONTEXT_S": 2.0,  # of all providers of a page together
        "APPROVAL_S": 24 * 3600.0,
        "QUESTION_S": OPTIONAL,  # None: questions wait for ever
    },
    "RATES": {  # "": any number
        "USER": "60/m",  # messages of one user
        "SITE": "",  # of all users together
        "API": "600/m",  # requests of one user
        "API_WRITE": "120/m",  # those of them that do not only read
        "UNKNOWN_TOKENS": "30/m",  # of one address
    },
    # dicts: scope (site, group, user, run), window (minute, day, month, run), tokens
    # and usd; group and user by name
    "BUDGETS": Setting([], items=dict, wanted="a list of dicts"),
    # --- tools ---
    "POLICY": Setting({}),  # tool name or pattern -> "allow" | "ask" | "deny"
    "TOOL_MANIFEST": "",  # a committed file, with which the tools are compared
    "CLIENT_TOOLS": True,  # pages may register browser tools
    "NAVIGATE_TO": ["admin"],  # namespaces to which the page may be moved
    "API_OPERATIONS": [],  # of the site's own API: ["orders.*", "!orders.refund"]
    # --- data: models as "shop.order", fields as "shop.order.note" ---
    "DATA": {
        "TOOLS": True,  # for every model in the admin
        "MODELS_EXCLUDED": [],  # models that these tools leave alone
        "READ_ONLY": [],  # models and fields that these tools read, and never write
        "SENSITIVE": [],  # more fields and models that are hidden
        "NOT_SENSITIVE": [],  # built-in sensitive ones that may be seen after all
        "WRITTEN_ALONG": [],  # by the site's code at a save: no proposal shows them
        "MIDDLEWARE": [],  # more that a request of these tools passes
        "SESSION_KEYS": ["otp_device_id"],  # of the person's session, to be read
        "REQUEST_CONTEXT": "",  # dotted path of a context manager: (request, run)
    },
    "STASH_STORAGE": "",  # of old files: alias or dotted class; "": beside MEDIA_ROOT
    # --- audit, secrets, retention ---
    "AUDIT": {
        "STARTS": False,  # the start of each run is in the audit log too
        "READS": False,  # calls that only read are in the audit log too
        "IP": False,  # and the address of the request
        "KEY": "",  # signs the audit log; empty: SECRET_KEY does
    },
    "REDACT": [],  # more patterns of secrets: regular expressions
    "RETENTION": {  # what is older goes with `assistant_purge`
        "CONVERSATION_DAYS": OPTIONAL,
        "AUDIT_DAYS": OPTIONAL,
        "TOKEN_DAYS": OPTIONAL,  # after they have ended
        "UNDO_DAYS": OPTIONAL,  # after them a change has no images any more
    },
    # --- programs ---
    "CORS_ORIGINS": [],  # of pages elsewhere that may call with an access token
    "REST_URLCONF": "ai_assistant.web.rest.urls",  # of the REST API
    "TOKENS": {
        "DAYS": 90,  # for how long a new token is valid by default
        "MAX_DAYS": Setting(365, (float, type(None)), wanted="a number or None"),
    },
    # --- the site ---
    "SQLITE_IMMEDIATE": True,
    "ALLOWED_ORIGINS": [],  # of the socket, besides the request's own host
    "PANEL": {
        "VIEWS": [],  # more pages that have it: names of views with namespace, and *
        "LAUNCHER": choice_of("end", "start", "none"),  # the button's corner
        "SHORTCUTS": ["Ctrl+Shift+A", "Alt+Shift+A"],  # open the panel; Ctrl is Cmd too
        # whose colours
        "THEME": choice_of(
            *("auto", "admin", "unfold", "jazzmin", "admin_interface", "grappelli"),
            "none",
        ),
        # above every conversation: {"text", "level"}, or a callable's path
        "BANNER": Setting({}, (str,), wanted="a dict or the dotted path of a callable"),
        # under the composer; auto: a sentence of our own, "": none
        "DISCLAIMER": Setting("auto", (Promise,)),
        # who sets up the model, for all others; auto: a superuser's full name
        "CONTACT": Setting("auto", (Promise,)),
    },
}
GROUPS = {name for name, own in SETTINGS.items() if isinstance(own, dict)}

# What no site sets.
FLUSH_S = 0.25  # between two commits of growing text
BROWSER_CONTEXT_CHARS = 20_000  # what a page may add to a message
BROWSER_LEASE_S = 20.0  # of the tab that carries a call out, renewed by it
POLICY_TTL_S = 5.0  # how long rules that are rows are kept in a process
SAME_FAILURES = 3  # of one call in a run
RUN_ATTEMPTS = 5  # that were interrupted; then the run is given up
CONTEXT_CHARS = 12_000  # of the page's items in the prompt
INSTRUCTIONS_CHARS = 8_000  # of all instructions in the prompt
MEMORY_CHARS = 2_000  # of what is remembered, in the prompt
SKILLS_LOADED_CHARS = 16_000  # of the skills that a module loads from the start
SKILLS_CHARS = 4_000  # of the names and descriptions of skills in the prompt
CHANGED_ROWS = 10_000  # of one call; more cannot be undone
CHANGED_BYTES = 50 * 1024**2  # of one call, with its files
AGUI_BODY_BYTES = 10 * 1024**2  # clients send the whole history each time
AGUI_KEEPALIVE_S = 10.0  # between two comments in a quiet stream
MODEL_RETRY_S = 0.5  # before the first retry; doubled at each one
CLIENT_TOOL_S = 24 * 3600.0  # an AG-UI client's own tools wait so long

# What could be set before, and is always the same now.
FIXED: Mapping[tuple[str, ...], Any] = {
    ("LIMITS", "SAME_FAILURES"): SAME_FAILURES,
    ("LIMITS", "ATTEMPTS"): RUN_ATTEMPTS,
    ("LIMITS", "CONTEXT_CHARS"): CONTEXT_CHARS,
    ("LIMITS", "CHANGED_ROWS"): CHANGED_ROWS,
    ("LIMITS", "CHANGED_BYTES"): CHANGED_BYTES,
    ("LIMITS", "AGUI_BODY_BYTES"): AGUI_BODY_BYTES,
    ("TIMEOUTS", "AGUI_KEEPALIVE_S"): AGUI_KEEPALIVE_S,
    ("TIMEOUTS", "MODEL_RETRY_S"): MODEL_RETRY_S,
    ("TIMEOUTS", "CLIENT_TOOL_S"): CLIENT_TOOL_S,
    ("PANEL", "HTMX"): "vendored",
}
# Where a setting of before is now; others kept their name when they got a group.
RETIRED: Mapping[str, tuple[str, ...]] = {
    **{name: (group, name) for group in GROUPS for name in SETTINGS[group]},
    **{path[-1]: path for path in FIXED},
    "DATA_TOOLS": ("DATA", "TOOLS"),
    "DATA_MODELS_EXCLUDED": ("DATA", "MODELS_EXCLUDED"),
    "SIDE_FIELDS": ("DATA", "WRITTEN_ALONG"),
    "SIDE_MODELS": ("DATA", "WRITTEN_ALONG"),
    "MAX_STEPS": ("LIMITS", "STEPS"),
    "MAX_CALLS_PER_STEP": ("LIMITS", "CALLS_PER_STEP"),
    "MAX_RUN_S": ("LIMITS", "RUN_S"),
    "MAX_MESSAGE_CHARS": ("LIMITS", "MESSAGE_CHARS"),
    "MAX_RESULT_CHARS": ("LIMITS", "RESULT_CHARS"),
    "MAX_SAME_FAILURES": ("LIMITS", "SAME_FAILURES"),
    "MAX_ATTEMPTS": ("LIMITS", "ATTEMPTS"),
    "CHANGES_MAX_ROWS": ("LIMITS", "CHANGED_ROWS"),
    "CHANGES_MAX_BYTES": ("LIMITS", "CHANGED_BYTES"),
    "AGUI_MAX_BODY_BYTES": ("LIMITS", "AGUI_BODY_BYTES"),
    "MODEL_RETRY_DELAY_S": ("TIMEOUTS", "MODEL_RETRY_S"),
    "CLIENT_TOOL_TTL_S": ("TIMEOUTS", "CLIENT_TOOL_S"),
    "TOKEN_FAILURES": ("RATES", "UNKNOWN_TOKENS"),
    "FIRST_BYTE_TIMEOUT_S": ("TIMEOUTS", "FIRST_BYTE_S"),
    "IDLE_TIMEOUT_S": ("TIMEOUTS", "IDLE_S"),
    "TOTAL_TIMEOUT_S": ("TIMEOUTS", "MODEL_CALL_S"),
    "TOOL_TIMEOUT_S": ("TIMEOUTS", "TOOL_S"),
    "WRITE_TIMEOUT_S": ("TIMEOUTS", "WRITE_S"),
    "PIECE_TIMEOUT_S": ("TIMEOUTS", "PIECE_S"),
    "CONTEXT_TIMEOUT_S": ("TIMEOUTS", "CONTEXT_S"),
    "APPROVAL_TTL_S": ("TIMEOUTS", "APPROVAL_S"),
    "QUESTION_TTL_S": ("TIMEOUTS", "QUESTION_S"),
    "RATE_USER": ("RATES", "USER"),
    "RATE_SITE": ("RATES", "SITE"),
    "API_RATE": ("RATES", "API"),
    "API_WRITE_RATE": ("RATES", "API_WRITE"),
    "AUDIT_STARTS": ("AUDIT", "STARTS"),
    "AUDIT_READS": ("AUDIT", "READS"),
    "AUDIT_IP": ("AUDIT", "IP"),
    "AUDIT_KEY": ("AUDIT", "KEY"),
    "RETENTION_DAYS": ("RETENTION", "CONVERSATION_DAYS"),
    "AUDIT_RETENTION_DAYS": ("RETENTION", "AUDIT_DAYS"),
    "TOKEN_RETENTION_DAYS": ("RETENTION", "TOKEN_DAYS"),
    "TOKEN_DAYS": ("TOKENS", "DAYS"),
    "TOKEN_MAX_DAYS": ("TOKENS", "MAX_DAYS"),
}


def _default(own: Any) -> Any:
    if isinstance(own, dict):
        return {name: _default(one) for name, one in own.items()}
    return own.default if isinstance(own, Setting) else own


DEFAULTS: Mapping[str, Any] = _default(SETTINGS)


def setting_at(path: tuple[str, ...]) -> Setting | None:
    """Return the setting of a path that `flat` yields; None if there is none."""
    own: Any = SETTINGS
    for name in path:
        own = own.get(name) if isinstance(own, dict) else None
    if own is None or isinstance(own, Setting):
        return own
    return Setting(own)


def typed(*path: str) -> str:
    """Return a setting as it is typed: AI_ASSISTANT['LIMITS']['STEPS']."""
    return "AI_ASSISTANT" + "".join(f"[{name!r}]" for name in path)


def flat(own: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each setting by its path; a group that is not a mapping is one setting."""
    for name, value in own.items():
        if name in GROUPS and isinstance(value, Mapping):
            yield from (((name, key), one) for key, one in value.items())
        else:
            yield (name,), value


def merged(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` with `own` over it, each group key by key."""
    groups = {name: {**base.get(name, {}), **own[name]} for name in GROUPS & {*own}}
    return {**base, **own, **groups}


def unknown_names(own: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with each unknown name, and what to do about it."""
    for path, _ in flat(own):
        new = RETIRED.get(path[0], path) if len(path) == 1 else path
        if new in FIXED:
            yield f"{typed(*path)} is always {FIXED[new]!r} now.", "Remove it."
        elif new != path:
            yield f"{typed(*path)} is now {typed(*new)}.", "Rename it."
        elif setting_at(path) is None:
            yield f"{typed(*path)} is not a setting.", "Remove it, or correct its name."


@cache
def _config() -> dict[str, Any]:
    own = getattr(settings, "AI_ASSISTANT", {})
    for problem, advice in unknown_names(own):
        raise ImproperlyConfiguredAssistant(
            f"{problem} {advice} docs/settings.md lists the names."
        )
    return merged(DEFAULTS, own)


def get(*path: str) -> Any:
    """Return a setting, or its default: `get("ENABLED")`, `get("LIMITS", "STEPS")`."""
    value: Any = _config()
    for name in path:
        value = value[name]
    return value


def enabled() -> bool:
    """Return whether the site has switched the assistant on."""
    return bool(get("ENABLED"))


def heartbeat_s() -> float:
    """Seconds between two renewals of a quiet lease."""
    return float(get("LEASE_S")) * 0.3


def sweep_s() -> float:
    """Seconds between two looks for runs without an owner."""
    return float(get("LEASE_S")) * 0.2


def resend_s() -> float:
    """Seconds after which a long tool that no worker has taken is sent again."""
    return float(get("LEASE_S")) * 6


DEFAULT = "default"

# --- model profiles: those of the setting, and rows of the same name over them ---


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredProfiles:
    """The profiles that are rows, as this process has read them last."""

    by_name: Mapping[str, Any] = field(default_factory=dict)  # None: switched off
    secrets: tuple[str, ...] = field(default=(), repr=False)  # all their keys


_stored = StoredProfiles()


def use_stored_profiles(stored: StoredProfiles) -> None:
    """Let rows take the place of the setting's profiles; see `configuration.rows`."""
    global _stored  # noqa: PLW0603 - of the process, so that a loop can read it
    _stored = stored
    profiles.cache_clear()


def stored_secrets() -> tuple[str, ...]:
    """Return the keys of all rows, also of those that are switched off."""
    return _stored.secrets


@cache
def profiles() -> Mapping[str, Any]:
    """Return all model profiles by name. Asks no database: see `configuration.rows`."""
    found = {**get("PROFILES"), **_stored.by_name}
    return {name: own for name, own in found.items() if own is not None}


def profile(name: str = DEFAULT) -> dict[str, Any]:
    """Return a model profile, its key resolved from the environment."""
    known = profiles()
    if name not in known:
        raise ImproperlyConfiguredAssistant(
            f"AI_ASSISTANT['PROFILES'] has no profile {name!r}. "
            f"Add it, or use one of {sorted(known)}."
        )
    return with_key(known[name])


def with_key(own: Mapping[str, Any]) -> dict[str, Any]:
    """Return a profile with the key that its environment variable holds."""
    found = dict(own)
    if variable := found.pop("API_KEY_ENV", ""):
        found.setdefault("API_KEY", os.environ.get(variable, ""))
    return found


def import_named(setting: str, path: str) -> Any:
    """Import the dotted `path` that `setting` gives; the error names both."""
    try:
        return import_string(path)
    except ImportError as error:
        raise ImproperlyConfiguredAssistant(
            f"AI_ASSISTANT[{setting!r}] names {path!r}, which cannot be imported: "
            f"{error}. Give the dotted path of a class."
        ) from error


def _reset(*, setting: str, **_: object) -> None:
    if setting == "AI_ASSISTANT":
        _config.cache_clear()
        profiles.cache_clear()


setting_changed.connect(_reset)
