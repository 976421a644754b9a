import copy
import gzip

import pytest
from asgiref.sync import async_to_sync
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AnonymousUser, Group
from django.db import connection
from django.http import HttpResponse, StreamingHttpResponse
from django.test import AsyncClient, RequestFactory
from django.test.utils import CaptureQueriesContext, override_settings
from django.urls import ResolverMatch, include, path

from ai_assistant.models import Run
from ai_assistant.models.run import RunState
from ai_assistant.web.middleware import AssistantMiddleware
from tests.web.conftest import ask

PAGE = "<!doctype html><html><head><title>x</title></head><body>Hello</body></html>"
MARK = b'id="aia"'

ASSISTANT = "ai_assistant.urls"

backoffice = admin.AdminSite(name="backoffice")
backoffice.register(Group)
OTHER_SITE = (path("backoffice/", backoffice.urls), path("admin/", admin.site.urls))


calls = []


def noted(request):
    """A context processor."""
    calls.append(request.path)
    return {}


def in_admin(request, *, url_name: str = "index"):
    request.resolver_match = ResolverMatch(
        lambda: None, (), {}, url_name=url_name, app_names=["admin"]
    )
    return request


@pytest.fixture
def superuser(db):
    return get_user_model().objects.create_superuser("root", password="root")


@pytest.fixture
def passed(superuser):
    """Return what the middleware makes of a response."""

    def through(response, *, user=superuser, url_name="index", **request):
        asked = RequestFactory().get("/admin/", **request)
        asked.user = user
        in_admin(asked, url_name=url_name)
        return AssistantMiddleware(lambda _: response)(asked)

    return through


class TestInjection:
    @pytest.mark.row("N01")
    def test_panel_comes_first_in_the_body_and_styles_last_in_the_head(self, passed):
        html = passed(HttpResponse(PAGE)).content.decode()

        head, _, body = html.partition("<body>")
        assert head.index("<title>") < head.index("panel.css") < head.index("</head>")
        assert body.lstrip().startswith('<aside id="aia"')
        assert body.endswith("Hello</body></html>")

    @pytest.mark.parametrize(
        "body",
        [
            "<body>",
            "<BODY>",
            '<body class="a b">',
            """<body x-data="{open: 1 > 0, say: '</body>'}" class='>'>""",
            "<body\n  class=x\n>",
            "<body >",
        ],
    )
    def test_injection_finds_the_end_of_the_body_tag(self, passed, body):
        page = PAGE.replace("<body>", body)

        html = passed(HttpResponse(page)).content.decode()

        assert html.partition(body)[2].lstrip().startswith('<aside id="aia"')
        assert html.count('id="aia"') == 1

    @pytest.mark.parametrize(
        "before",
        [
            "<!-- <body> -->",
            "<script>const page = '</head><body>'</script>",
            "<title><body></title>",
            "<style>/* <body> */</style>",
        ],
    )
    def test_injection_is_not_misled_by_a_body_that_is_none(self, passed, before):
        page = PAGE.replace("<head>", f"<head>{before}")

        html = passed(HttpResponse(page)).content.decode()

        assert html.count('id="aia"') == 1
        assert before in html
        assert html.rindex("<body") < html.index("<aside")
        assert html.index("panel.css") < html.rindex("</head>")

    def test_injection_corrects_the_length(self, passed):
        response = HttpResponse(PAGE, headers={"Content-Length": str(len(PAGE))})

        passed(response)

        assert response["Content-Length"] == str(len(response.content))

    def test_context_processors_of_the_site_are_called_once(self, passed, settings):
        calls.clear()
        own = copy.deepcopy(settings.TEMPLATES)
        processors = own[0]["OPTIONS"]["context_processors"]
        settings.TEMPLATES = own
        processors.append("tests.web.test_middleware.noted")

        assert MARK in passed(HttpResponse("<body></body>")).content
        assert calls == ["/admin/"]

    def test_page_depends_on_the_cookie(self, passed):
        assert "Cookie" in passed(HttpResponse(PAGE))["Vary"]

    def test_entity_tag_of_the_page_goes(self, passed):
        assert not passed(HttpResponse(PAGE, headers={"ETag": '"1"'})).has_header(
            "ETag"
        )

    def test_injection_keeps_the_encoding_of_the_page(self, passed, superuser):
        superuser.username = "Zoë 😀"
        response = HttpResponse(
            PAGE.replace("Hello", "Grüße"),
            content_type="text/html; charset=latin-1",
            headers={"Set-Cookie": "a=b"},
        )

        html = passed(response, user=superuser, HTTP_COOKIE="aia_ui=o=1").content

        text = html.decode("latin-1")
        assert "Grüße" in text
        assert "Zoë &#128512;" in text

    def test_injection_happens_once(self, passed):
        once = passed(HttpResponse(PAGE)).content

        assert passed(HttpResponse(once)).content == once


