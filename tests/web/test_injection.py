"""Closed panels come from format strings, and are what their templates draw."""

import copy
import itertools
import re
import sys
from html import escape
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.core.management import call_command
from django.http import HttpResponse
from django.template import Engine
from django.template.loader import get_template
from django.test import RequestFactory, override_settings
from django.urls import set_script_prefix
from django.utils.functional import SimpleLazyObject
from django.utils.translation import override

from ai_assistant.models.run import RunState
from ai_assistant.web import injection
from ai_assistant.web.injection import drawn_parts
from ai_assistant.web.middleware import dress
from tests.web.conftest import ask

LAYOUTS = [
    {},
    {"m": "float", "w": "520", "p": "20.3.4", "l": "s", "e": "1"},
    {"m": "float", "p": "32.1.1", "f": "nf", "n": "7", "k": "0"},
    {"m": "dock", "w": "320", "l": "n", "f": "n", "n": "999"},
    {"l": "n", "k": "0", "f": "f", "e": "1"},
]
LANGUAGES = ("en", "de", "ar")
PARTLY = ("view_assistant",), ("view_assistant", "use_assistant")
ODD_NAMES = ("100%", "%(now)s", "<b>&amp;\"'", "Zoë \ue000now\ue000", "a{b}")


@pytest.fixture(autouse=True)
def _nothing_known(monkeypatch):
    monkeypatch.setattr(injection, "_formats", {})


@pytest.fixture
def people(db):
    """Users of different rights, and of names that a format could take for its own."""
    model = get_user_model()
    found = [model.objects.create_superuser(ODD_NAMES[0])]
    for name, codenames in zip(ODD_NAMES[1:], itertools.cycle(PARTLY), strict=False):
        user = model.objects.create_user(name, is_staff=True)
        user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
        found.append(user)
    return found


def page_of(user, layout=None, *, nonce="", path="/admin/"):
    cookie = urlencode({"o": "0", **(layout or {})}, safe=".")
    request = RequestFactory().get(path, HTTP_COOKIE=f"aia_ui={cookie}")
    request.user = user
    if nonce:
        request.csp_nonce = SimpleLazyObject(lambda: nonce)
    return request


def both(request, monkeypatch):
    """Return what is drawn of a page, by formats and by rendering the templates."""
    panel = injection.panel_for(request)
    monkeypatch.setattr(injection, "panel_for", lambda _: panel)
    drawn = drawn_parts(request)
    top = [get_template(f"ai_assistant/{name}.html") for name in injection.TEMPLATES]
    rendered = injection._rendered(request, panel, top)
    return drawn, rendered


def with_template(settings, folder, name, text):
    (folder / "ai_assistant").mkdir(exist_ok=True)
    (folder / "ai_assistant" / f"{name}.html").write_text(text)
    own = copy.deepcopy(settings.TEMPLATES)
    own[0]["DIRS"] = [folder, *own[0].get("DIRS", [])]
    settings.TEMPLATES = own


class TestSame:
    """One process shows these pages one after the other, and each to its own person."""

    def test_each_page_is_what_its_templates_draw(self, people, subtests):
        pages = itertools.product(LAYOUTS, LANGUAGES, people, ("", "Aa+/9=="))
        for layout, language, user, nonce in pages:
            request = page_of(user, layout, nonce=nonce)
            with override(language), pytest.MonkeyPatch.context() as patch:
                drawn, rendered = both(request, patch)
            with subtests.test(f"{layout} {language} {user} {nonce}"):
                assert drawn == rendered
                assert f'lang="{language}"' in drawn[1]
        assert len(injection._formats) == len(LAYOUTS) * len(LANGUAGES) * 2 * 2
        assert all(injection._formats.values())

    @pytest.mark.parametrize("state", [RunState.RUNNING, RunState.WAITING_APPROVAL])
    def test_page_beside_a_run_that_is_active(self, people, monkeypatch, state):
        run = ask(people[0])
        type(run).objects.update(state=state)
        layout = {"b": "1", "c": str(run.conversation_id)}
        drawn_parts(page_of(people[0], layout))

        drawn, rendered = both(page_of(people[0], layout), monkeypatch)

        assert drawn == rendered
        assert "data-busy" in drawn[1]

    def test_page_below_another_path(self, people, monkeypatch):
        drawn_parts(page_of(people[0]))
        set_script_prefix("/below/")
        try:
            drawn, rendered = both(page_of(people[0]), monkeypatch)
        finally:
            set_script_prefix("/")

        assert drawn == rendered
        assert 'data-ws="/below/' in drawn[1]

    def test_every_template_of_a_closed_panel_is_looked_at(self, people, monkeypatch):
        asked = set()
        find = Engine.get_template

        def noted(engine, name):
            asked.add(name)
            return find(engine, name)

        monkeypatch.setattr(Engine, "get_template", noted)
        drawn_parts(page_of(people[0]))  # rendered, as it is the first one

        names = {*injection.TEMPLATES, *injection.INCLUDED}
        assert asked == {f"ai_assistant/{name}.html" for name in names}


