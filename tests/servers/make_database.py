"""`python -m tests.servers.make_database`: tables, users and the demo's data."""

import django
from django.core.management import call_command

if __name__ == "__main__":
    django.setup()
    call_command("migrate", verbosity=0, interactive=False)
    call_command("demo_users")
    call_command("demo_data", verbosity=0)
