"""The model profiles of the site, as a person may choose among them."""

from ai_assistant import conf

DEFAULT = "default"


def offered_profiles() -> dict[str, str]:
    """
    Return the labels of the profiles that may be chosen, by name.

    That is the default one, and each other one to which the site has given a LABEL.
    """
    default = conf.profile()
    labels = {DEFAULT: str(default.get("LABEL") or default.get("MODEL") or "")}
    return labels | dict(labelled_profiles(without=DEFAULT))


def labelled_profiles(*, without: str) -> list[tuple[str, str]]:
    """Return names and labels of the profiles with a LABEL, but one, by label."""
    labelled = [
        (name, str(profile["LABEL"]))
        for name, profile in conf.get("PROFILES").items()
        if profile.get("LABEL") and name != without
    ]
    return sorted(labelled, key=lambda one: one[1].casefold())
