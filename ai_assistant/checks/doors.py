"""What programs and pages of other sites may do: tokens, and origins."""

from collections.abc import Iterator
from importlib.util import find_spec
from urllib.parse import SplitResult, urlsplit

from django.core.checks import CheckMessage, Error, Info
from django.core.checks import Warning as CheckWarning

from ai_assistant import conf
from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.safety.message_rate import message_rate

FORM = "Write it like 'https://app.example.com' or 'https://*.example.com'."
LOCAL = ("localhost", "127.0.0.1", "::1")


def check_doors() -> list[CheckMessage]:
    """Return what is wrong with CORS_ORIGINS and the settings of tokens."""
    return [*_origins(), *_tokens(), *_agui()]


def _origins() -> Iterator[CheckMessage]:
    for origin in conf.get("CORS_ORIGINS"):
        parts = _parts(origin)
        if parts is None:
            yield Error(
                f"AI_ASSISTANT['CORS_ORIGINS'] has {origin!r}, which is no origin.",
                hint=f"{FORM} It has a scheme, a host in lower case and perhaps a port, "
                "no path and no slash at its end.",
                id="ai_assistant.E180",
            )
        elif parts.scheme == "http" and parts.hostname not in LOCAL:
            yield CheckWarning(
                f"AI_ASSISTANT['CORS_ORIGINS'] has {origin!r}, whose pages anybody on "
                "the way can change, and take their access token.",
                hint="Serve them over https.",
                id="ai_assistant.W181",
            )


def _agui() -> Iterator[CheckMessage]:
    if conf.get("CORS_ORIGINS") and find_spec("ag_ui") is None:
        yield Info(
            "Pages of CORS_ORIGINS can use the REST API, but not AG-UI: ag-ui-protocol "
            "is not installed, and 'agui/' answers 501.",
            hint="Install it if they need it: pip install 'ai-assistant[agui]'.",
            id="ai_assistant.I184",
        )


def _parts(origin: str) -> SplitResult | None:
    """Return the parts of what is an origin or a pattern of some, else None."""
    try:
        parts = urlsplit(origin)
        host = parts.hostname or ""
        _ = parts.port  # raises what is no port
    except ValueError:
        return None
    own = f"{parts.scheme}://{parts.netloc}"
    plain = origin == own == own.lower() and "@" not in parts.netloc
    bare = host.removeprefix("*.")
    good = bool(bare) and "*" not in bare and not any(map(str.isspace, origin))
    return parts if plain and good and parts.scheme in ("http", "https") else None


def _tokens() -> Iterator[CheckMessage]:
    most = conf.get("TOKEN_MAX_DAYS")
    if most is not None and conf.get("TOKEN_DAYS") > most:
        yield Error(
            f"AI_ASSISTANT['TOKEN_DAYS'] is {conf.get('TOKEN_DAYS')}, more than "
            f"TOKEN_MAX_DAYS, which is {most:g}.",
            hint="Make the one smaller, or the other greater.",
            id="ai_assistant.E182",
        )
    if conf.get("TOKEN_FAILURES"):
        try:
            message_rate("TOKEN_FAILURES")
        except ImproperlyConfiguredAssistant as error:
            yield Error(
                str(error),
                hint="Write it like '30/m'; '' is for any number.",
                id="ai_assistant.E183",
            )
