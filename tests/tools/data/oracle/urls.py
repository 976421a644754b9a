from django.urls import path

from project.urls import urlpatterns as of_the_project
from tests.tools.data.oracle.variants import site

urlpatterns = [path("oracle/", site.urls), *of_the_project]
