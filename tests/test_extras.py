"""A site that uses neither REST nor AG-UI has neither in its memory."""

import json
import sys

import pytest
from django.core.management import call_command
from django.test import AsyncClient

from ai_assistant.checks.safety import check_doors
from ai_assistant.management.doctor import examine
from tests.test_packaging import run

# A stock site: none of our extras, and not Django REST framework as an app.
SITE = """
import sys, os
{before}
os.environ["DATABASE_URL"] = "sqlite:///{folder}/site.sqlite3"
from tests import settings as ours
ours.INSTALLED_APPS = [
    name for name in ours.INSTALLED_APPS
    if name != "rest_framework" and not name.startswith("tests.")
]
# That of the demo has an API of its own.
ours.ROOT_URLCONF = "tests.stock_urls"
ours.DATABASES["default"]["NAME"] = "{folder}/site.sqlite3"
import django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("check", "--fail-level", "ERROR")
from django.contrib.auth import get_user_model
from django.test import Client
user = get_user_model().objects.create_superuser("ada", password="x")
client = Client()
client.force_login(user)
page = client.get("/admin/")
assert b'id="aia"' in page.content, page.content[:500]
panel = client.get("/assistant/panel/")
assert panel.status_code == 200
"""
LOADED = """
import json
print(json.dumps([n for n in ("rest_framework", "ag_ui", "drf_spectacular") if n in sys.modules]))
"""
MISSING = """
for name in ("ag_ui", "drf_spectacular"):
    sys.modules[name] = None
"""
AGUI = """
import asyncio
from django.test import AsyncClient
told = asyncio.run(AsyncClient().post("/assistant/agui/", {}))
print(told.status_code)
"""
API = """
print(client.get("/assistant/api/runs/").status_code)
"""
ASKED = """
import asyncio
from django.test import AsyncClient
async def ask():
    client = AsyncClient()
    agui = await client.post("/assistant/agui/", {})
    return [agui.status_code, agui.json()["code"], agui.json()["detail"]]
print(asyncio.run(ask()))
schema = client.get("/assistant/api/schema/")
print([schema.status_code, schema.json()["code"], schema.json()["detail"]])
print(client.get("/assistant/api/runs/").status_code)
"""


def site(tmp_path, *, before="", then=""):
    code = SITE.format(folder=tmp_path, before=before) + then
    done = run("-c", code, DJANGO_SETTINGS_MODULE="tests.settings")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.servers
@pytest.mark.broad
def test_each_is_imported_by_its_first_request(tmp_path):
    *_, before, _asked, with_agui, _asked, with_api = site(
        tmp_path, then=f"{LOADED}{AGUI}{LOADED}{API}{LOADED}"
    )

    assert json.loads(before) == []
    assert json.loads(with_agui) == ["ag_ui"]
    assert json.loads(with_api) == ["rest_framework", "ag_ui", "drf_spectacular"]


@pytest.mark.servers
@pytest.mark.broad
def test_neither_is_needed(tmp_path):
    *_, agui, schema, runs = site(tmp_path, before=MISSING, then=ASKED)

    assert agui == (
        "[501, 'needs_agui', 'AG-UI is not available: ag-ui-protocol is not "
        "installed.']"
    )
    assert schema == (
        "[501, 'needs_schema', 'This site has no document of its API: "
        "drf-spectacular is not installed.']"
    )
    assert runs == "200"


class TestMissing:
    @pytest.fixture(autouse=True)
    def _is_missing(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "ag_ui", None)

    @pytest.mark.parametrize("name", ["", "history/", "stream/", "capabilities/"])
    async def test_addresses_say_it(self, name):
        client = AsyncClient()
        ask = client.get if name else client.post

        response = await ask(f"/assistant/agui/{name}")

        assert response.status_code == 501
        assert response.json()["code"] == "needs_agui"

    @pytest.mark.django_db
    def test_doctor_says_it(self):
        told = examine().facts["AG-UI"]

        assert told == "not installed: pip install 'ai-assistant[agui]'"

    @pytest.mark.parametrize("origins", [[], ["https://app.example.com"]])
    def test_check_says_it_to_whom_it_concerns(self, settings, origins):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "CORS_ORIGINS": origins}

        assert [one.id for one in check_doors()] == ["ai_assistant.I184"] * len(origins)


@pytest.mark.django_db
def test_doctor_says_that_it_is_there():
    assert examine().facts["AG-UI"] == "ready"
    call_command("check", "--tag", "ai_assistant")
