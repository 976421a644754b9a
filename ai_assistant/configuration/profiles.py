"""Model profiles that are rows: their keys, what is wrong with one, and all by name."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from ai_assistant import conf
from ai_assistant.conf import DEFAULT, StoredProfiles
from ai_assistant.models.configuration import Profile
from ai_assistant.providers.addresses import form_problem, is_allowed, private_host
from ai_assistant.providers.base import NAMES, OF_ROW, PROBLEM, may_call
from ai_assistant.providers.openai_compatible.servers import OPTIONAL
from ai_assistant.providers.prices import INPUT, OUTPUT
from ai_assistant.providers.reasoning import reasoning_problem
from ai_assistant.safety.identity.session import CannotUnseal, decrypted, encrypted

# --- keys: encrypted, and bound to where they may be sent ---

PURPOSE = "profile"


@dataclass(frozen=True, kw_only=True, slots=True)
class ProfileKey:
    """The key of a row: it can be sent only in the state `kept`."""

    state: Literal["none", "kept", "elsewhere", "unreadable"]
    value: str = field(default="", repr=False)


@sensitive_variables("key", "kept")
def keep_key(row: Profile, key: str) -> None:
    """Put a key into a row, for the address and model that the row has now."""
    kept = json.dumps({"key": key, "for": row.destination})
    row.api_key_encrypted = encrypted(kept.encode(), PURPOSE) if key else ""


@sensitive_variables("kept")
def key_of(row: Profile) -> ProfileKey:
    """Return the key of a row, and whether it may be sent to where the row says."""
    if not row.api_key_encrypted:
        return ProfileKey(state="none")
    try:
        kept = json.loads(decrypted(row.api_key_encrypted, PURPOSE))
    except (CannotUnseal, ValueError):
        return ProfileKey(state="unreadable")
    is_here = kept["for"] == _destination_of(row)
    return ProfileKey(state="kept" if is_here else "elsewhere", value=kept["key"])


def _destination_of(row: Profile) -> str:
    try:
        return row.destination
    except ValueError:
        return ""


@sensitive_variables("kept")
def rotate_keys() -> tuple[int, list[str]]:
    """
    Encrypt all keys with the site's SECRET_KEY of now.

    Return how many there are, and the names of the profiles whose key cannot be read.
    """
    unreadable: list[str] = []
    count = 0
    for row in Profile.objects.exclude(api_key_encrypted="").order_by("name"):
        try:
            kept = decrypted(row.api_key_encrypted, PURPOSE)
        except CannotUnseal:
            unreadable.append(row.name)
            continue
        # Nothing else of the row is touched: what is wrong with it stays so.
        anew = {"api_key_encrypted": encrypted(kept, PURPOSE)}
        count += Profile.objects.filter(pk=row.pk).update(**anew)
    return count, unreadable


# --- what is wrong with a row ---

PROVIDERS = ("", *NAMES)
# Providers of litellm that are allowed by a key alone: the others would send what the
# machine itself is allowed, to whatever address the row names.
BY_KEY = frozenset(
    {
        *("openai", "azure", "azure_ai", "anthropic", "mistral", "deepseek", "groq"),
        *("openrouter", "xai", "cohere", "together_ai", "fireworks_ai", "perplexity"),
        *("hosted_vllm", "lm_studio", "ollama", "ollama_chat", "litellm_proxy"),
    }
)
# Those of a server of one's own: without a base URL litellm looks on this very machine, or
# where a variable of its own says.
LOCAL = frozenset(
    {
        *("ollama", "ollama_chat", "hosted_vllm", "vllm", "lm_studio", "llamafile"),
        *("xinference", "docker_model_runner", "lemonade", "litellm_proxy", "triton"),
        *("oobabooga", "petals", "infinity", "openai_like", "custom_openai", "nim"),
    }
)
# What OPTIONS of a row may have: fields of the request, and nothing about where it goes.
REQUEST_FIELDS = (OPTIONAL - {"metadata", "store", "user"}) | {
    *("extra_body", "keep_alive", "max_completion_tokens", "max_tokens", "min_p"),
    *("num_ctx", "repetition_penalty", "response_format", "thinking", "top_k"),
}
OF_KEYS = re.compile(r"[A-Z][A-Z0-9_]*_API_KEY")


def profile_problems(row: Profile) -> dict[str, str]:
    """
    Return what is wrong with a row, by field.

    Looks up the name of its host, which may take a while.
    """
    found = {
        "is_active": _switched_off(row),
        "provider": "" if row.provider in PROVIDERS else _("Choose one of the list."),
        "model": "" if " " not in row.model else _("A model has no space in its name."),
        "api_base": _address(row),
        "api_key_env": variable_problem(row),
        "reasoning": _reasoning(row),
        "fallback": _fallback(row),
        "output_usd_per_mtok": _prices(row),
        "options": _options(row),
    }
    return {name: problem for name, problem in found.items() if problem}


def _switched_off(row: Profile) -> str:
    if row.name != DEFAULT or row.is_active:
        return ""
    return _("All conversations use “default” unless another is chosen. Change it.")


def _address(row: Profile) -> str:
    if not row.api_base:
        return local_problem(row)
    if problem := form_problem(row.api_base):
        return problem
    if not may_call({**profile_of(row), "API_BASE": row.api_base}):
        return _(
            "Only the provider “direct” calls a base URL, since it follows no redirect: "
            "choose it, or write the model as “openai/” and its name."
        )
    vendor, slash, _name = row.model.partition("/")
    if slash and vendor not in BY_KEY:
        sentence = _(
            "Models of “%(vendor)s” are not called at a base URL of one's own."
        )
        return sentence % {"vendor": vendor}
    if host := private_host(row.api_base):
        sentence = _(
            "“%(host)s” is a private address. Whoever runs the site can allow it with "
            "the setting MODEL_HOSTS."
        )
        return sentence % {"host": host}
    return ""


def local_problem(row: Profile) -> str:
    """Return why a model, whose server would be looked for inside, needs a base URL."""
    vendor = row.model.partition("/")[0]
    if row.api_base or vendor not in LOCAL:
        return ""
    return _("Models of “%(vendor)s” need a base URL.") % {"vendor": vendor}


def variable_problem(row: Profile) -> str:
    """
    Return why the environment variable of a row may not be sent to where the row says.

    It may, if it is the provider's own, if a profile of the settings sends it there as
    well, or if MODEL_HOSTS names the host and it is called like a key.
    """
    name = row.api_key_env
    if not name or _is_in_settings(row):
        return ""
    vendor = _destination_of(row).upper()
    if row.api_base:
        may = bool(OF_KEYS.fullmatch(name)) and is_allowed(row.api_base)
    else:
        may = name == f"{vendor}_API_KEY"
    if may:
        return ""
    sentence = _(
        "“%(name)s” is not sent to this address: it is neither the key of this provider "
        "by its name, nor does a profile of the settings or MODEL_HOSTS allow it. Enter "
        "the key instead."
    )
    return sentence % {"name": name}


def _is_in_settings(row: Profile) -> bool:
    """Return whether a profile of the settings sends the variable to the same address."""
    return any(
        own.get("API_KEY_ENV") == row.api_key_env
        and _destination_of(_as_row(own)) == _destination_of(row)
        for own in conf.get("PROFILES").values()
    )


def _as_row(own: Mapping[str, Any]) -> Profile:
    base, model = str(own.get("API_BASE") or ""), str(own.get("MODEL") or "")
    return Profile(api_base=base, model=model)


def _reasoning(row: Profile) -> str:
    own = {"OPTIONS": row.options, "REASONING": row.reasoning.strip()}
    problem = reasoning_problem(own)
    return _("Reasoning %(problem)s") % {"problem": problem} if problem else ""


def _fallback(row: Profile) -> str:
    others = sorted({*conf.profiles()} - {row.name})
    if not row.fallback or row.fallback in others:
        return ""
    sentence = _("There is no other profile “%(name)s”. There are: %(known)s.")
    return sentence % {"name": row.fallback, "known": ", ".join(others) or "-"}


def _prices(row: Profile) -> str:
    given = {row.input_usd_per_mtok is None, row.output_usd_per_mtok is None}
    return _("Give both prices, or none.") if len(given) > 1 else ""


def _options(row: Profile) -> str:
    if not isinstance(row.options, dict):
        return _("Write a JSON object, such as {“temperature”: 0}.")
    if wrong := sorted({*row.options} - REQUEST_FIELDS):
        sentence = _("“%(name)s” cannot be set here. Possible are: %(known)s.")
        known = ", ".join(sorted(REQUEST_FIELDS))
        return sentence % {"name": wrong[0], "known": known}
    return ""


# --- rows as profiles ---


def stored_profiles(rows: Iterable[Profile]) -> StoredProfiles:
    """Return the rows as profiles by name, with all keys that they have."""
    known = list(rows)
    return StoredProfiles(
        by_name={row.name: profile_of(row) if row.is_active else None for row in known},
        secrets=tuple(filter(None, (key_of(row).value for row in known))),
    )


@sensitive_variables("key", "values", "is_said")
def profile_of(row: Profile) -> dict[str, Any]:
    """Return a row in the form of a profile of the settings."""
    key = key_of(row)
    suggestions = conf.get("PROFILES").get(row.name, {}).get("SUGGESTIONS")
    values: dict[str, Any] = {
        "LABEL": row.label,
        "PROVIDER": row.provider,
        "MODEL": row.model,
        "API_BASE": row.api_base,
        "API_KEY_ENV": row.api_key_env,
        "API_KEY": key.value if key.state == "kept" else "",
        "REASONING": row.reasoning,
        "WINDOW_TOKENS": row.window_tokens,
        "FIRST_BYTE_S": row.first_byte_s,
        "IDLE_S": row.idle_s,
        "MODEL_CALL_S": row.model_call_s,
        "FALLBACK": row.fallback,
        INPUT: _number(row.input_usd_per_mtok),
        OUTPUT: _number(row.output_usd_per_mtok),
        "OPTIONS": row.options,
        "SUGGESTIONS": suggestions,
        PROBLEM: next(_unusable(row, key), ""),
    }
    is_said = {name: own for name, own in values.items() if own not in (None, "", {})}
    return {**is_said, OF_ROW: row.pk}


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _unusable(row: Profile, key: ProfileKey) -> Iterator[str]:
    """Yield why requests with the row's key cannot be made."""
    if key.state == "unreadable":
        yield _(
            "The key of profile “%(name)s” cannot be read with this site's SECRET_KEY. "
            "Enter it again."
        ) % {"name": row.name}
    if key.state == "elsewhere":
        yield _(
            "The key of profile “%(name)s” was entered for another address or provider. "
            "Enter it again."
        ) % {"name": row.name}
    if problem := variable_problem(row) or local_problem(row):
        yield problem


# --- what people call them ---


def offered_profiles() -> dict[str, str]:
    """
    Return the labels of the profiles that may be chosen, by name.

    That is the default one, and each other one to which the site has given a LABEL.
    """
    default = conf.profile()
    labels = {DEFAULT: str(default.get("LABEL") or default.get("MODEL") or "")}
    return labels | dict(labelled_profiles(without=DEFAULT))


def profile_label(name: str) -> str:
    """Return what people call the model of a profile, also one that is gone."""
    found = conf.profiles().get(name, {})
    return str(found.get("LABEL") or found.get("MODEL") or name)


def labelled_profiles(*, without: str) -> list[tuple[str, str]]:
    """Return names and labels of the profiles with a LABEL, but one, by label."""
    labelled = [
        (name, str(profile["LABEL"]))
        for name, profile in conf.profiles().items()
        if profile.get("LABEL") and name != without
    ]
    return sorted(labelled, key=lambda one: one[1].casefold())
