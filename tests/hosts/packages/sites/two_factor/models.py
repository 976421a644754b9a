from django.db import models


class Poll(models.Model):
    title = models.CharField(max_length=50)
    text = models.TextField(blank=True)

    def __str__(self) -> str:
        return self.title


class Choice(models.Model):
    poll = models.ForeignKey(Poll, models.CASCADE, related_name="choices")
    label = models.CharField(max_length=50)

    def __str__(self) -> str:
        return self.label
