from typing import Any, ClassVar

from django.db.models import Count, QuerySet
from rest_framework import filters, mixins, viewsets
from rest_framework.decorators import action
from rest_framework.pagination import PageNumberPagination
from rest_framework.permissions import DjangoModelPermissions, IsAdminUser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

import ai_assistant
from project.api.serializers import (
    LogLineSerializer,
    PageSerializer,
    QuestionnaireSerializer,
    QuestionSerializer,
    QuestionTypeSerializer,
    ScheduleSerializer,
    SectionSerializer,
)
from project.discover.models import LogLine
from project.questionnaires.models import (
    Question,
    Questionnaire,
    QuestionType,
    Schedule,
    Section,
)
from project.wiki.models import Page


class ModelPermissions(DjangoModelPermissions):
    """Who may read needs the permission to view, as in the admin."""

    perms_map: ClassVar[dict[str, list[str]]] = {
        **DjangoModelPermissions.perms_map,
        "GET": ["%(app_label)s.view_%(model_name)s"],
        "HEAD": ["%(app_label)s.view_%(model_name)s"],
    }


class Pages(PageNumberPagination):
    page_size = 20
    page_size_query_param = "page_size"
    max_page_size = 100


class ModelViewSet(viewsets.ModelViewSet[Any]):
    permission_classes = (ModelPermissions,)
    pagination_class = Pages
    filter_backends = (filters.SearchFilter, filters.OrderingFilter)


class QuestionnaireViewSet(ModelViewSet):
    """Questionnaires."""

    queryset = Questionnaire.objects.order_by("pk")
    serializer_class = QuestionnaireSerializer
    search_fields = ("title", "description")
    ordering_fields = ("title", "revision")

    @action(detail=True, methods=["post"], serializer_class=None)
    def publish(self, request: Request, pk: str | None = None) -> Response:
        """Publish a questionnaire, so that people are asked."""
        return self._moved_to(Questionnaire.Status.PUBLISHED)

    @action(detail=True, methods=["post"], serializer_class=None)
    def archive(self, request: Request, pk: str | None = None) -> Response:
        """Archive a questionnaire; its schedules end."""
        answer = self._moved_to(Questionnaire.Status.ARCHIVED)
        Schedule.objects.filter(questionnaire_id=answer.data["id"]).update(active=False)
        return answer

    def _moved_to(self, status: Questionnaire.Status) -> Response:
        questionnaire = self.get_object()
        questionnaire.status = status
        questionnaire.save(update_fields=["status"])
        return Response({"id": questionnaire.pk, "status": status})

    @action(detail=True, serializer_class=None)
    def outline(self, request: Request, pk: str | None = None) -> Response:
        """Tell the sections of a questionnaire, and how many questions each has."""
        sections = self.get_object().sections.annotate(count=Count("questions"))
        return Response(
            [{"title": one.title, "questions": one.count} for one in sections]
        )


class SectionViewSet(ModelViewSet):
    """The sections of questionnaires."""

    queryset = Section.objects.order_by("pk")
    serializer_class = SectionSerializer
    search_fields = ("title",)


class QuestionTypeViewSet(viewsets.ReadOnlyModelViewSet[QuestionType]):
    """The types of questions."""

    queryset = QuestionType.objects.order_by("pk")
    serializer_class = QuestionTypeSerializer
    permission_classes = (ModelPermissions,)
    lookup_field = "slug"


class QuestionViewSet(ModelViewSet):
    """The questions of sections."""

    queryset = Question.objects.order_by("pk")
    serializer_class = QuestionSerializer
    search_fields = ("text", "name")

    @ai_assistant.api_operation(effect="read")
    @action(detail=False, methods=["post"], serializer_class=None)
    def match(self, request: Request) -> Response:
        """Find questions by any of several texts: {"texts": ["age", "name"]}."""
        texts = [str(one) for one in request.data.get("texts", [])]
        found: QuerySet[Question] = self.get_queryset()
        ids = {text: found.filter(text__icontains=text).count() for text in texts}
        return Response({"found": ids})


class ScheduleViewSet(ModelViewSet):
    """When people are asked."""

    queryset = Schedule.objects.order_by("pk")
    serializer_class = ScheduleSerializer
    search_fields = ("name",)

    @action(detail=True, methods=["post", "delete"], serializer_class=None)
    def pause(self, request: Request, pk: str | None = None) -> Response:
        """Pause a schedule by POST, let it go on by DELETE."""
        schedule = self.get_object()
        schedule.active = request.method == "DELETE"
        schedule.save(update_fields=["active"])
        return Response({"id": schedule.pk, "active": schedule.active})


class PageViewSet(ModelViewSet):
    """The pages of the wiki."""

    queryset = Page.objects.order_by("pk")
    serializer_class = PageSerializer
    lookup_field = "slug"
    search_fields = ("title", "text")


class LogLineViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[LogLine]):
    """What the services wrote down, the newest first."""

    queryset = LogLine.objects.all()
    serializer_class = LogLineSerializer
    permission_classes = (ModelPermissions,)
    pagination_class = Pages
    filter_backends = (filters.SearchFilter,)
    search_fields = ("message", "service")


class CountsView(APIView):
    """How many questionnaires there are, by status."""

    permission_classes = (IsAdminUser,)

    def get(self, request: Request) -> Response:
        counted = Questionnaire.objects.order_by().values_list("status")
        return Response(dict(counted.annotate(Count("pk"))))
