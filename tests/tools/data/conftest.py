from datetime import UTC, date, datetime
from types import SimpleNamespace

import pytest
from django.contrib.auth import get_user_model

from tests.library.models import Author, Book, Copy, Diary, Publisher, Shelf, Tag, Vault
from tests.tools.data.reading import staff
from tests.tools.data.writing import make_stock


@pytest.fixture
def boss(db):
    return get_user_model().objects.create_superuser("ada", password="hunter2hunter2")


@pytest.fixture
def reader(db):
    """A member of staff who may look at books and at nothing else."""
    return staff("nora", "view_book")


@pytest.fixture
def shop(db):
    """Some books, and what belongs to them."""
    verne = Author.objects.create(name="Verne", email="v@x.org", api_key="canary-key")
    woolf = Author.objects.create(name="Woolf", api_key="canary-other")
    open_one = Publisher.objects.create(name="Penguin", city="London")
    hidden = Publisher.objects.create(
        name="_Secret", city="Atlantis", auth_token="canary-token"
    )
    shelf = Shelf.objects.create(room="Cellar")
    sea = Book.objects.create(
        title="Twenty Thousand Leagues",
        author=verne,
        publisher=open_one,
        shelf=shelf,
        price="12.50",
        pages=400,
        published=date(1995, 3, 1),
        added_at=datetime(2024, 5, 6, 7, 8, tzinfo=UTC),
        margin=77,
        session_token="canary-session",
        data={"a": [1]},
    )
    waves = Book.objects.create(
        title="The Waves",
        author=woolf,
        publisher=hidden,
        status="lent",
        price="8.00",
        pages=200,
        published=date(2003, 1, 1),
        margin=5,
    )
    tags = [Tag.objects.create(name=name) for name in ("sea", "classic")]
    sea.tags.set(tags)
    waves.tags.set(tags[1:])
    Copy.objects.create(book=sea, code="C-1", shelf=shelf, pin="canary-pin")
    Vault.objects.create(contents="canary-vault", book=sea)
    Diary.objects.create(entry="canary-diary")
    return SimpleNamespace(
        verne=verne, woolf=woolf, sea=sea, waves=waves, hidden=hidden, tags=tags
    )


@pytest.fixture
def stock(db):
    """Products and what belongs to them."""
    return make_stock()
