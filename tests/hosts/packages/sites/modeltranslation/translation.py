from modeltranslation.translator import TranslationOptions, register

from tests.hosts.packages.sites.modeltranslation.models import Leaflet, Poll


@register(Leaflet)
class LeafletTranslation(TranslationOptions):
    fields = ("title",)


@register(Poll)
class PollTranslation(TranslationOptions):
    fields = ("title",)
