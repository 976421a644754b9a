from django.contrib import admin
from django.db.models import Count, QuerySet
from django.forms import BaseModelFormSet, ModelForm
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from project.questionnaires.models import (
    ConfigOverride,
    Question,
    QuestionActionGroup,
    Questionnaire,
    QuestionTranslation,
    QuestionType,
    Schedule,
    ScheduleSection,
    ScoringVariable,
    Section,
)


class SectionInline(admin.TabularInline):
    """The sections, on the page of their questionnaire."""

    model = Section
    extra = 0
    fields = ("position", "title")
    show_change_link = True


class ScheduleInline(admin.StackedInline):
    """The schedules, on the page of their questionnaire."""

    model = Schedule
    extra = 0
    classes = ("collapse",)


class VariableInline(admin.TabularInline):
    """The variables, on the page of their questionnaire."""

    model = ScoringVariable
    extra = 0
    fields = ("name", "label", "type", "default")
    classes = ("collapse",)


class ActionGroupInline(admin.StackedInline):
    """What happens around a question, on its page."""

    model = QuestionActionGroup
    extra = 0
    classes = ("collapse",)


class TranslationInline(admin.TabularInline):
    """A question in other languages, on its page."""

    model = QuestionTranslation
    extra = 0


class OverrideInline(admin.TabularInline):
    """The configuration in other languages, on the page of the question."""

    model = ConfigOverride
    extra = 0
    classes = ("collapse",)


class ScheduleSectionInline(admin.TabularInline):
    """The sections that are asked, on the page of the schedule."""

    model = ScheduleSection
    extra = 0
    autocomplete_fields = ("section",)


class QuestionInline(admin.TabularInline):
    """The questions, on the page of their section."""

    model = Question
    extra = 0
    fields = ("position", "text", "type", "name")
    autocomplete_fields = ("type",)
    show_change_link = True


@admin.register(Questionnaire)
class QuestionnaireAdmin(admin.ModelAdmin):
    """Questionnaires; each commit of the page counts one revision more."""

    list_display = (
        "title",
        "status",
        "section_count",
        "question_count",
        "default_language",
        "revision",
        "owner",
    )
    list_filter = ("status", "default_language", "owner")
    list_select_related = ("owner",)
    list_per_page = 50
    search_fields = ("title", "description")
    readonly_fields = ("uuid", "revision")
    inlines = (SectionInline, VariableInline, ScheduleInline)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Questionnaire]:
        counted = super().get_queryset(request)
        return counted.annotate(
            sections_total=Count("sections", distinct=True),
            questions_total=Count("sections__questions", distinct=True),
        )

    @admin.display(description=_("sections"), ordering="sections_total")
    def section_count(self, questionnaire: Questionnaire) -> int:
        return questionnaire.sections_total

    @admin.display(description=_("questions"), ordering="questions_total")
    def question_count(self, questionnaire: Questionnaire) -> int:
        return questionnaire.questions_total

    def save_related(
        self,
        request: HttpRequest,
        form: ModelForm,
        formsets: list[BaseModelFormSet],
        change: bool,  # noqa: FBT001 - the signature is Django's
    ) -> None:
        super().save_related(request, form, formsets, change)
        if change and (form.has_changed() or any(s.has_changed() for s in formsets)):
            form.instance.bump_revision()


@admin.register(Section)
class SectionAdmin(admin.ModelAdmin):
    """Sections, with their questions."""

    list_display = ("title", "questionnaire", "position")
    list_filter = ("questionnaire__status",)
    list_select_related = ("questionnaire",)
    search_fields = ("title", "questionnaire__title")
    autocomplete_fields = ("questionnaire",)
    inlines = (QuestionInline,)


@admin.register(QuestionType)
class QuestionTypeAdmin(admin.ModelAdmin):
    """The ways to answer."""

    list_display = ("label", "slug")
    search_fields = ("label", "slug")
    prepopulated_fields = {"slug": ("label",)}  # noqa: RUF012 - as Django writes it


@admin.register(Question)
class QuestionAdmin(admin.ModelAdmin):
    """All questions of all questionnaires."""

    list_display = ("text", "type", "section", "position", "name")
    list_filter = ("type", "section__questionnaire__status")
    list_select_related = ("type", "section")
    search_fields = ("text", "name", "section__title")
    autocomplete_fields = ("section", "type")
    inlines = (TranslationInline, OverrideInline, ActionGroupInline)


@admin.register(Schedule)
class ScheduleAdmin(admin.ModelAdmin):
    """When which questionnaire is asked."""

    list_display = ("name", "questionnaire", "anchor", "offset_days", "active")
    list_filter = ("active", "anchor", "time_zone")
    list_select_related = ("questionnaire",)
    search_fields = ("name", "questionnaire__title")
    autocomplete_fields = ("questionnaire",)
    inlines = (ScheduleSectionInline,)
    actions = ("pause", "resume")

    @admin.action(description=_("Pause selected schedules"), permissions=["change"])
    def pause(self, request: HttpRequest, schedules: QuerySet[Schedule]) -> None:
        count = schedules.filter(active=True).update(active=False)
        told = ngettext("Paused %(n)s schedule.", "Paused %(n)s schedules.", count)
        self.message_user(request, told % {"n": count})

    @admin.action(description=_("Resume selected schedules"), permissions=["change"])
    def resume(self, request: HttpRequest, schedules: QuerySet[Schedule]) -> None:
        count = schedules.filter(active=False).update(active=True)
        told = ngettext("Resumed %(n)s schedule.", "Resumed %(n)s schedules.", count)
        self.message_user(request, told % {"n": count})
