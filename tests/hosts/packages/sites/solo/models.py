from django.db import models
from solo.models import SingletonModel


class Preferences(SingletonModel):
    name = models.CharField(max_length=50, default="Site")
    is_open = models.BooleanField(default=True)

    def __str__(self) -> str:
        return "Preferences"
