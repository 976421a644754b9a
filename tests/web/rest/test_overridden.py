"""A site overrides classes of the API as it would those of any view."""

import importlib
import sys
from uuid import uuid4

import pytest

from ai_assistant.models.conversation import Conversation, QueuedMessage
from ai_assistant.models.run import Run
from tests.web.conftest import ask
from tests.web.rest.program import API, code

HEAD = """
from django_filters import rest_framework as filters
from rest_framework import filters as backends
from rest_framework import pagination, permissions, renderers, serializers, throttling
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.routers import SimpleRouter

from ai_assistant.web.rest import base, conversations, messages, runs, urls

router = SimpleRouter(use_regex_path=False)
"""
RUNS = """
router.register("runs", RunViewSet, "runs")
urlpatterns = [*router.urls, *urls.urlpatterns]
"""
LOCKED = """
from django.urls import path


class Locked(permissions.BasePermission):
    message = "This one is locked."

    def has_object_permission(self, request, view, obj):
        return request.method in permissions.SAFE_METHODS


def locked(view):
    kept = (*view.permission_classes, Locked)
    return type(view.__name__, (view,), {"permission_classes": kept})


router.register("runs", locked(runs.RunViewSet), "runs")
router.register("conversations", locked(conversations.ConversationViewSet))
queue = locked(messages.QueueViewSet)
router.register(f"{urls.OF_CONVERSATION}/queue", queue, "queue")
single = {
    "messages/<uuid:id>/edit/": messages.MessageEditView,
    "runs/<uuid:id>/steer/": messages.RunSteerView,
    "runs/<uuid:id>/regenerate/": messages.RunRegenerateView,
    "runs/<uuid:id>/show/": messages.RunShowView,
}
urlpatterns = [
    *[path(route, locked(view).as_view()) for route, view in single.items()],
    *router.urls,
    *urls.urlpatterns,
]
"""
FILTERS = """
class RunFilter(runs.RunFilter):
    state = filters.MultipleChoiceFilter(choices=runs.RunState.choices)
    made = filters.IsoDateTimeFromToRangeFilter("created_at")
    order = filters.OrderingFilter(fields=["page_path"])


class RunViewSet(runs.RunViewSet):
    filterset_class = RunFilter
"""
BACKENDS = """
class RunViewSet(runs.RunViewSet):
    filter_backends = (*runs.RunViewSet.filter_backends, backends.OrderingFilter)
    ordering_fields = ("page_path",)
    ordering = "-page_path"
"""
PAGES = """
class Pages(pagination.PageNumberPagination):
    page_size = 2


class RunViewSet(runs.RunViewSet):
    pagination_class = Pages
    ordering = ("page_path",)
"""
RENDERER = """
class Lines(renderers.BaseRenderer):
    media_type = "text/plain"
    format = "txt"

    def render(self, data, accepted_media_type=None, renderer_context=None):
        return "\\n".join(row["page_path"] for row in data["results"])


class RunViewSet(runs.RunViewSet):
    renderer_classes = (*runs.RunViewSet.renderer_classes, Lines)
"""
BROWSABLE = """
class RunViewSet(runs.RunViewSet):
    renderer_classes = (
        *runs.RunViewSet.renderer_classes,
        renderers.BrowsableAPIRenderer,
    )
"""
SERIALIZER = """
class ShopRunSerializer(runs.RunSerializer):
    shop = serializers.CharField(source="shop_name")

    class Meta(runs.RunSerializer.Meta):
        fields = (*runs.RunSerializer.Meta.fields, "shop")


class RunViewSet(runs.RunViewSet):
    serializer_class = ShopRunSerializer

    def get_queryset(self):
        from django.db.models import Value

        return super().get_queryset().annotate(shop_name=Value("North"))
"""
THROTTLE = """
class Few(throttling.UserRateThrottle):
    rate = "1/day"


class RunViewSet(runs.RunViewSet):
    throttle_classes = (*runs.RunViewSet.throttle_classes, Few)
"""
AUTHENTICATION = """
class Office(base.CallerAuthentication):
    def authenticate(self, request):
        if request.headers.get("X-Place") != "office":
            raise AuthenticationFailed("Call from the office.")
        return super().authenticate(request)


class RunViewSet(runs.RunViewSet):
    authentication_classes = (Office,)
"""
FOREIGN = """
class Foreign(BaseAuthentication):
    def authenticate(self, request):
        return request._request.user, None


class RunViewSet(runs.RunViewSet):
    authentication_classes = (Foreign,)
    permission_classes = (permissions.AllowAny,)
"""


