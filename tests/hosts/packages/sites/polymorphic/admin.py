from django.contrib import admin
from polymorphic.admin import (
    PolymorphicChildModelAdmin,
    PolymorphicInlineSupportMixin,
    PolymorphicParentModelAdmin,
    StackedPolymorphicInline,
)

from tests.hosts.packages.sites.polymorphic.models import (
    Art,
    Cash,
    Document,
    Letter,
    Order,
    Payment,
    Project,
    Science,
    Step,
    Transfer,
)


class StepInline(admin.TabularInline):
    model = Step
    extra = 0


class ChildAdmin(PolymorphicChildModelAdmin):
    base_model = Project
    inlines = (StepInline,)


admin.site.register([Art, Science], ChildAdmin)


@admin.register(Project)
class ProjectAdmin(PolymorphicParentModelAdmin):
    base_model = Project
    child_models = (Art, Science)


@admin.register(Letter)
class LetterAdmin(PolymorphicChildModelAdmin):
    base_model = Document


@admin.register(Document)
class DocumentAdmin(PolymorphicParentModelAdmin):
    base_model = Document
    child_models = (Letter,)


class PaymentInline(StackedPolymorphicInline):
    class CashInline(StackedPolymorphicInline.Child):
        model = Cash

    class TransferInline(StackedPolymorphicInline.Child):
        model = Transfer

    model = Payment
    child_inlines = (CashInline, TransferInline)


@admin.register(Order)
class OrderAdmin(PolymorphicInlineSupportMixin, admin.ModelAdmin):
    inlines = (PaymentInline,)
