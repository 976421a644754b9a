"""What the doctor says of the model profiles, of what stands in for them, and a trial."""

import asyncio

from ai_assistant import conf
from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.management.doctor_parts import known_of_model
from ai_assistant.management.doctor_services import DoctorProblem
from ai_assistant.providers.base import OF_ROW, PROBLEM, provider_path
from ai_assistant.providers.readiness import Trial, try_model

NO_DEFAULT = "no profile 'default'"


def model_facts() -> str:
    """Return the model of the default profile, and by what it is called."""
    try:
        profile = conf.profile()
    except ImproperlyConfiguredAssistant:
        return NO_DEFAULT
    key = "yes, not tried" if profile.get("API_KEY") else "no"
    model = profile.get("MODEL") or "none"
    return f"{model}, by {provider_path(profile)}, key present: {key}"


def window_facts() -> str:
    """Return what is known of that model."""
    try:
        return known_of_model(conf.profile())
    except ImproperlyConfiguredAssistant:
        return NO_DEFAULT


def is_untried() -> bool:
    """Return whether a chat depends on a key of which nobody knows if it is right."""
    try:
        return bool(conf.profile().get("API_KEY"))
    except ImproperlyConfiguredAssistant:
        return False


def stored_facts() -> str:
    """
    Return which profiles are rows of the admin.

    Raise DoctorProblem for one that cannot be used; it blocks if that is the default.
    """
    rows = {name: own for name, own in conf.profiles().items() if OF_ROW in own}
    broken = {name: own[PROBLEM] for name, own in rows.items() if PROBLEM in own}
    if broken:
        raise DoctorProblem(
            "doctor.profile",
            " ".join(map(str, broken.values())),
            "Open it in the admin's list of model profiles. After a change of "
            "SECRET_KEY, the former one belongs into SECRET_KEY_FALLBACKS until "
            "`manage.py assistant_keys rotate` has run.",
            blocks="default" in broken,
        )
    return ", ".join(rows) or "none"


def fallback_facts() -> str:
    """
    Return which profile stands in for each.

    Raise DoctorProblem if one of them does not exist, or if they go in a circle.
    """
    profiles = conf.profiles()
    named = {name: fallback_of(name) for name in profiles}
    said = "; ".join(f"{name}: {other or 'none'}" for name, other in named.items())
    for name, other in named.items():
        if other and other not in profiles:
            raise DoctorProblem(
                "doctor.fallback",
                f"The fallback of profile {name!r} is {other!r}, which is no profile: "
                "a failure of its model ends the run.",
                f"Name one of {sorted({*profiles} - {name})} as its FALLBACK.",
                blocks=False,
            )
    for name in profiles:
        *before, last = chain_of(name)
        if fallback_of(last) == name:
            circle = " → ".join([*before, last, name])
            raise DoctorProblem(
                "doctor.fallback",
                f"The fallbacks of the profiles go in a circle: {circle}. Each is asked "
                "once; if none answers, the run fails.",
                "Leave out the FALLBACK of the last one, unless this is meant.",
                blocks=False,
            )
    return said or NO_DEFAULT


def fallback_of(name: str) -> str:
    """Return the name of the profile that stands in for another; empty for none."""
    return str(conf.profiles().get(name, {}).get("FALLBACK") or "")


def chain_of(name: str) -> list[str]:
    """Return the profiles that a run asks in turn, from this one on."""
    found: list[str] = []
    while name in conf.profiles() and name not in found:
        found.append(name)
        name = fallback_of(name)
    return found


def tried() -> str:
    """
    Return what came of one call of the default model, and of each that stands in for it.

    Raise DoctorProblem for those that did not answer; it blocks if none did.
    """
    names = chain_of("default")
    if not names:
        raise DoctorProblem("doctor.try", "There is no profile 'default' to try.")
    trials = dict(asyncio.run(_try(names)))
    failed = [name for name in names if not trials[name].ok]
    if not failed:
        return "; ".join(_told(name, trials[name]) for name in names)
    answers = next((name for name in names if trials[name].ok), "")
    text = " ".join(_told(name, trials[name]) for name in failed)
    if "default" in failed and answers:
        text = f"{text} Profile {answers!r} answers in its place."
    raise DoctorProblem("doctor.try", text, trials[failed[0]].text, blocks=not answers)


async def _try(names: list[str]) -> list[tuple[str, Trial]]:
    """Try one after the other: together they may be too much for a small server."""
    return [(name, await try_model(conf.profile(name))) for name in names]


def _told(name: str, trial: Trial) -> str:
    if trial.ok:
        who = "it" if name == "default" else f"its fallback {name!r}"
        said = f"{who} answered in {trial.seconds:.1f} s: {trial.text}"
        return f"{said} ({trial.warning})" if trial.warning else said
    who = "model" if name == "default" else f"model of the fallback {name!r}"
    detail = f" ({trial.detail})" if trial.detail else ""
    return f"The {who} did not answer: {trial.code}{detail}."
