"""Whether a session still is in the store, with each of Django's stores."""

from datetime import timedelta
from importlib import import_module

import pytest
from django.contrib.auth import get_user_model
from django.contrib.sessions.backends import file as file_backend
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.models import Session
from django.core.cache import caches
from django.db import OperationalError
from django.utils import timezone

from ai_assistant.exceptions import Refused
from ai_assistant.models.run import Run
from ai_assistant.safety.identity.session import (
    AccessRevoked,
    SessionStoreUnavailable,
    check_may_write,
    check_user,
    is_removed,
    kept_key,
    session_stamp,
)

pytestmark = pytest.mark.django_db

BACKENDS = "django.contrib.sessions.backends."
TELLING = ("db", "cached_db", "cache", "file")
LOCAL = "django.core.cache.backends.locmem.LocMemCache"
SHARED = "django.core.cache.backends.filebased.FileBasedCache"


@pytest.fixture
def store(settings, tmp_path, monkeypatch):
    """Make the site use a session store: `store("db")`; return its class."""
    files = tmp_path / "sessions"
    files.mkdir()
    # As the store keeps SESSION_FILE_PATH, which it reads once.
    keeper = file_backend.SessionStore
    monkeypatch.setattr(keeper, "_storage_path", str(files), raising=False)

    def use(name, cache=SHARED):
        settings.CACHES = {
            "default": {"BACKEND": cache, "LOCATION": str(tmp_path / "cache")}
        }
        settings.SESSION_ENGINE = name if "." in name else BACKENDS + name
        return import_module(settings.SESSION_ENGINE).SessionStore

    return use


def begun(store, **values):
    session = store()
    session.update({"of": "somebody", **values})
    session.save()
    return session


@pytest.fixture
def user():
    return get_user_model().objects.create_superuser("ada", password="first")


@pytest.fixture
def run_of(user, rf):
    """Return a run as a message of `session` starts it."""

    def make(session, **fields):
        request = rf.get("/")
        request.session, request.user = session, user
        taken = session_stamp(request)
        return Run(
            session_sealed=taken.session_sealed,
            password_digest=taken.password_digest,
            **{"session_expires_at": taken.expires_at, **fields},
        )

    return make


class TestStores:
    @pytest.mark.parametrize("name", TELLING)
    def test_tell_what_was_removed(self, store, name):
        session, other = begun(store(name)), begun(store(name))
        kept, others = kept_key(session), kept_key(other)
        assert not is_removed(kept)

        store(name)(session.session_key).delete()

        assert is_removed(kept)
        assert not is_removed(others)

    @pytest.mark.parametrize("name", TELLING)
    def test_keep_one_that_was_changed(self, store, name):
        session = begun(store(name))
        kept = kept_key(session)

        session["more"] = 1
        session.save()

        assert not is_removed(kept)

    @pytest.mark.parametrize("name", TELLING)
    def test_drop_one_that_got_another_key(self, store, name):
        session = begun(store(name))
        kept = kept_key(session)

        session.cycle_key()

        assert is_removed(kept)
        assert not is_removed(kept_key(session))

    def test_row_that_was_removed_by_a_query(self, store):
        kept = kept_key(begun(store("db")))

        Session.objects.all().delete()

        assert is_removed(kept)

    def test_row_of_which_django_has_a_copy_is_still_good(self, store):
        """The person is not signed out by that: the next request finds the copy."""
        session = begun(store("cached_db"))
        kept = kept_key(session)

        Session.objects.all().delete()

        assert store("cached_db")(session.session_key).load()
        assert not is_removed(kept)

    def test_session_of_a_cookie_cannot_be_asked_for(self, store):
        session = begun(store("signed_cookies"))

        assert session.session_key
        assert kept_key(session) == ""
        assert not is_removed("")

    def test_cache_of_one_process_is_not_asked(self, store):
        """A worker has another: it would take every session for removed."""
        assert kept_key(begun(store("cache", cache=LOCAL))) == ""
        assert kept_key(begun(store("cached_db", cache=LOCAL)))

    def test_stores_without_a_session(self, store):
        assert kept_key(store("db")()) == ""

    def test_stores_that_keep_nothing_are_not_asked(self, store):
        class Stateless(SessionBase):
            def exists(self, _key):
                return False

        class Keeping(SessionBase):
            def exists(self, key):
                return key == "k" * 8

        assert kept_key(Stateless("k" * 8)) == ""
        assert kept_key(Keeping("k" * 8))


class TestKept:
    def test_kept_is_not_the_key(self, store):
        session = begun(store("db"))

        kept = kept_key(session)

        assert session.session_key not in kept
        assert kept != kept_key(session)

    def test_kept_outlives_a_new_secret_key(self, store, settings):
        kept = kept_key(begun(store("db")))
        settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
        settings.SECRET_KEY = "a new one"

        assert not is_removed(kept)

        settings.SECRET_KEY_FALLBACKS = []
        assert is_removed(kept)


class TestChecks:
    @pytest.mark.parametrize("name", TELLING)
    def test_end_the_run_of_a_removed_session(self, store, user, run_of, name):
        session = begun(store(name))
        run = run_of(session)
        check_user(run, user)
        check_may_write(run)

        store(name)(session.session_key).delete()

        for check in (lambda: check_user(run, user), lambda: check_may_write(run)):
            with pytest.raises(
                AccessRevoked, match="your session has ended"
            ) as revoked:
                check()
            assert revoked.value.code == "session_removed"

    def test_let_a_session_that_only_expired_read(self, store, user, run_of):
        past = timezone.now() - timedelta(seconds=1)
        run = run_of(begun(store("db")), session_expires_at=past)
        Session.objects.all().delete()  # by clearsessions

        check_user(run, user)
        with pytest.raises(Refused) as refused:
            check_may_write(run)

        assert refused.value.code == "session_expired"

    @pytest.mark.parametrize("name", ["signed_cookies", "cache"])
    def test_let_one_go_on_that_cannot_be_asked_for(self, store, user, run_of, name):
        session = begun(store(name, cache=LOCAL))
        run = run_of(session)

        session.flush()

        check_user(run, user)
        check_may_write(run)


class TestStoreThatIsAway:
    @pytest.fixture
    def run(self, store, run_of, monkeypatch):
        run = run_of(begun(store("cache")))

        def away(*_):
            raise ConnectionError("no cache")

        monkeypatch.setattr(type(caches["default"]), "__contains__", away)
        return run

    def test_store_that_is_away_is_named_in_the_error(self, run):
        with pytest.raises(SessionStoreUnavailable, match="no cache"):
            is_removed(run.session_sealed)

    def test_store_that_is_away_ends_nothing_and_nothing_is_written(self, run, user):
        check_user(run, user)

        with pytest.raises(Refused) as refused:
            check_may_write(run)

        assert refused.value.code == "session_unknown"
        assert not isinstance(refused.value, AccessRevoked)

    def test_database_that_is_away_is_for_the_transaction(
        self, store, run_of, user, monkeypatch
    ):
        run = run_of(begun(store("db")))

        def away(*_):
            raise OperationalError("database is locked")

        monkeypatch.setattr(store("db"), "exists", away)

        with pytest.raises(OperationalError):
            check_user(run, user)