class TestOwnTemplates:
    @pytest.mark.parametrize(
        "name", ["injection_head", "injection_body", "skip", *injection.INCLUDED]
    )
    def test_template_of_the_site_is_rendered_for_each_page(
        self, people, settings, tmp_path, name
    ):
        drawn_parts(page_of(people[0]))  # as delivered, before the site has its own
        with_template(settings, tmp_path, name, "{{ request.path }} {{ user }}")
        processors = settings.TEMPLATES[0]["OPTIONS"]["context_processors"]
        assert "django.contrib.auth.context_processors.auth" in processors

        for user, path in itertools.product(people[1:3], ("/admin/a/", "/admin/b/")):
            html = "".join(drawn_parts(page_of(user, path=path)))

            assert f"{path} {escape(user.username)}" in html

    def test_template_of_the_site_may_look_as_delivered_to_the_first(
        self, people, settings, tmp_path
    ):
        path = f"{injection.OWN_FOLDER}skip.html"
        for_one = "{% if user.is_superuser %}for root alone{% endif %}"
        with_template(settings, tmp_path, "skip", Path(path).read_text() + for_one)

        found = ["for root" in drawn_parts(page_of(user))[2] for user in people[2::-1]]

        assert found == [False, False, True]

    @pytest.mark.parametrize("asks", ["panel.viewer.can_share", "request.path"])
    def test_template_that_asks_for_more_is_never_a_format(
        self, people, settings, tmp_path, monkeypatch, asks
    ):
        monkeypatch.setattr(injection, "_are_own", lambda _: True)
        with_template(
            settings,
            tmp_path,
            "skip",
            f"<i>{{% if {asks} == '/b/' %}}b{{% endif %}}</i>",
        )

        seen = [
            drawn_parts(page_of(people[0], path=path))[2] for path in ("/b/", "/a/")
        ]

        assert seen == (["<i>b</i>", "<i></i>"] if "path" in asks else ["<i></i>"] * 2)
        assert [*injection._formats.values()] == [()]


class OfTenant(StaticFilesStorage):
    tenant = ""

    def url(self, name):
        return f"/{self.tenant}{super().url(name)}"


class TestStaticFiles:
    def sheet(self, user):
        return re.search('href="([^"]*panel[^"]*)"', drawn_parts(page_of(user))[0])[1]

    def test_storage_of_the_site_is_asked_for_each_page(self, people, monkeypatch):
        own = {"BACKEND": "tests.web.test_injection.OfTenant"}
        with override_settings(STORAGES={**settings.STORAGES, "staticfiles": own}):
            for tenant in ("a", "a", "b", "a"):
                monkeypatch.setattr(OfTenant, "tenant", tenant)

                assert self.sheet(people[0]).startswith(f"/{tenant}/")

    def test_address_is_that_of_the_manifest(self, people, tmp_path):
        hashed = "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"
        own = {"BACKEND": hashed}
        stores = {**settings.STORAGES, "staticfiles": own}
        with override_settings(STORAGES=stores, STATIC_ROOT=tmp_path, DEBUG=False):
            call_command("collectstatic", interactive=False, verbosity=0)

            assert re.search(r"/panel\.[0-9a-f]{12}\.css$", self.sheet(people[0]))

    def test_address_follows_the_settings(self, people):
        before = self.sheet(people[0])
        with override_settings(STATIC_URL="https://cdn.example/s/"):
            assert self.sheet(people[0]).startswith("https://cdn.example/s/")
        assert self.sheet(people[0]) == before


class TestCost:
    def test_formats_are_few(self, people, monkeypatch):
        monkeypatch.setattr(injection, "MAX_FORMATS", 2)

        for layout in LAYOUTS:
            drawn_parts(page_of(people[0], layout))

        assert len(injection._formats) <= 2

    def test_closed_page_takes_few_calls(self, people):
        """About 350; it took 1,850 when each page rendered its templates."""
        response = HttpResponse("<head></head><body></body>")
        request = page_of(people[0])
        request.resolver_match = None
        calls = []
        dress(request, HttpResponse("<head></head><body></body>"))
        sys.setprofile(lambda _frame, event, _: calls.append(event))
        try:
            dress(request, response)
        finally:
            sys.setprofile(None)

        assert b'id="aia"' in response.content
        assert calls.count("call") < 600
