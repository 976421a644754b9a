"""Fields as packages have them: tags that are typed, and amounts of money."""

from dataclasses import dataclass
from decimal import Decimal

from django import forms
from django.db import models


class TagWidget(forms.TextInput):
    """Takes objects with names, as that of django-taggit does."""

    def format_value(self, value):
        if value is not None and not isinstance(value, str):
            names = (f'"{one.name}"' if " " in one.name else one.name for one in value)
            value = ", ".join(sorted(names))
        return super().format_value(value)


class TagFormField(forms.CharField):
    """A text that is cleaned to the names in it."""

    widget = TagWidget

    def clean(self, value):
        names = (name.strip(' "') for name in super().clean(value).split(","))
        return sorted({name for name in names if name})

    def has_changed(self, initial, data):
        return sorted(one.name for one in initial or ()) != self.clean(data)


class TagsField(models.ManyToManyField):
    """Links to tags, which come to be when they are named."""

    def formfield(self, **_kwargs):
        return TagFormField(label=self.verbose_name, required=not self.blank)

    def save_form_data(self, instance, data):
        tags = self.related_model.objects
        links = [tags.get_or_create(name=name)[0] for name in data]
        getattr(instance, self.name).set(links)


@dataclass(frozen=True)
class Money:
    amount: Decimal
    currency: str

    def __str__(self):
        return f"{self.amount} {self.currency}"


class MoneyWidget(forms.MultiWidget):
    def __init__(self, **kwargs):
        choices = [("EUR", "Euro"), ("USD", "Dollar")]
        parts = [forms.NumberInput, forms.Select(choices=choices)]
        super().__init__(parts, **kwargs)

    def decompress(self, value):
        if isinstance(value, str):
            if " " not in value:
                raise ValueError(f"Invalid money value: {value}")
            return value.split(" ")
        return [None, "EUR"] if value is None else [value.amount, value.currency]


class MoneyFormField(forms.MultiValueField):
    widget = MoneyWidget

    def __init__(self, **kwargs):
        codes = forms.ChoiceField(choices=[("EUR", "Euro"), ("USD", "Dollar")])
        amount = forms.DecimalField(decimal_places=2, localize=True)
        super().__init__((amount, codes), **kwargs)

    def compress(self, data_list):
        return Money(*data_list) if data_list else None


class MoneyAttribute:
    """Makes one value of the two columns, as that of django-money does."""

    def __init__(self, field):
        self.field = field

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        amount = instance.__dict__[self.field.attname]
        return None if amount is None else Money(amount, instance.currency)

    def __set__(self, instance, value):
        if isinstance(value, Money):
            instance.currency, value = value.currency, value.amount
        elif isinstance(value, str | int):
            value = Decimal(value)
        instance.__dict__[self.field.attname] = value


class MoneyField(models.DecimalField):
    """An amount; its currency is in the column `currency`."""

    def contribute_to_class(self, cls, name, **kwargs):
        super().contribute_to_class(cls, name, **kwargs)
        setattr(cls, name, MoneyAttribute(self))

    def to_python(self, value):
        value = value.amount if isinstance(value, Money) else value
        return super().to_python(value)

    def get_db_prep_save(self, value, connection):
        return super().get_db_prep_save(self.to_python(value), connection)

    def formfield(self, **kwargs):
        return models.Field.formfield(
            self, **{**kwargs, "form_class": MoneyFormField, "widget": MoneyWidget}
        )
