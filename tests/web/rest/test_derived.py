"""A site derives from the viewsets of the API, as docs/rest.md shows."""

import importlib
import sys

import pytest
from django.contrib.auth.models import Group

from tests.docs.blocks import blocks, page
from tests.web.conftest import ask, asked_to_approve
from tests.web.rest.program import code

CHANGES = {one.file: one.code for one in blocks(page("docs/rest.md")) if one.file}
CHANGES["shop/assistant_start.py"] = """
from rest_framework.routers import SimpleRouter

from ai_assistant.web.rest import runs, urls


class RunViewSet(runs.RunViewSet):
    def create(self, request, *args, **kwargs):
        response = super().create(request, *args, **kwargs)
        response["X-Shop"] = "1"
        return response


router = SimpleRouter(use_regex_path=False)
router.register("runs", RunViewSet, "runs")
urlpatterns = [*router.urls, *urls.urlpatterns]
"""


@pytest.fixture
def changed(tmp_path, monkeypatch, settings):
    """Return a site whose URLconf of the API is the file of that name on the page."""
    (tmp_path / "shop").mkdir()
    monkeypatch.syspath_prepend(tmp_path)

    def change(name):
        (tmp_path / f"shop/{name}.py").write_text(CHANGES[f"shop/{name}.py"])
        importlib.invalidate_caches()
        urlconf = {"REST_URLCONF": f"shop.{name}"}
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, **urlconf}

    yield change
    for name in [one for one in sys.modules if one.partition(".")[0] == "shop"]:
        del sys.modules[name]


def schemas(ada) -> dict:
    return ada.get("schema/").json()


class TestChanged:
    """What a developer of a site adds, in one file each."""

    def test_filter(self, changed, program, people):
        changed("assistant_filter")
        ada = program()
        wanted = ada.start(page_path="/admin/auth/").json()["id"]
        ada.start(page_path="/admin/shop/")

        found = ada.get("runs/", page="/admin/auth").json()["results"]

        assert [one["id"] for one in found] == [wanted]
        assert ada.get("runs/", state="queued", page="/").status_code == 200
        assert code(ada.get("runs/", x="/")) == "unknown_parameter"
        told = schemas(ada)["paths"]["/runs/"]["get"]["parameters"]
        assert {"page", "state", "cursor"} <= {one["name"] for one in told}

    def test_field(self, changed, program, people):
        changed("assistant_field")
        ask(people["ada"])
        ada = program()

        (told,) = ada.get("conversations/").json()["results"]

        assert (told["run_count"], told["title"]) == (1, "Hello")
        (conversation,) = (one for one in ada.get("conversations/").json()["results"])
        renamed = ada.post(
            f"conversations/{conversation['id']}/", {"title": "New"}, method="patch"
        )
        assert renamed.json()["run_count"] == 1
        fields = schemas(ada)["components"]["schemas"]["Conversation"]["properties"]
        assert {"run_count", "title"} <= set(fields)

    def test_permission(self, changed, program, people):
        changed("assistant_permission")
        asked = asked_to_approve(people["ada"])
        ada = program()
        path = f"interrupts/{asked.pk}/"
        body = {"nonce": asked.nonce, "decision": "deny"}

        refused = ada.post(f"{path}answer/", body)
        people["ada"].groups.add(Group.objects.create(name="approvers"))

        assert (refused.status_code, code(refused)) == (403, "permission")
        assert refused.json()["detail"] == "Only approvers may answer."
        assert ada.get(path).json()["status"] == "open"
        assert ada.post(f"{path}answer/", body).json()["status"] == "denied"

    def test_action_that_calls_that_of_its_base(self, changed, program):
        changed("assistant_start")
        ada = program()

        response = ada.start()

        assert (response.status_code, response.headers["X-Shop"]) == (201, "1")
        assert code(ada.start("")) == "invalid"
        told = schemas(ada)["paths"]["/runs/"]["post"]
        assert told["operationId"] == "runs_start"

    def test_the_rest_of_it_is_there(self, changed, program):
        changed("assistant_field")
        ada = program()

        for address in ada.get().json()["addresses"].values():
            assert ada.http.get(address).status_code == 200, address
