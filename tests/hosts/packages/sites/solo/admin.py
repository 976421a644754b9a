from django.contrib import admin
from solo.admin import SingletonModelAdmin

from tests.hosts.packages.sites.solo.models import Preferences

admin.site.register(Preferences, SingletonModelAdmin)
