"""
A site with an API: that of the demo, a tutorial's, and views that are traps.

`ROOT_URLCONF = "tests.tools.api.site"`.
"""

import io

from asgiref.sync import sync_to_async
from django.contrib.auth.models import Group
from django.contrib.sessions.models import Session
from django.db import OperationalError, transaction
from django.http import FileResponse, HttpResponseRedirect, StreamingHttpResponse
from django.urls import include, path, re_path
from django.utils.decorators import method_decorator
from django.views.decorators.cache import cache_page
from django.views.decorators.vary import vary_on_cookie
from django_filters import rest_framework as filterset
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import (
    authentication,
    exceptions,
    filters,
    pagination,
    parsers,
    permissions,
    serializers,
    throttling,
    viewsets,
)
from rest_framework.authtoken.views import obtain_auth_token
from rest_framework.decorators import (
    action,
    api_view,
    authentication_classes,
    permission_classes,
)
from rest_framework.response import Response
from rest_framework.routers import DefaultRouter
from rest_framework.views import APIView

import ai_assistant
from ai_assistant.models import ToolCall
from ai_assistant.web.rest.caller import UsageViewSet
from project import urls as demo
from tests.library.models import Author, Book, Tag

seen = []  # what the traps were called with
statuses = []  # of the calls of the tool, when a mail was sent


class AuthorSerializer(serializers.ModelSerializer):
    class Meta:
        model = Author
        fields = ("id", "name", "email", "api_key")


class BookSerializer(serializers.ModelSerializer):
    by = AuthorSerializer(source="author", read_only=True)

    class Meta:
        model = Book
        fields = ("id", "title", "author", "by", "status", "price", "pages", "tags")


class OwnBooks(permissions.BasePermission):
    """Whoever may change books may change those that are not lost."""

    def has_permission(self, request, view):
        safe = request.method in permissions.SAFE_METHODS
        return safe or request.user.has_perm("library.change_book")

    def has_object_permission(self, request, view, obj):
        safe = request.method in permissions.SAFE_METHODS
        return safe or obj.status != Book.Status.LOST


class Cursor(pagination.CursorPagination):
    page_size = 2
    ordering = "pk"


class BookViewSet(viewsets.ModelViewSet):
    """The books of the library."""

    queryset = Book.objects.order_by("pk")
    serializer_class = BookSerializer
    permission_classes = (permissions.IsAuthenticated, OwnBooks)
    filter_backends = (
        DjangoFilterBackend,
        filters.OrderingFilter,
        filters.SearchFilter,
    )
    filterset_fields = ("status", "author__api_key")
    search_fields = ("title",)
    ordering_fields = "__all__"
    pagination_class = Cursor

    @action(detail=True, methods=["post"], serializer_class=None)
    def lend(self, request, pk=None):
        """Lend a book."""
        book = self.get_object()
        if book.status == Book.Status.LENT:
            raise exceptions.ValidationError("It is lent already.")
        Book.objects.filter(pk=book.pk).update(status=Book.Status.LENT)
        return Response({"status": "lent", "to": request.data.get("to", "")})

    @action(detail=False, methods=["delete"], serializer_class=None)
    def some(self, request):
        """Delete some books."""
        seen.append(request.data)
        return Response({})


class AuthorViewSet(viewsets.ModelViewSet):
    queryset = Author.objects.order_by("pk")
    serializer_class = AuthorSerializer
    permission_classes = (permissions.IsAdminUser,)
    filter_backends = (filters.SearchFilter,)
    search_fields = ("name", "api_key")


class TagSerializer(serializers.ModelSerializer):
    class Meta:
        model = Tag
        fields = ("id", "name")


class Slowly(throttling.UserRateThrottle):
    rate = "2/day"


class TagViewSet(viewsets.ModelViewSet):
    """Not paged, and by its name."""

    queryset = Tag.objects.order_by("pk")
    serializer_class = TagSerializer
    permission_classes = (permissions.DjangoModelPermissionsOrAnonReadOnly,)
    lookup_field = "name"
    lookup_value_regex = "[^/]+"


class MailSerializer(serializers.ModelSerializer):
    """Has its fields only in a request."""

    class Meta:
        model = Author
        fields = ("id", "email")

    def get_fields(self):
        assert self.context["request"].user.is_authenticated
        return super().get_fields()


