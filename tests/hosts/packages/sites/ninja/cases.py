from tests.hosts.packages.cases import change
from tests.hosts.packages.sites.ninja.models import Author, Book, Tag

CASES = {"change": change("host.tag", 1, {"name": "ocean"}, {"name": "ocean"})}


def make() -> None:
    verne = Author.objects.create(name="Verne", email="v@x.org", api_key="canary-key")
    for title, status in (("Leagues", "new"), ("Moon", "lent"), ("Lost", "lost")):
        Book.objects.create(title=title, status=status, author=verne)
    tags = [Tag.objects.create(name=name) for name in ("sea", "old")]
    Book.objects.earliest("pk").tags.set(tags)
