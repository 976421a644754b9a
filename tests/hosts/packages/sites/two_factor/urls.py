from django.urls import include, path
from two_factor.urls import urlpatterns as two_factor

urlpatterns = [path("", include(two_factor))]
