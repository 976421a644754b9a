import os
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand


class Command(BaseCommand):
    """
    Migrate, make the users, load the demo data and serve: `make run`.

    In one process, since each start of Django costs more than any of these steps
    does when there is nothing left to do.
    """

    help = "Prepare the demo and serve it with Daphne on HOST and PORT."
    requires_system_checks = ()  # runserver makes them

    def handle(self, *args: Any, **options: Any) -> None:
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
        call_command(
            "runserver",
            f"{shown}:{port}",
            use_reloader=False,
            use_static_handler=False,  # project.asgi serves them
        )