class MailViewSet(viewsets.ModelViewSet):
    queryset = Author.objects.order_by("pk")
    permission_classes = (permissions.IsAuthenticated,)

    def get_serializer_class(self):
        assert self.request.user.is_authenticated
        return MailSerializer


class AddressSerializer(serializers.ModelSerializer):
    author = serializers.SlugRelatedField("email", queryset=Author.objects.all())

    class Meta:
        model = Book
        fields = ("id", "author")


class BookFilters(filterset.FilterSet):
    price = filterset.RangeFilter()
    by = filterset.OrderingFilter(fields=[("price", "cost"), ("title", "title")])


class AddressViewSet(viewsets.ModelViewSet):
    queryset = Book.objects.order_by("pk")
    serializer_class = AddressSerializer
    permission_classes = (permissions.IsAuthenticated,)
    filter_backends = (DjangoFilterBackend, filters.OrderingFilter)
    filterset_class = BookFilters
    ordering_fields = ("price",)


class SessionSerializer(serializers.ModelSerializer):
    class Meta:
        model = Session
        fields = ("session_key",)


class SessionViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = Session.objects.all()
    serializer_class = SessionSerializer


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ("id", "name", "permissions")


class GroupViewSet(viewsets.ModelViewSet):
    queryset = Group.objects.order_by("pk")
    serializer_class = GroupSerializer
    permission_classes = (permissions.IsAdminUser,)


@api_view(["GET"])
@permission_classes([permissions.IsAuthenticated])
def echo(request, rest):
    """Tell what the request was."""
    return Response(
        {
            "rest": rest,
            "user": request.user.get_username(),
            "cookies": dict(request.COOKIES),
            "headers": sorted(request.headers),
            "files": len(request.FILES),
            "query": dict(request.query_params.lists()),
            "method": request.method,
        }
    )


class Trap(APIView):
    """Remembers that it was reached."""

    permission_classes = (permissions.IsAuthenticated,)

    def get(self, request, **arguments):
        seen.append((request.method, arguments))
        return Response({"reached": True})

    post = delete = get


class Mails(Trap):
    """Its serializer is in its code alone."""

    def get(self, request, **arguments):
        options = {"many": True, "context": {"request": request}}
        return Response({"all": MailSerializer(Author.objects.all(), **options).data})


class Redirecting(Trap):
    def get(self, request, **arguments):
        return HttpResponseRedirect("/api-site/trap/?token=abc")


class Streaming(Trap):
    def get(self, request, **arguments):
        return StreamingHttpResponse(iter(["a", "b"]), content_type="text/csv")


class File(Trap):
    def get(self, request, **arguments):
        return FileResponse(io.BytesIO(b"{}"), content_type="application/json")


class Text(Trap):
    def get(self, request, **arguments):
        response = HttpResponseRedirect("/")
        response.status_code = 200
        response.content = b"<p>page</p>"
        return response


class Async(APIView):
    """An async view of Django REST framework, as packages make them."""

    permission_classes = (permissions.IsAuthenticated,)

    async def dispatch(self, request, *args, **kwargs):
        self.args, self.kwargs, self.headers = args, kwargs, {}
        self.request = self.initialize_request(request, *args, **kwargs)
        try:
            await sync_to_async(self.initial)(self.request)
            response = await getattr(self, request.method.lower())(self.request)
        except Exception as error:  # noqa: BLE001 - as the framework does
            response = self.handle_exception(error)
        return self.finalize_response(self.request, response)

    async def get(self, request):
        """Count the tags, and make one."""
        await Tag.objects.acreate(name="sneaked")
        return Response({"count": await Tag.objects.acount()})

    async def post(self, request):
        """Add a tag."""
        tag = await Tag.objects.acreate(name=request.data["name"])
        return Response({"name": tag.name}, status=201)


class Elsewhere(Trap):
    """A GET that writes to another database."""

    def get(self, request, **arguments):
        tag = Tag.objects.using("other").create(name="sneaked")
        return Response({"made": tag.name})


class Sneaky(Trap):
    """A GET that writes."""

    def get(self, request, **arguments):
        tag = Tag.objects.create(name="sneaked")
        return Response({"made": tag.name})


class Cached(Trap):
    """As Django REST framework's own documentation caches."""

    @method_decorator(cache_page(60))
    @method_decorator(vary_on_cookie)
    def get(self, request, **arguments):
        return Response({"user": request.user.get_username()})


