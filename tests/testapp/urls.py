"""The demo's addresses, and pages of its own that are not of an admin."""

from django.urls import path

from project.urls import urlpatterns as of_demo
from tests.testapp.forms import page

urlpatterns = [path("forms/", page, name="forms"), *of_demo]
