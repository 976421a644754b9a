from django.urls import path
from rest_framework.routers import DefaultRouter

from project.api import views

router = DefaultRouter()
router.register("questionnaires", views.QuestionnaireViewSet, "questionnaires")
router.register("sections", views.SectionViewSet, "sections")
router.register("question-types", views.QuestionTypeViewSet, "question-types")
router.register("questions", views.QuestionViewSet, "questions")
router.register("schedules", views.ScheduleViewSet, "schedules")
router.register("pages", views.PageViewSet, "pages")
router.register("log-lines", views.LogLineViewSet, "log-lines")

urlpatterns = [
    path("counts/", views.CountsView.as_view(), name="counts"),
    *router.urls,
]
