from django.db import models
from taggit.managers import TaggableManager


class Article(models.Model):
    title = models.CharField(max_length=50)
    tags = TaggableManager(blank=True)

    def __str__(self) -> str:
        return self.title


class Chapter(models.Model):
    article = models.ForeignKey(Article, models.CASCADE, related_name="chapters")
    name = models.CharField(max_length=50)
    tags = TaggableManager(blank=True, related_name="+")

    def __str__(self) -> str:
        return self.name