class TestLeftAlone:
    def unchanged(self, passed, response, **options):
        before = response.content
        return passed(response, **options).content == before

    @pytest.mark.parametrize(
        "page", ["", "<p>A fragment</p>", "<html><head></head></html>", "<bodyguard>"]
    )
    def test_left_alone_without_a_body(self, passed, page):
        assert self.unchanged(passed, HttpResponse(page))

    @pytest.mark.parametrize("kind", ["application/json", "text/plain", "text/xml", ""])
    def test_what_is_no_html(self, passed, kind):
        assert self.unchanged(passed, HttpResponse(PAGE, content_type=kind))

    def test_what_is_encoded(self, passed):
        packed = gzip.compress(PAGE.encode())
        response = HttpResponse(packed, headers={"Content-Encoding": "gzip"})

        assert self.unchanged(passed, response)

    def test_what_is_streamed(self, passed):
        response = StreamingHttpResponse(iter([PAGE.encode()]))

        assert b"".join(passed(response)) == PAGE.encode()

    @pytest.mark.parametrize("status", [500, 502, 503])
    def test_page_of_a_broken_server(self, passed, status):
        assert self.unchanged(passed, HttpResponse(PAGE, status=status))

    @pytest.mark.parametrize("name", ["login", "logout"])
    def test_sign_in_pages(self, passed, name):
        assert self.unchanged(passed, HttpResponse(PAGE), url_name=name)

    @pytest.mark.parametrize("query", ["_popup=1", "_to_field=id&_popup=1"])
    def test_popups(self, passed, query):
        assert self.unchanged(passed, HttpResponse(PAGE), QUERY_STRING=query)

    @pytest.mark.parametrize("place", ["iframe", "frame", "embed"])
    def test_frames(self, passed, place):
        response = HttpResponse(PAGE)

        assert self.unchanged(passed, response, HTTP_SEC_FETCH_DEST=place)

    def test_document_is_no_frame(self, passed):
        response = passed(HttpResponse(PAGE), HTTP_SEC_FETCH_DEST="document")

        assert MARK in response.content

    @pytest.mark.row("X11")
    def test_pages_of_others(self, superuser):
        request = RequestFactory().get("/shop/")
        request.user = superuser
        for match in (None, ResolverMatch(lambda: None, (), {}, url_name="index")):
            request.resolver_match = match
            response = AssistantMiddleware(lambda _: HttpResponse(PAGE))(request)
            assert response.content == PAGE.encode()

    def test_site_without_users(self):
        request = in_admin(RequestFactory().get("/admin/"))

        response = AssistantMiddleware(lambda _: HttpResponse(PAGE))(request)

        assert response.content == PAGE.encode()

    @pytest.mark.row("N02")
    @pytest.mark.row("M12")
    def test_page_of_who_may_not_see_it_is_the_same_to_the_byte(self, passed):
        plain = get_user_model().objects.create_user("plain", is_staff=True)
        for user in (plain, AnonymousUser()):
            response = passed(HttpResponse(PAGE), user=user)
            assert response.content == PAGE.encode()
            assert response.headers == HttpResponse(PAGE).headers

    @pytest.mark.row("M13")
    def test_all_while_it_is_off(self, passed, settings):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "ENABLED": False}

        assert self.unchanged(passed, HttpResponse(PAGE))


class TestAsync:
    def test_async_awaits_the_page(self, superuser):
        async def page(_request):
            return HttpResponse(PAGE)

        request = in_admin(RequestFactory().get("/admin/"))
        request.user = superuser

        response = async_to_sync(AssistantMiddleware(page))(request)

        assert response.content.count(MARK) == 1

    @pytest.mark.django_db(transaction=True)
    async def test_async_is_on_the_pages_of_an_async_server(self, superuser):
        client = AsyncClient()
        await client.aforce_login(superuser)

        response = await client.get("/admin/")

        assert response.content.count(MARK) == 1


