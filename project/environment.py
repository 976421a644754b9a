"""What the demo project reads from its environment, as Django settings want it."""

import os
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

POSTGRES = ("postgres", "postgresql")


def database(url: str, *, folder: Path) -> dict[str, Any]:
    """
    Return the entry of DATABASES that `url` describes.

    `postgres://user:password@host:port/name?sslmode=...` or `sqlite:///path`, a
    relative path being one below `folder`. Empty: db.sqlite3 in `folder`.
    """
    if not url:
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": folder / "db.sqlite3"}
    parts = urlsplit(url)
    name = unquote(parts.path.removeprefix("/"))
    if parts.scheme == "sqlite":
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": folder / name}
    if parts.scheme not in POSTGRES:
        raise ImproperlyConfigured(
            f"DATABASE_URL has the scheme {parts.scheme!r}, which is unknown. "
            "Give postgres://user:password@host:port/name or sqlite:///path."
        )
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": str(parts.port or ""),
        "OPTIONS": dict(parse_qsl(parts.query)),
    }


def channel_layer(redis_url: str) -> dict[str, Any]:
    """Return the entry of CHANNEL_LAYERS: Redis if there is one, else in memory."""
    if not redis_url:
        return {"BACKEND": "channels.layers.InMemoryChannelLayer"}
    return {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        "CONFIG": {"hosts": [redis_url]},
    }


def model_profile() -> dict[str, Any]:
    """Return the model profile: the one that ASSISTANT_MODEL names, or the demo."""
    model = os.environ.get("ASSISTANT_MODEL", "")
    if not model:
        return {
            "PROVIDER": "project.demo_model.DemoProvider",
            "MODEL": "demo",
            "LABEL": "Offline demo",
            "SUGGESTIONS": ["Help: what do you understand?"],
        }
    return {
        # "direct" or "litellm"; without a word the app chooses.
        "PROVIDER": os.environ.get("ASSISTANT_PROVIDER", ""),
        "MODEL": model,
        "API_BASE": os.environ.get("ASSISTANT_API_BASE", ""),
        "API_KEY_ENV": "ASSISTANT_API_KEY",
    }


def flag(name: str, *, default: str = "0") -> bool:
    """Tell whether the variable `name` is set to something that means yes."""
    return os.environ.get(name, default).lower() not in ("", "0", "false", "no", "off")


SERVERS = ("daphne", "uvicorn", "granian")


def server() -> str:
    """Return the name of the server that `demo_serve` starts."""
    name = os.environ.get("SERVER") or SERVERS[0]
    if name not in SERVERS:
        raise ImproperlyConfigured(
            f"SERVER is {name!r}, which is unknown. Give one of: {', '.join(SERVERS)}."
        )
    return name


def allowed_hosts(host: str) -> list[str]:
    """Return the host names under which a server that listens on `host` answers."""
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound
        return ["*"]
    return sorted({"localhost", "127.0.0.1", "[::1]", host})
