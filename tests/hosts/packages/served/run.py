"""
`python -m tests.hosts.packages.served.run PORT`: the site, its rows and its person.

Where the person signs in by more than a password, it writes the key of a session.
"""

import importlib
import sys

from daphne.endpoints import build_endpoint_description_strings
from daphne.server import Server
from django.contrib.auth import get_user_model
from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler
from django.core.asgi import get_asgi_application
from django.test import Client

PERSON = "ada"  # and the password


def main(port: int) -> None:
    """Make the rows, and serve until it is ended."""
    django_application = get_asgi_application()
    make_rows()
    # Its consumers import models, which only now are there.
    routing = importlib.import_module("ai_assistant.routing")
    assistant = routing.assistant_application(django_application)
    where = build_endpoint_description_strings(host="127.0.0.1", port=port)
    Server(ASGIStaticFilesHandler(assistant), endpoints=where, verbosity=0).run()


def make_rows() -> None:
    settings = importlib.import_module("tests.hosts.packages.settings")
    cases = importlib.import_module(f"{settings.OWN_APP}.cases")
    boss = get_user_model().objects.create_superuser(PERSON, password=PERSON)
    cases.make()
    if hasattr(cases, "sign_in"):
        client = Client()
        client.force_login(boss)
        cases.sign_in(client, boss)
        print("session:", client.session.session_key, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
