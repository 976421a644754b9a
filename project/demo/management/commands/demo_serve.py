import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from ai_assistant.management.doctor_services import made_before
from project.demo.servers import SERVE, missing_packages

# What SQLite keeps beside a database belongs to it.
SUFFIXES = ("", "-wal", "-shm", "-journal")


class Command(BaseCommand):
    """
    Migrate, make the users, load the demo data and serve: `make run`.

    All but the last step in one process, since each start of Django costs more than any
    of them does when there is nothing left to do. The server takes its place, so that
    nothing of them stays in memory.
    """

    help = "Prepare the demo and serve it with SERVER (daphne) on HOST and PORT."
    requires_system_checks = ()  # made below, once there are tables

    def handle(self, *args: Any, **options: Any) -> None:
        self._check_packages()
        if made_before(MigrationLoader(connection)):
            self._start_anew()
        call_command("migrate", verbosity=0, interactive=False)
        call_command("demo_users")
        call_command("demo_data")  # after the users: the superuser owns it
        host = os.environ.get("HOST", "127.0.0.1")
        port = os.environ.get("PORT", "8000")
        shown = f"[{host}]" if ":" in host else host
        self.stdout.write(
            f"Open http://{shown}:{port}/admin/ and sign in as admin, editor or "
            "viewer; the password is the name. Ctrl-C stops the server.\n"
        )
        self.check(display_num_errors=True)
        connection.close()
        SERVE[settings.SERVER](host, int(port), access_log=settings.DEBUG)

    def _check_packages(self) -> None:
        missing = missing_packages(settings.SERVER)
        if missing:
            raise CommandError(
                f"SERVER is {settings.SERVER!r}, but these packages are not installed: "
                f"{', '.join(missing)}. Install them: pip install {' '.join(missing)}; "
                "or leave SERVER out, for Daphne."
            )

    def _start_anew(self) -> None:
        """Set the demo's database aside; raise CommandError if it is not the demo's."""
        name = settings.DATABASES["default"]["NAME"]
        file = Path(settings.BASE_DIR) / "db.sqlite3"
        cause = "was made by an earlier version, which cannot be migrated"
        if name != file:
            raise CommandError(
                f"The database {str(name)!r} {cause}. Give an empty one in "
                "DATABASE_URL, or leave that out."
            )
        connection.close()
        for suffix in SUFFIXES:
            beside = file.with_name(file.name + suffix)
            if beside.exists():
                beside.replace(file.with_name(f"{file.name}.old{suffix}"))
        self.stdout.write(
            f"{file.name} {cause}. It is kept as {file.name}.old; the demo starts "
            "with a new one.\n"
        )
