"""
What a browser posts for a widget: the value that it shows, under the widget's names.

Widgets of Django's own are known by rule; any other is rendered alone, and its inputs
are read.
"""

from collections.abc import Callable, Collection, Iterator
from functools import cache
from html.parser import HTMLParser
from typing import Any

from django import forms
from django.contrib.admin.widgets import AutocompleteMixin
from django.forms.models import ModelChoiceIterator
from django.http import QueryDict
from django.utils.html import conditional_escape

from ai_assistant.safety.policy.form_limits import unwrapped_widget

DJANGO = ("django.forms.", "django.contrib.admin.")
TEMPLATES = ("django/forms/widgets/", "admin/widgets/")
Pairs = list[tuple[str, str]]
NOT_POSTED = {"submit", "button", "image", "reset", "file"}
TICKED = {"checkbox", "radio"}

# Methods that decide which inputs there are, and what they hold.
RENDERING = ("render", "get_context", "optgroups", "create_option", "options")


def shown_pairs(
    widget: Any, name: str, value: Any, *, is_limited: bool = True
) -> Pairs:
    """
    Return what is posted if nobody touches the widget, which shows `value`.

    An option that is not offered cannot be shown; it counts if not `is_limited`.
    """
    return _pairs(unwrapped_widget(widget), name, value, is_shown=is_limited)


def put_posted_value(
    data: QueryDict, name: str, field: forms.Field, value: Any, *, shown: Any = None
) -> None:
    """
    Put `value`, as `field` prepares it for its widget, into `data`.

    `shown` is what the page has shown in its place.
    """
    localize(field)
    put_value(data, field.widget, name, value, shown)


def localize(field: forms.Field) -> None:
    """Let the widget of a field show values as the field reads them."""
    widget = unwrapped_widget(field.widget)
    widget.is_localized = widget.is_localized or field.localize


def put_value(data: QueryDict, widget: Any, name: str, value: Any, shown: Any) -> None:
    """
    Put what is posted once a person has given the widget `value`.

    An option that is not offered is posted all the same: the form refuses it. `shown`
    is what the widget showed before.
    """
    widget = unwrapped_widget(widget)
    if isinstance(widget, forms.MultiWidget) and _is_ruled(widget):
        _put_parts(data, name, widget, value)
        return
    names = {name}
    if not _is_ruled(widget):
        names |= {part for part, _text in _rendered(widget, name, shown)}
    pairs = _pairs(widget, name, value, is_shown=False)
    replace_pairs(data, pairs, names)


def replace_pairs(data: QueryDict, pairs: Pairs, names: Collection[str]) -> None:
    """Put `pairs` into `data` in place of all that it has under `names`."""
    for name in {*names, *(name for name, _text in pairs)}:
        data.pop(name, None)
    for name, text in pairs:
        data.appendlist(name, text)


def _put_parts(data: QueryDict, name: str, widget: Any, value: Any) -> None:
    """Put the parts of a value; what is not given stays as it is."""
    try:
        parts = value if isinstance(value, list | tuple) else widget.decompress(value)
    except (AttributeError, TypeError, ValueError):
        parts = [value]  # not a value of the field, as "9.50" is not an amount of money
    else:
        parts = _filled_up(widget, parts)
    for suffix, part, inner in _with_parts(widget, parts):
        put_value(data, inner, f"{name}{suffix}", part, None)


def _filled_up(widget: Any, parts: Any) -> list[Any]:
    return [*(parts or ()), *[None] * len(widget.widgets)]


