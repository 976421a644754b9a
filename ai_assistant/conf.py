"""
The one setting, `AI_ASSISTANT`: a dict over `DEFAULTS`.

Read when used, so that `override_settings` works. Times are in seconds.
"""

import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from django.conf import settings
from django.core.signals import setting_changed
from django.utils.module_loading import import_string

from ai_assistant.exceptions import ImproperlyConfiguredAssistant

DEFAULTS: Mapping[str, Any] = {
    "ENABLED": False,  # off means no URL, no panel, no socket route
    "STAFF_ONLY": True,
    # --- the model ---
    # name -> {PROVIDER, MODEL, API_BASE, API_KEY_ENV, API_KEY, LABEL, ...}
    "PROFILES": {"default": {}},
    "SYSTEM_PROMPT": "",  # added to the built-in prompt
    "FIRST_BYTE_TIMEOUT_S": 30.0,
    "IDLE_TIMEOUT_S": 60.0,
    "TOTAL_TIMEOUT_S": 600.0,
    "MODEL_RETRIES": 2,  # before the first token only
    "MODEL_RETRY_DELAY_S": 0.5,  # doubled at each retry
    "MODEL_RETRY_MAX_DELAY_S": 20.0,  # a longer wait ends the run instead
    # --- the run ---
    "EXECUTOR": "web",  # or "worker": `manage.py runworker` executes
    "LEASE_S": 10.0,  # heartbeat, sweep and resend scale with it
    "POLL_S": 1.0,  # executors look for queued runs, panels for missed events
    "FLUSH_S": 0.25,
    "FLUSH_BYTES": 2048,
    "RUNS_PER_PROCESS": 50,
    "RUNS_PER_USER": 5,
    "MAX_ATTEMPTS": 5,  # interrupted attempts, after which a run is given up
    "APPROVAL_TTL_S": 24 * 3600.0,
    "QUESTION_TTL_S": None,  # questions wait for ever
    # --- limits ---
    "MAX_STEPS": 10,
    "MAX_CALLS_PER_STEP": 25,
    "MAX_SAME_FAILURES": 3,
    "MAX_RUN_S": 30 * 60.0,
    "MAX_MESSAGE_CHARS": 100_000,
    "MAX_RESULT_CHARS": 32_000,
    "MAX_FRAME_BYTES": 64 * 1024,
    "HISTORY_MESSAGES": 50,  # sent to the model
    "MAX_ARGUMENTS_CHARS": 1_000_000,  # of one call
    "HISTORY_CHARS": 400_000,  # sent to the model, with the results of tools
    "RATE_USER": "60/m",  # messages of one user; "": any number
    "RATE_SITE": "",  # of all users together
    # dicts: scope (site, group, user, run), window (minute, day, month, run), tokens
    # and usd; group and user by name
    "BUDGETS": [],
    "RESERVE_OUTPUT_TOKENS": 1000,  # of a reply, where no option limits it
    # --- tools ---
    "POLICY": {},  # tool name or pattern -> "allow" | "ask" | "deny"
    "POLICY_TTL_S": 5.0,  # how long rules that are rows are kept in a process
    "TOOL_MANIFEST": "",  # a committed file, with which the tools are compared
    "PARALLEL_READS": 4,
    "TOOL_TIMEOUT_S": 30.0,
    "WRITE_TIMEOUT_S": None,  # of the write phase; None: 1 on SQLite, else 5
    "PIECE_TIMEOUT_S": 120.0,  # for which a piece of a long tool may do nothing
    "BACKGROUND": "auto",  # "celery", "threads"; auto: Celery if a broker is set
    "BACKGROUND_THREADS": 4,
    "TASK_RESEND_S": 60.0,
    # --- the rows of the site ---
    "DATA_TOOLS": True,  # tools for every model in the admin
    "DATA_MODELS_EXCLUDED": [],  # models they leave alone: "shop.order"
    # --- what the assistant does unasked ---
    "TITLES": True,  # the model is asked once for the title of a conversation
    "TITLE_TIMEOUT_S": 30.0,
    # --- what the assistant sees ---
    "CONTEXT_CHARS": 12_000,  # of the page's items in the prompt
    "CONTEXT_TIMEOUT_S": 2.0,  # of all providers of a page together
    "BROWSER_CONTEXT_CHARS": 20_000,  # what a page may add
    "TOOL_SCHEMA_CHARS": 12_000,  # more than this is found by find_tools
    "SENSITIVE": [],  # more fields and models: "shop.order.note", "shop.note"
    "NOT_SENSITIVE": [],  # those of ours that may be seen after all
    "NAVIGATE_TO": ["admin"],  # namespaces to which the page may be moved
    "CLIENT_TOOLS": True,  # pages may register browser tools
    "CLIENT_TOOL_TTL_S": 24 * 3600.0,  # an AG-UI client's own tools wait so long
    "BROWSER_LEASE_S": 20.0,  # of the tab that carries a call out, renewed by it
    # --- images of changes ---
    "CHANGES_MAX_ROWS": 10_000,  # of one call; more cannot be undone
    "CHANGES_MAX_BYTES": 50 * 1024**2,  # of one call, with its files
    "STASH_STORAGE": "",  # of old files: alias or dotted class; "": beside MEDIA_ROOT
    "SIDE_FIELDS": [],  # set by the site's code at a save: "shop.order.changed_by"
    "SIDE_MODELS": [],  # written along with others, as a history: "shop.pricelog"
    # --- audit, secrets, retention ---
    "AUDIT_STARTS": False,  # the start of each run is in the audit log too
    "AUDIT_READS": False,  # calls that only read are in the audit log too
    "AUDIT_IP": False,  # and the address of the request
    "AUDIT_KEY": "",  # signs the audit log; empty: SECRET_KEY does
    "REDACT": [],  # more patterns of secrets: regular expressions
    "RETENTION_DAYS": None,  # older conversations go with `assistant_purge`
    "AUDIT_RETENTION_DAYS": None,  # older audit entries, ditto
    # --- AG-UI ---
    "AGUI_MAX_BODY_BYTES": 10 * 1024**2,  # clients send the whole history each time
    "AGUI_KEEPALIVE_S": 10.0,  # between two comments in a quiet stream
    # --- the REST API ---
    "API_RATE": "600/m",  # requests of one user; "": any number
    "API_WRITE_RATE": "120/m",  # those of them that do not only read
    # --- programs ---
    "CORS_ORIGINS": [],  # of pages elsewhere that may call with an access token
    "TOKEN_DAYS": 90,  # for how long a new token is good, if nobody says otherwise
    "TOKEN_MAX_DAYS": 365,  # None: a token may be good for ever
    "TOKEN_FAILURES": "30/m",  # unknown tokens of one address; "": any number
    "TOKEN_RETENTION_DAYS": None,  # dead tokens go with `assistant_purge`
    # --- the site ---
    "SQLITE_IMMEDIATE": True,
    "HTMX": "auto",  # "vendored", "none"
    "LAUNCHER": "end",  # the button's corner: "start", "none"
    "SHORTCUTS": ["Ctrl+Shift+A", "Alt+Shift+A"],  # open the panel; Ctrl is Cmd too
    "THEME": "auto",  # whose colours: "admin", "unfold", "jazzmin", "none"
    "BANNER": {},  # above every conversation: {"text", "level"}, or a callable's path
    "DISCLAIMER": "auto",  # under the composer; auto: a sentence of our own, "": none
    "ALLOWED_ORIGINS": [],  # of the socket, besides the request's own host
}


