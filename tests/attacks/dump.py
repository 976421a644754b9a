"""What the whole database holds but for our own tables, and what has left the site."""

from pathlib import Path

from django.apps import apps

OWN = ("ai_assistant", "sessions")  # an attacker who signs in makes a session
VOLATILE = {"last_login"}


class Outside:
    """The file in which external effects stand."""

    path: Path | None = None

    def lines(self) -> list[str]:
        return self.path.read_text().splitlines() if self.path else []


OUTSIDE = Outside()


def dump() -> dict[str, list[str]]:
    """Return all rows by table, and the lines outside."""
    found = {
        model._meta.label_lower: sorted(_said(row) for row in model.objects.values())
        for model in apps.get_models(include_auto_created=True)
        if model._meta.app_label not in OWN and model._meta.managed
    }
    return {name: rows for name, rows in found.items() if rows} | {
        "outside": OUTSIDE.lines()
    }


def _said(row: dict[str, object]) -> str:
    return repr({key: row[key] for key in sorted(row) if key not in VOLATILE})


def differs(before: dict[str, list[str]], after: dict[str, list[str]]) -> list[str]:
    """Return what one of the two has and the other has not."""
    return [
        f"{name}: {row}"
        for name in sorted({*before, *after})
        for row in {*before.get(name, [])} ^ {*after.get(name, [])}
    ]