def _with_parts(widget: Any, parts: list[Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield each inner widget with the end of its name and its part of a value."""
    named = zip(widget.widgets_names, parts, widget.widgets, strict=False)
    for suffix, part, inner in named:
        inner.is_localized = inner.is_localized or widget.is_localized
        yield suffix, part, inner


# --- by rule ---


def _is_ruled(widget: Any) -> bool:
    template = getattr(widget, "template_name", None) or ""
    return _renders_as_django(widget.__class__) and template.startswith(TEMPLATES)


@cache
def _renders_as_django(widget_class: Any) -> bool:
    methods = (getattr(widget_class, name, None) for name in RENDERING)
    return all(item.__module__.startswith(DJANGO) for item in methods if item)


def _pairs(widget: Any, name: str, value: Any, *, is_shown: bool) -> Pairs:
    if "disabled" in widget.attrs or isinstance(widget, forms.FileInput):
        return []  # an empty choice of a file keeps the old one
    if not _is_ruled(widget):
        return _rendered(widget, name, value)
    if isinstance(widget, forms.widgets.ChoiceWidget):
        return _each(name, _chosen(widget, value, is_shown=is_shown))
    for kind, pairs_of in RULES:
        if isinstance(widget, kind):
            return pairs_of(widget, name, value)
    text = widget.format_value(value)
    return [(name, "" if text is None else str(text))]


def _each(name: str, values: Any) -> Pairs:
    return [(name, str(value)) for value in values]


def _checkbox_pairs(widget: Any, name: str, value: Any) -> Pairs:
    is_ticked = widget.check_test(value)
    return [(name, widget.format_value(value) or "on")] if is_ticked else []


def _part_pairs(widget: Any, name: str, value: Any) -> Pairs:
    parts = value if isinstance(value, list | tuple) else widget.decompress(value)
    pairs: Pairs = []
    for suffix, part, inner in _with_parts(widget, _filled_up(widget, parts)):
        pairs += shown_pairs(inner, f"{name}{suffix}", part)
    return pairs


def _date_pairs(widget: Any, name: str, value: Any) -> Pairs:
    selects = widget.get_context(name, value, {})["widget"]["subwidgets"]
    pairs = []
    for select in selects:
        options = [item for _group, items, _n in select["optgroups"] for item in items]
        chosen = [item for item in options if item["selected"]] or options[:1]
        pairs.append((select["name"], str(chosen[0]["value"])))
    return pairs


RULES: tuple[tuple[type, Callable[[Any, str, Any], Pairs]], ...] = (
    (forms.CheckboxInput, _checkbox_pairs),
    (forms.MultiWidget, _part_pairs),
    (forms.SelectDateWidget, _date_pairs),
    (forms.MultipleHiddenInput, lambda _widget, name, value: _each(name, value or ())),
)


def _chosen(widget: Any, value: Any, *, is_shown: bool) -> list[str]:
    """Return the options that are posted; of a value that is shown, those offered."""
    formatted = widget.format_value(value)
    is_list = isinstance(formatted, list | tuple)
    texts = [str(item) for item in (formatted if is_list else [formatted])]
    chosen = _offered(widget.choices, texts) if is_shown else texts
    if is_shown and _has_chosen_only(widget):
        chosen = [text for text in chosen if text]
    if widget.allow_multiple_selected:
        return chosen
    has_default = is_shown and not isinstance(widget, forms.RadioSelect)
    return chosen[:1] or (_first_option(widget) if has_default else [])


def _offered(choices: Any, texts: list[str]) -> list[str]:
    """Return those of `texts` that are among the choices."""
    if isinstance(choices, ModelChoiceIterator):
        return _offered_objects(choices, texts)
    keys = {*_keys(choices)}
    return [text for text in texts if text in keys]


def _offered_objects(choices: Any, texts: list[str]) -> list[str]:
    filled = [text for text in texts if text]
    blank = [""] if "" in texts and choices.field.empty_label is not None else []
    rows, key = choices.queryset, choices.field.to_field_name or "pk"
    is_cut = rows.query.is_sliced or rows.query.combinator
    if not filled or not (rows.query.where or is_cut):
        return [*blank, *filled]  # rows that are linked are there
    if is_cut:
        keys = {*_keys(choices)}
    else:
        found = rows.order_by().filter(**{f"{key}__in": filled})
        keys = {str(one) for one in found.values_list(key, flat=True)}
    return [*blank, *(text for text in filled if text in keys)]


def _first_option(widget: Any) -> list[str]:
    """Return the option with which a list begins, which is what a browser takes."""
    if isinstance(widget, AutocompleteMixin):
        return [] if _has_chosen_only(widget) else [""]
    return [*_keys(widget.choices)][:1] if widget.choices else []


def _has_chosen_only(widget: Any) -> bool:
    """Return whether a list has no blank option, nor any that is not chosen."""
    return isinstance(widget, AutocompleteMixin) and getattr(
        widget, "is_required", False
    )


def _keys(choices: Any) -> Iterator[str]:
    """Yield the values of choices, those in groups too."""
    for key, text in choices:
        if isinstance(text, list | tuple):
            yield from _keys(text)
        else:
            yield "" if key is None else str(key)


# --- rendered ---


def _rendered(widget: Any, name: str, value: Any) -> Pairs:
    """Return the inputs of a widget of somebody else's, as it renders them."""
    html = widget.render(name, value, {"id": f"id_{name}"})
    return posted_inputs(conditional_escape(html))


# --- the inputs of a piece of HTML ---


def posted_inputs(html: str) -> Pairs:
    """Return what a browser posts for the inputs in a piece of HTML."""
    reader = _Inputs()
    reader.feed(html)
    reader.close()
    return reader.pairs


class _Inputs(HTMLParser):
    """Reads the inputs of a piece of HTML."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pairs: Pairs = []
        self._name = ""  # of the text area or the list that is open
        self._text: list[str] | None = None  # of the text area or the option
        self._option: dict[str, Any] | None = None
        self._options: list[dict[str, Any]] = []
        self._is_multiple = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = dict(attrs)
        name = "" if "disabled" in own else own.get("name") or ""
        if tag == "input" and name:
            self._input(own, name)
        elif tag == "textarea":
            self._name, self._text = name, []
        elif tag == "select":
            self._name, self._options = name, []
            self._is_multiple = "multiple" in own
        elif tag == "option":
            self._end_option()
            self._option, self._text = own, []

    def _input(self, own: dict[str, str | None], name: str) -> None:
        kind = (own.get("type") or "text").lower()
        if kind in NOT_POSTED or (kind in TICKED and "checked" not in own):
            return
        default = "on" if kind in TICKED else ""
        value = own.get("value")
        self.pairs.append((name, default if value is None else value))

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            if self._name:
                text = "".join(self._text or ())
                self.pairs.append((self._name, text.removeprefix("\n")))
            self._text = None
        elif tag == "option":
            self._end_option()
        elif tag == "select":
            self._end_option()
            self._end_select()

    def _end_option(self) -> None:
        if self._option is not None:
            text = "".join(self._text or ()).strip()
            value = self._option.get("value")
            value = text if value is None else value
            self._options.append({**self._option, "value": value})
        self._option = self._text = None

    def _end_select(self) -> None:
        usable = [item for item in self._options if "disabled" not in item]
        chosen = [item for item in usable if "selected" in item]
        if not self._is_multiple:
            chosen = chosen[-1:] or usable[:1]
        if self._name:
            self.pairs += [(self._name, str(item["value"])) for item in chosen]
        self._options = []
