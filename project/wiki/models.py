from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class Page(models.Model):
    """One page of the wiki."""

    slug = models.SlugField(_("slug"), unique=True)
    title = models.CharField(_("title"), max_length=200)
    text = models.TextField(_("text"))
    see_also = models.ManyToManyField(
        "self", blank=True, symmetrical=False, verbose_name=_("see also")
    )

    class Meta:
        verbose_name = _("page")
        verbose_name_plural = _("pages")
        ordering = ("title",)

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("admin:wiki_page_read", args=[self.slug])
