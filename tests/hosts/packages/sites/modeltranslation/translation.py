from modeltranslation.translator import TranslationOptions, register

from tests.hosts.packages.sites.modeltranslation.models import Poll


@register(Poll)
class PollTranslation(TranslationOptions):
    fields = ("title",)
