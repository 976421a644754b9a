"""A site without an admin."""

from django.urls import include, path

urlpatterns = [path("assistant/", include("ai_assistant.urls"))]
