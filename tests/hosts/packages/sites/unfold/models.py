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


class Survey(models.Model):
    title = models.CharField(max_length=50)

    def __str__(self) -> str:
        return self.title


class Question(models.Model):
    survey = models.ForeignKey(Survey, models.CASCADE, related_name="questions")
    text = models.CharField(max_length=50)

    def __str__(self) -> str:
        return self.text


class Option(models.Model):
    question = models.ForeignKey(Question, models.CASCADE, related_name="options")
    label = models.CharField(max_length=50)

    def __str__(self) -> str:
        return self.label
