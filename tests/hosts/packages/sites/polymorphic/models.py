from django.db import models
from polymorphic.models import PolymorphicModel


class Project(PolymorphicModel):
    topic = models.CharField(max_length=30)

    def __str__(self) -> str:
        return self.topic


class Art(Project):
    artist = models.CharField(max_length=30)


class Science(Project):
    lab = models.CharField(max_length=30)


class Step(models.Model):
    project = models.ForeignKey(Project, models.CASCADE, related_name="steps")
    title = models.CharField(max_length=30)

    def __str__(self) -> str:
        return self.title
