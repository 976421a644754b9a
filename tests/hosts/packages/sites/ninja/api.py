"""The API of the site: books, their authors, and tags in async functions."""

from typing import Annotated

from django.shortcuts import aget_object_or_404, get_object_or_404
from ninja import (
    FilterLookup,
    FilterSchema,
    ModelSchema,
    NinjaAPI,
    Query,
    Router,
    Schema,
)
from ninja.errors import HttpError
from ninja.pagination import paginate
from ninja.responses import Status
from ninja.security import django_auth, django_auth_is_staff, django_auth_superuser

from tests.hosts.packages.sites.ninja.models import Author, Book, Tag

api = NinjaAPI(title="Library", auth=django_auth, urls_namespace="library")
books, authors, tags = Router(tags=["Books"]), Router(), Router(tags=["tags"])


class AuthorOut(ModelSchema):
    class Meta:
        model = Author
        fields = ("id", "name", "email", "api_key")


class AuthorIn(Schema):
    name: str
    email: str = ""


class BookOut(ModelSchema):
    by: AuthorOut = None
    author_name: str = None

    class Meta:
        model = Book
        fields = ("id", "title", "author", "status", "price", "added_by", "tags")

    @staticmethod
    def resolve_by(book):
        return book.author

    @staticmethod
    def resolve_author_name(book):
        return book.author.name


class BookIn(ModelSchema):
    class Meta:
        model = Book
        fields = ("title", "author", "price", "added_by")
        fields_optional = ("price", "added_by")


class BookPatch(ModelSchema):
    class Meta:
        model = Book
        fields = ("title", "price", "status")
        fields_optional = "__all__"


class BookFilter(FilterSchema):
    status: str | None = None
    search: Annotated[str | None, FilterLookup(["title__icontains"])] = None
    by: Annotated[
        str | None, FilterLookup(["author__name__icontains", "author__api_key"])
    ] = None


class Message(Schema):
    detail: str


class Lending(Schema):
    to: str


class TagIn(Schema):
    name: str


class TagOut(Schema):
    id: int
    name: str


def check(request, codename):
    if not request.user.has_perm(f"host.{codename}"):
        raise HttpError(403, f"You may not do this: {codename}")


@books.get("/", response=list[BookOut])
@paginate
def list_items(request, filters: Query[BookFilter], order_by: str = "id"):
    """List the books."""
    check(request, "view_book")
    if order_by.lstrip("-") not in {"id", "title", "price", "author__api_key"}:
        raise HttpError(400, "No such order.")
    return filters.filter(Book.objects.order_by(order_by))


@books.post("/", response={201: BookOut})
def create_book(request, data: BookIn):
    """Add a book."""
    check(request, "add_book")
    values = {name: own for name, own in data.dict().items() if own is not None}
    author = get_object_or_404(
        Author, pk=values.pop("author", values.pop("author_id", 0))
    )
    return Status(201, Book.objects.create(author=author, **values))


@books.get("/{int:book_id}", response=BookOut)
def one_book(request, book_id: int):
    check(request, "view_book")
    return get_object_or_404(Book, pk=book_id)


@books.patch("/{int:book_id}", response=BookOut)
def change_book(request, book_id: int, data: BookPatch):
    """Change a book."""
    check(request, "change_book")
    book = get_object_or_404(Book, pk=book_id)
    for name, value in data.dict(exclude_unset=True).items():
        setattr(book, name, value)
    book.save()
    return book


@books.delete("/{int:book_id}", response={204: None})
def delete_book(request, book_id: int):
    """Delete a book."""
    check(request, "delete_book")
    get_object_or_404(Book, pk=book_id).delete()
    return Status(204, None)


@books.post("/{int:book_id}/lend", response={200: BookOut, 409: Message})
def lend(request, book_id: int, data: Lending):
    """Lend a book."""
    check(request, "change_book")
    book = get_object_or_404(Book, pk=book_id)
    if book.status == "lent":
        return Status(409, {"detail": "It is lent already."})
    Book.objects.filter(pk=book.pk).update(status="lent", added_by=data.to)
    book.refresh_from_db()
    return book


@books.api_operation(["POST", "DELETE"], "/{int:book_id}/loss")
def loss(request, book_id: int):
    """Note that a book is lost, or that it is found."""
    check(request, "change_book")
    book = get_object_or_404(Book, pk=book_id)
    book.status = "lost" if request.method == "POST" else "new"
    book.save(update_fields=["status"])
    return {"status": book.status}


@authors.get("/", response=list[AuthorOut], auth=django_auth_is_staff)
def list_items(request):  # noqa: F811 - of another router, with the same URL name
    """List the authors."""
    check(request, "view_author")
    return Author.objects.order_by("pk")


@authors.post("/", response={201: AuthorOut}, auth=django_auth_superuser)
def create_author(request, data: AuthorIn):
    """Add an author."""
    return Status(201, Author.objects.create(**data.dict()))


@authors.delete("/{author_id}", response={204: None})
def delete_author(request, author_id: int):
    check(request, "delete_author")
    get_object_or_404(Author, pk=author_id).delete()
    return Status(204, None)


async def acheck(request, codename):
    if not await request.user.ahas_perm(f"host.{codename}"):
        raise HttpError(403, f"You may not do this: {codename}")


@tags.get("/", response=list[TagOut])
async def list_tags(request):
    """List the tags."""
    await acheck(request, "view_tag")
    return [tag async for tag in Tag.objects.order_by("pk")]


@tags.post("/", response={201: TagOut})
async def create_tag(request, data: TagIn):
    """Add a tag."""
    await acheck(request, "add_tag")
    return Status(201, await Tag.objects.acreate(name=data.name))


@tags.put("/{tag_id}", response=TagOut)
async def change_tag(request, tag_id: int, data: TagIn):
    """Change a tag."""
    await acheck(request, "change_tag")
    tag = await aget_object_or_404(Tag, pk=tag_id)
    tag.name = data.name
    await tag.asave()
    return tag


@tags.delete("/{tag_id}", response={204: None})
def delete_tag(request, tag_id: int):
    """Delete a tag: sync, under an address that has an async function too."""
    check(request, "delete_tag")
    get_object_or_404(Tag, pk=tag_id).delete()
    return Status(204, None)


api.add_router("/books", books)
api.add_router("/authors", authors)
api.add_router("/tags", tags)