@pytest.fixture
def override(tmp_path, monkeypatch, settings):
    """Return a site whose URLconf of the API is that code."""
    monkeypatch.syspath_prepend(tmp_path)
    name = f"overridden_{uuid4().hex}"

    def change(source, tail=RUNS):
        (tmp_path / f"{name}.py").write_text(HEAD + source + tail)
        importlib.invalidate_caches()
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "REST_URLCONF": name}

    yield change
    sys.modules.pop(name, None)


def paths_of(response) -> list[str]:
    assert response.status_code == 200, response.content
    return [one["page_path"] for one in response.json()["results"]]


def told_runs(ada, method="get") -> dict:
    return ada.get("schema/").json()["paths"]["/runs/"][method]


class TestPermissions:
    @pytest.mark.parametrize(
        ("method", "path", "body"),
        [
            ("patch", "conversations/{conversation}/", {"title": "New"}),
            ("delete", "conversations/{conversation}/", None),
            ("post", "runs/{run}/stop/", None),
            ("post", "runs/{run}/retry/", None),
            ("post", "runs/{run}/steer/", {"text": "More"}),
            ("post", "runs/{run}/regenerate/", {}),
            ("post", "runs/{run}/show/", None),
            ("post", "messages/{message}/edit/", {"text": "Else"}),
            ("delete", "conversations/{conversation}/queue/{queued}/", None),
            ("patch", "conversations/{conversation}/queue/{queued}/", {"by": 1}),
            ("post", "conversations/{conversation}/queue/{queued}/send/", None),
        ],
    )
    def test_of_an_object_bind_what_acts_on_it(
        self, override, program, people, method, path, body
    ):
        override(LOCKED, "")
        run = ask(people["ada"])
        ada = program()
        ada.start("Later", conversation=str(run.conversation_id))
        ids = {
            "run": run.pk,
            "conversation": run.conversation_id,
            "message": run.messages.get().pk,
            "queued": QueuedMessage.objects.get().pk,
        }

        answer = ada.post(path.format(**ids), body, method=method)

        assert (answer.status_code, code(answer)) == (403, "permission")
        assert answer.json()["detail"] == "This one is locked."
        assert ada.get(f"runs/{run.pk}/").json()["stop_requested"] is False
        assert Conversation.objects.get().title != "New"
        assert Run.objects.count() == 1
        assert QueuedMessage.objects.get().dropped_at is None


