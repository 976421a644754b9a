"""Signs in to the site of the README and tells two of its pages."""

import os
import sys

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "mysite.settings"
django.setup()

from django.contrib.auth import get_user_model  # noqa: E402
from django.test import Client  # noqa: E402

client = Client(headers={"host": "localhost"})
client.force_login(get_user_model().objects.create_superuser("ada", password="x"))
for path in ("/admin/", "/assistant/"):
    sys.stdout.write(client.get(path).content.decode())
