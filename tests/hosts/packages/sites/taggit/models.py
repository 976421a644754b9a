from django.db import models
from taggit.managers import TaggableManager


class Article(models.Model):
    title = models.CharField(max_length=50)
    tags = TaggableManager(blank=True)

    def __str__(self) -> str:
        return self.title
