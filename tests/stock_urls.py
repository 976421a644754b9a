"""The addresses of a site that has the admin and the assistant, and nothing else."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("assistant/", include("ai_assistant.urls")),
]