class Throttled(Trap):
    throttle_classes = (Slowly,)

    post = delete = None


@method_decorator(transaction.non_atomic_requests, name="dispatch")
class Apart(Trap):
    def post(self, request, **arguments):
        """Make a tag in pieces."""
        seen.append("apart")
        Tag.objects.create(name=request.data["name"])
        return Response({"ok": True})


class Mailing(Trap):
    @ai_assistant.api_operation(effect="write", external=True)
    def post(self, request, **arguments):
        """Send a mail."""
        seen.append("mailed")
        calls = ToolCall.objects.filter(name="call_api")
        statuses[:] = calls.values_list("status", flat=True)
        if "lock" in request.data:
            raise OperationalError("database is locked")
        return Response({"ok": True})


class ByToken(Trap):
    authentication_classes = (authentication.TokenAuthentication,)

    def get(self, request, **arguments):
        return Response({"user": request.user.get_username()})


class FormOnly(Trap):
    parser_classes = (parsers.FormParser,)

    def post(self, request, **arguments):
        return Response(request.data)


class Purging(Trap):
    http_method_names = ("get", "purge")

    def purge(self, request):
        return Response({"purged": True})


class OurOwn(UsageViewSet):
    """A subclass of a view of the assistant, under an address of the site."""

    schema = APIView.schema


@api_view(["GET"])
@authentication_classes([])
def public(request):
    return Response({"is_person": request.user.is_authenticated})


@api_view(["POST"])
@permission_classes([permissions.IsAuthenticated])
def sort_out(request, what="", is_all=False):  # noqa: FBT002 - of the URL
    """Sort something out; all of it at an address of its own."""
    seen.append((what, is_all))
    return Response({"all": is_all})


@ai_assistant.api_operation(effect="read")
@api_view(["POST"])
@permission_classes([permissions.IsAuthenticated])
def count_words(request):
    """Count the words of a text."""
    return Response({"count": len(str(request.data.get("text", "")).split())})


router = DefaultRouter()
router.register("books", BookViewSet, "books")
router.register("authors", AuthorViewSet, "authors")
router.register("tags", TagViewSet, "tags")
router.register("mails", MailViewSet, "mails")
router.register("addresses", AddressViewSet, "addresses")
router.register("web", SessionViewSet, "web")
router.register("groups", GroupViewSet, "groups")

own = [
    path("trap/", Trap.as_view(), name="trap"),
    path("trap/<str:name>/", Trap.as_view(), name="trap-named"),
    path("echo/<path:rest>/", echo, name="echo"),
    # Two that lead to the same address: the first one answers.
    path("doubled/", Trap.as_view(), name="first"),
    path("doubled/", public, name="second"),
    # One view: what the first one takes may be the address of the second.
    path("sort-out/all/", sort_out, {"is_all": True}, name="sort-all"),
    path("sort-out/<str:what>/", sort_out, name="sort-out"),
    path("all-mails/", Mails.as_view(), name="all-mails"),
    path("redirecting/", Redirecting.as_view(), name="redirecting"),
    path("streaming/", Streaming.as_view(), name="streaming"),
    path("file/", File.as_view(), name="file"),
    path("text/", Text.as_view(), name="text"),
    path("sneaky/", Sneaky.as_view(), name="sneaky"),
    path("away/", Elsewhere.as_view(), name="away"),
    path("async/", Async.as_view(), name="async"),
    path("cached/", Cached.as_view(), name="cached"),
    path("throttled/", Throttled.as_view(), name="throttled"),
    path("apart/", Apart.as_view(), name="apart"),
    path("mailing/", Mailing.as_view(), name="mailing"),
    path("elsewhere/", ByToken.as_view(), name="elsewhere"),
    path("form-only/", FormOnly.as_view(), name="form-only"),
    path("purging/", Purging.as_view(), name="purging"),
    path("count-words/", count_words, name="count-words"),
    path("public/", public, name="public"),
    path("ours/", OurOwn.as_view({"get": "list"}), name="ours"),
    path("key/", obtain_auth_token, name="key"),
    path("auth/login/", Trap.as_view(), name="door"),
    path("session/", Trap.as_view(), name="log-out"),
    re_path(r"^unnamed/(\d+)/$", Trap.as_view(), name="unnamed"),
    *router.urls,
]
urlpatterns = [path("api-site/", include(own)), *demo.urlpatterns]