class TestFilters:
    def start(self, ada, *paths):
        for path in paths:
            assert ada.start(page_path=path).status_code == 201

    def test_with_several_values_ranges_and_an_order(self, override, program):
        override(FILTERS)
        ada = program()
        self.start(ada, "/b/", "/c/", "/a/")
        first = ada.get("runs/", order="page_path").json()["results"][0]
        ada.post(f"runs/{first['id']}/stop/")

        both = ada.get("runs/?state=queued&state=cancelled&order=-page_path")
        queued = ada.get("runs/?state=queued&order=page_path")
        later = ada.get("runs/", made_after="2999-01-01T00:00:00Z")
        page = ada.get("runs/", order="page_path", page_size=2).json()

        assert paths_of(both) == ["/c/", "/b/", "/a/"]
        assert paths_of(queued) == ["/b/", "/c/"]
        assert paths_of(later) == []
        assert paths_of(ada.http.get(page["next"])) == ["/c/"]
        assert code(ada.get("runs/", made="2999-01-01")) == "unknown_parameter"
        assert code(ada.get("runs/?order=page_path&order=-page_path")) == "invalid"
        assert code(ada.get("runs/", state="none")) == "invalid"
        cursor = page["next"].partition("cursor=")[2].partition("&")[0]
        assert code(ada.http.get(f"{API}runs/?cursor={cursor}")) == "bad_cursor"
        told = {one["name"] for one in told_runs(ada)["parameters"]}
        assert {"made_after", "made_before", "order", "state"} <= told

    def test_backend_of_the_framework_orders_the_pages(self, override, program):
        override(BACKENDS)
        ada = program()
        self.start(ada, "/b/", "/c/", "/a/")

        assert paths_of(ada.get("runs/")) == ["/c/", "/b/", "/a/"]
        page = ada.get("runs/", ordering="page_path", page_size=2)
        assert paths_of(page) == ["/a/", "/b/"]
        assert paths_of(ada.http.get(page.json()["next"])) == ["/c/"]

    def test_pages_of_the_framework_keep_the_order_of_the_view(self, override, program):
        override(PAGES)
        ada = program()
        self.start(ada, "/b/", "/c/", "/a/")

        assert paths_of(ada.get("runs/")) == ["/a/", "/b/"]
        assert paths_of(ada.get("runs/", page=2)) == ["/c/"]
        assert code(ada.get("runs/", cursor="x")) == "unknown_parameter"
        assert "page" in {one["name"] for one in told_runs(ada)["parameters"]}


class TestAnswers:
    def test_problem_is_json_in_whatever_answers_are(self, override, program):
        override(RENDERER)
        ada = program()
        ada.start(page_path="/a/")
        plain = {"accept": "text/plain"}

        answer = ada.http.get(f"{API}runs/", headers=plain)
        refused = ada.http.get(f"{API}runs/?x=1", headers=plain)

        assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
        assert answer.content == b"/a/"
        assert code(refused) == "unknown_parameter"
        assert ada.get("runs/").headers["Content-Type"] == "application/json"
        told = told_runs(ada)["responses"]["200"]["content"]
        assert {*told} == {"application/json", "text/plain"}

    def test_browsable_pages_are_drawn(self, override, browser, people):
        override(BROWSABLE)
        run, html = ask(people["ada"]), {"accept": "text/html"}

        page = browser("ada").get(f"{API}runs/{run.pk}/", headers=html)

        assert page.status_code == 200
        assert page.headers["Content-Type"].startswith("text/html")

    def test_serializer_tells_what_an_action_answers(self, override, program):
        override(SERIALIZER)
        ada = program()

        started = ada.start()
        stopped = ada.post(f"runs/{started.json()['id']}/stop/")

        assert started.status_code == 201
        assert (started.json()["shop"], stopped.json()["shop"]) == ("North", "North")
        (content,) = told_runs(ada, "post")["responses"]["201"]["content"].values()
        assert content["schema"]["$ref"].endswith("/ShopRun")


class TestCallers:
    def test_throttle_of_the_framework(self, override, program):
        override(THROTTLE)
        ada = program()

        assert ada.get("runs/").status_code == 200
        refused = ada.get("runs/")
        assert (refused.status_code, code(refused)) == (429, "throttled")
        assert ada.get("conversations/").status_code == 200

    def test_authentication_with_one_more_condition(self, override, program):
        override(AUTHENTICATION)
        ada = program()

        refused = ada.get("runs/")

        assert (refused.status_code, code(refused)) == (401, "signed_out")
        assert refused.json()["detail"] == "Call from the office."
        office = {"x-place": "office"}
        assert ada.http.get(f"{API}runs/", headers=office).status_code == 200

    def test_authentication_that_tells_no_caller_starts_nothing(
        self, override, browser, caplog
    ):
        override(FOREIGN)
        client = browser("ada")
        client.raise_request_exception = False

        answer = client.post(f"{API}runs/", {"text": "Hello"}, "application/json")

        assert (answer.status_code, code(answer)) == (500, "failed")
        assert "CallerAuthentication" in caplog.text
        assert not Run.objects.exists()
