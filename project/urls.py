from django.contrib import admin
from django.urls import include, path

from project.demo.views import start

urlpatterns = [
    path("", start, name="start"),
    path("admin/", admin.site.urls),
    path("api/", include("project.api.urls")),
    path("assistant/", include("ai_assistant.urls")),
]
