from django.db import models
from treebeard.mp_tree import MP_Node


class Topic(MP_Node):
    name = models.CharField(max_length=50)

    def __str__(self) -> str:
        return self.name


class Link(models.Model):
    topic = models.ForeignKey(Topic, models.CASCADE, related_name="links")
    title = models.CharField(max_length=50)

    def __str__(self) -> str:
        return self.title
