from crum import get_current_user
from django.db import models
from django.db.models.signals import post_delete
from django.dispatch import receiver


def person() -> str:
    return str(get_current_user())


class Poll(models.Model):
    title = models.CharField(max_length=50)
    text = models.TextField(blank=True)
    saved_by = models.CharField(max_length=50, editable=False)

    def __str__(self) -> str:
        return self.title

    def save(self, *args, **kwargs):
        self.saved_by = person()
        super().save(*args, **kwargs)


class Choice(models.Model):
    poll = models.ForeignKey(Poll, models.CASCADE, related_name="choices")
    label = models.CharField(max_length=50)
    saved_by = models.CharField(max_length=50, editable=False)

    def __str__(self) -> str:
        return self.label

    def save(self, *args, **kwargs):
        self.saved_by = person()
        super().save(*args, **kwargs)


class Removal(models.Model):
    """Who has deleted what, as it is written along."""

    what = models.CharField(max_length=100)
    removed_by = models.CharField(max_length=50)

    def __str__(self) -> str:
        return self.what


@receiver(post_delete, sender=Poll)
@receiver(post_delete, sender=Choice)
def note_removal(instance, **_kwargs):
    what = f"{instance._meta.model_name} {instance.pk}"
    Removal.objects.create(what=what, removed_by=person())