class TestAdmin:
    @pytest.mark.row("N01")
    @pytest.mark.parametrize(
        ("address", "status"),
        [
            ("/admin/", 200),
            ("/admin/auth/user/", 200),
            ("/admin/auth/user/add/", 200),
            ("/admin/auth/user/{user}/change/", 200),
            ("/admin/auth/user/{user}/history/", 200),
            ("/admin/auth/user/{user}/delete/", 200),
            ("/admin/password_change/", 200),
            ("/admin/questionnaires/", 200),
            ("/admin/questionnaires/section/", 200),
            ("/admin/questionnaires/section/add/", 200),
            ("/admin/no/such/page/", 404),
        ],
    )
    def test_panel_is_on_each_page(self, client, superuser, address, status):
        client.force_login(superuser)

        response = client.get(address.format(user=superuser.pk))

        assert response.status_code == status
        assert response.content.count(MARK) == (
            1 if b"<body" in response.content else 0
        )

    def test_form_with_errors_has_it_too(self, client, superuser):
        client.force_login(superuser)

        response = client.post("/admin/auth/group/add/", {"name": ""})

        assert response.status_code == 200
        assert response.content.count(MARK) == 1

    def test_redirect_and_popup_have_none(self, client, superuser):
        client.force_login(superuser)

        saved = client.post("/admin/auth/group/add/", {"name": "one"})
        popup = client.post("/admin/auth/group/add/", {"name": "two", "_popup": "1"})

        assert (saved.status_code, saved.content) == (302, b"")
        assert popup.status_code == 200
        assert MARK not in popup.content

    def test_page_after_sign_out_has_none(self, client, superuser):
        client.force_login(superuser)

        assert MARK in client.get("/admin/").content
        assert MARK not in client.post("/admin/logout/").content
        assert MARK not in client.get("/admin/", follow=True).content

    @pytest.mark.row("N01")
    @override_settings(ROOT_URLCONF=(*OTHER_SITE, path("ai/", include(ASSISTANT))))
    def test_site_of_another_name_has_it(self, client, superuser):
        client.force_login(superuser)

        html = client.get("/backoffice/auth/group/").content

        assert html.count(MARK) == 1
        assert b'data-ws="/ai/ws/"' in html

    @override_settings(ROOT_URLCONF=OTHER_SITE)
    def test_site_without_the_addresses_works_without_it(self, client, superuser):
        client.force_login(superuser)

        response = client.get("/backoffice/")

        assert response.status_code == 200
        assert MARK not in response.content

    def test_packed_page_is_packed_with_the_panel(self, client, superuser):
        client.force_login(superuser)

        response = client.get("/admin/", headers={"Accept-Encoding": "gzip"})

        assert response["Content-Encoding"] == "gzip"
        assert MARK in gzip.decompress(response.content)
        assert response["Content-Length"] == str(len(response.content))

    def test_server_error_keeps_its_page(self, client, superuser, monkeypatch):
        def broken(*_args, **_kwargs):
            raise ZeroDivisionError

        client.force_login(superuser)
        client.raise_request_exception = False
        monkeypatch.setattr(admin.site, "each_context", broken)

        assert client.get("/admin/").status_code == 500


@pytest.mark.row("N02")
class TestLauncher:
    def root(self, client, run, is_open=0, is_busy=1):
        said = f"o={is_open}&b={is_busy}&c={run.conversation_id}"
        client.cookies["aia_ui"] = said
        html = client.get("/admin/").content.decode()
        return html[html.index('<aside id="aia"') :].partition(">")[0]

    def test_launcher_of_a_closed_panel_shows_that_a_run_is_active(
        self, client, superuser
    ):
        client.force_login(superuser)
        run = ask(superuser)

        assert 'data-busy="run"' in self.root(client, run)
        Run.objects.update(state=RunState.SUCCEEDED)
        assert "data-busy" not in self.root(client, run)

    def test_launcher_shows_nothing_of_another_users_run(self, client, superuser):
        client.force_login(superuser)
        run = ask(get_user_model().objects.create_user("other"))

        assert "data-busy" not in self.root(client, run)

    def test_launcher_opens_the_full_page_where_no_script_runs(self, client, superuser):
        client.force_login(superuser)

        html = client.get("/admin/").content.decode()

        assert '<a id="aia-launcher" href="/assistant/" data-aia-open' in html


class TestCost:
    def queries(self, client, address, **cookies):
        for name, value in cookies.items():
            client.cookies[name] = value
        with CaptureQueriesContext(
            connection,
        ) as captured:
            client.get(address)
        return len(captured)

    def test_closed_page_asks_the_database_at_most_twice(self, client, db, settings):
        from django.contrib.auth.models import Permission

        user = get_user_model().objects.create_user("staff", is_staff=True)
        user.user_permissions.set(Permission.objects.all())
        client.force_login(user)
        address = "/admin/password_change/"
        client.get(address)
        with_panel = self.queries(client, address)
        settings.MIDDLEWARE = [
            name for name in settings.MIDDLEWARE if "ai_assistant" not in name
        ]

        assert with_panel - self.queries(client, address) <= 2

    def test_remembered_conversation_costs_a_closed_page_nothing(
        self, client, superuser
    ):
        client.force_login(superuser)
        run = ask(superuser)
        address = "/admin/"
        client.get(address)
        before = self.queries(client, address)

        said = f"o=0&c={run.conversation_id}"

        assert self.queries(client, address, aia_ui=said) == before
