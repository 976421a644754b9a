from django.db import models
from simple_history.models import HistoricalRecords


class Poll(models.Model):
    title = models.CharField(max_length=50)
    text = models.TextField(blank=True)
    history = HistoricalRecords()

    def __str__(self) -> str:
        return self.title


class Choice(models.Model):
    poll = models.ForeignKey(Poll, models.CASCADE, related_name="choices")
    label = models.CharField(max_length=50)
    history = HistoricalRecords()

    def __str__(self) -> str:
        return self.label
