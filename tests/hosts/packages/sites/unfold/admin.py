from django.contrib import admin
from unfold.admin import ModelAdmin, StackedInline, TabularInline

from tests.hosts.packages.sites.unfold.models import (
    Choice,
    Option,
    Poll,
    Question,
    Survey,
)


class ChoiceInline(TabularInline):
    model = Choice
    extra = 0


@admin.register(Poll)
class PollAdmin(ModelAdmin):
    inlines = (ChoiceInline,)


class OptionInline(TabularInline):
    model = Option
    extra = 0


class QuestionInline(StackedInline):
    model = Question
    extra = 0
    inlines = (OptionInline,)


@admin.register(Survey)
class SurveyAdmin(ModelAdmin):
    inlines = (QuestionInline,)
