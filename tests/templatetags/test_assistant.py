"""What the tag says of a template that uses it wrongly."""

import re
from datetime import date

import pytest
from django.contrib.auth.models import Group
from django.template import Context, Template, TemplateSyntaxError

pytestmark = pytest.mark.row("C02")


def draw(tag, **values):
    return Template(f"{{% load assistant %}}{tag}").render(Context(values))


def looped():
    value = []
    value.append(value)
    return value


class TestValue:
    @pytest.mark.parametrize(
        ("value", "shown", "why"),
        [
            (Group(name="A"), "<Group: A>", "Object of type Group is not"),
            ({1}, "{1}", "Object of type set is not"),
            (float("nan"), "nan", "Out of range float values"),
            (looped(), "[[...]]", "Circular reference detected"),
        ],
    )
    def test_value_without_json_form(self, value, shown, why):
        with pytest.raises(TypeError) as failed:
            draw('{% assistant_context "cart" value.0 %}', value=[value])

        said = str(failed.value)
        start = f'{{% assistant_context "cart" %}} got the value {shown}, which is not'
        assert said.startswith(f"{start} JSON serializable: {why}")
        assert said.endswith("list(orders.values('id', 'total')) from the view.")

    def test_long_one_is_cut(self):
        with pytest.raises(TypeError) as failed:
            draw('{% assistant_context "a" value %}', value=["x" * 1000, {1, 2}])

        assert len(str(failed.value)) < 500

    def test_usual_ones(self):
        html = draw('{% assistant_context "a" value %}', value=[date(2026, 1, 2), 1.5])

        assert "2026-01-02" in html


class TestArguments:
    @pytest.mark.parametrize("tag", ["missing 1", '"" 1', "None 1"])
    def test_empty_id(self, tag):
        with pytest.raises(ValueError, match="assistant_context %} got the id"):
            draw(f"{{% assistant_context {tag} %}}")

    def test_auto_in_quotes(self):
        expected = (
            "{% assistant_context \"cart\" %} got auto='False'. Write auto=True or "
            "auto=False, without quotes."
        )
        with pytest.raises(TypeError, match=re.escape(expected)):
            draw('{% assistant_context "cart" 1 auto="False" %}')

    def test_unknown_and_missing_ones_are_named_by_django(self):
        for tag in ('"a"', '"a" 1 titel="A"'):
            with pytest.raises(TemplateSyntaxError, match="'assistant_context' "):
                draw(f"{{% assistant_context {tag} %}}")