@cache
def _config() -> dict[str, Any]:
    own = getattr(settings, "AI_ASSISTANT", {})
    if unknown := sorted(set(own) - set(DEFAULTS)):
        raise ImproperlyConfiguredAssistant(
            f"AI_ASSISTANT has no setting {unknown[0]!r}. "
            "Remove it, or see docs/settings.md for the names."
        )
    return {**DEFAULTS, **own}


def get(name: str) -> Any:
    """Return the value of AI_ASSISTANT[`name`], or its default."""
    return _config()[name]


def enabled() -> bool:
    """Tell whether the site has switched the assistant on."""
    return bool(get("ENABLED"))


def heartbeat_s() -> float:
    """Seconds between two renewals of a quiet lease."""
    return float(get("LEASE_S")) * 0.3


def sweep_s() -> float:
    """Seconds between two looks for runs without an owner."""
    return float(get("LEASE_S")) * 0.2


def profile(name: str = "default") -> dict[str, Any]:
    """Return a model profile, its key resolved from the environment."""
    profiles = get("PROFILES")
    if name not in profiles:
        raise ImproperlyConfiguredAssistant(
            f"AI_ASSISTANT['PROFILES'] has no profile {name!r}. "
            f"Add it, or use one of {sorted(profiles)}."
        )
    found = dict(profiles[name])
    if variable := found.pop("API_KEY_ENV", ""):
        found.setdefault("API_KEY", os.environ.get(variable, ""))
    return found


def load(setting: str, path: str) -> Any:
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


setting_changed.connect(_reset)

DEFAULT = "default"


def offered_profiles() -> dict[str, str]:
    """
    Return the labels of the profiles that may be chosen, by name.

    That is the default one, and each other one to which the site has given a LABEL.
    """
    default = profile()
    labels = {DEFAULT: str(default.get("LABEL") or default.get("MODEL") or "")}
    return labels | dict(labelled_profiles(without=DEFAULT))


def labelled_profiles(*, without: str) -> list[tuple[str, str]]:
    """Return names and labels of the profiles with a LABEL, but one, by label."""
    labelled = [
        (name, str(profile["LABEL"]))
        for name, profile in get("PROFILES").items()
        if profile.get("LABEL") and name != without
    ]
    return sorted(labelled, key=lambda one: one[1].casefold())
