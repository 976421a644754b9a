"""No text for a person is bare: gettext reaches all of them."""

from pathlib import Path

import pytest

import ai_assistant
from tests.web.bare_strings import (
    bare_in_python,
    bare_in_script,
    bare_in_template,
    literals_of_script,
)

ROOT = Path(ai_assistant.__file__).parent
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SCRIPTS = sorted((ROOT / "static" / "ai_assistant").glob("*.js"))
ROOMS = ("web", "engine", "safety", "changes", "tools", "admin", "models", "render")
CODE = sorted(
    file for room in ROOMS for file in (ROOT / room).rglob("*.py") if file.is_file()
)
# What looks like words in a script and is read by no person, each looked at.
NOT_FOR_PEOPLE = {
    # to the developer of the page, in the console
    "AIAssistant: ${id} is too large (${size}).",
    # causes, that only programs see
    "no clipboard",
    "the person stays",
    "unsaved changes",
    "not of this site",
    "the page did not let it go",
    "The panel evaluates no attribute.",
    # to the model
    "rows of ${prefix} were added",
    "the page is another one now",
    "cannot be read",
    "never read",
    "may change something: call again with ask=true, then the person is asked",
    "is not there any more, or not what it was: take a ref of the new outline",
    "is for the person alone",
    "is read-only",
    "is being typed in by the person, and left alone",
    "is ticked by check",
    "is a button, which takes no text",
    "says what the person alone may say",
    "is chosen from by select",
    "is an editor, which is for the person",
    "does not take this value",
    "has no options",
    "has no option “${value}”",
    "is no box to tick",
    "is left by ticking another one",
    "needs the text to wait for",
    "“${text}” did not appear",
    "is not shown now: open what it is in",
    "is disabled",
    "was stopped",
    "not exactly one form is called “${wanted}”. Forms: ${several}",
    "several forms have these fields. Forms: ${several}",
    "no form has these fields. Fields: ${listed(known.map(({ name }) => name))}",
    'The page refuses this. ${wrong.join(" ")}',
    "is in no row of ${formset}: it has ${form.rows[formset]}",
    "is in no row of ${formset}: it has ${count}, ",
    "${has}and ${formset}-${count} comes first",
    "${has}and may have no more",
    "and the page offers no empty row to copy. Press its own button for a new row ",
    "with page_action, and fill it in then; or ask the user to add it",
    "and the page's own button has not added one",
    "is not in this form",
    "is required",
    "is ticked by true or false",
    "takes a file, which the person chooses",
    "takes one value",
    "the page is for the person alone",
    "“${one}” is no choice. Choices: ${listed(open.map(({ value }) => value))}",
}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


class TestTemplates:
    @pytest.mark.parametrize("file", TEMPLATES, ids=name_of)
    @pytest.mark.row("N10")
    def test_say_nothing_untranslated(self, file):
        assert bare_in_template(file.read_text()) == []

    @pytest.mark.parametrize(
        "source",
        [
            "<p>Send</p>",
            '<p>{{ count }} rows</p>{% translate "Rows" %}',
            '<a title="Close">×</a>',
            '<a title="{% if open %}Close{% else %}Open{% endif %}">×</a>',
            "<input placeholder='Ask'>",
            '<img alt="a chart">',
            '<p aria-label="The panel"></p>',
            '{{ title|default:"Untitled" }}',
            '{{ is_on|yesno:"On,Off" }}',
            '{% firstof title "Untitled" %}',
            "<svg><title>Arrow</title></svg>",
            "{% comment %}a{% endcomment %}b",
            "{% blocktranslate %}a{% endblocktranslate %} b",
            '<a title="{% translate "Close" %} now">×</a>',
            "<{% if many %}ul{% else %}p{% endif %}>All</p>",
        ],
    )
    def test_bare_text_is_found(self, source):
        assert bare_in_template(source) != []

    @pytest.mark.parametrize(
        "source",
        [
            '<p>{% translate "Send" %} · 3 / 4 ×</p>',
            "{% blocktranslate trimmed %}Acts as {{ name }}{% endblocktranslate %}",
            '<a class="Big one" title="{% translate "Close" %}">{{ name }}</a>',
            '{{ mode|default:"auto" }}{# Words for readers of the source #}',
            '<a title="{% translate "Close" %} (Alt+Q)">×</a>',
            "{% block bodyclass %}{{ block.super }} aia-fullpage{% endblock %}",
            "<{% if many %}ul{% else %}p{% endif %} class='a b'></p>",
            ' data-at="here"{% if open %} data-open="a b"{% endif %}',
            "<script>const Word = 'said so';</script>",
            '<input type="hidden" name="key" value="{{ key }}">',
        ],
    )
    def test_translated_text_is_not(self, source):
        assert bare_in_template(source) == []


class TestScripts:
    @pytest.mark.parametrize("file", SCRIPTS, ids=name_of)
    def test_say_nothing_untranslated(self, file):
        assert set(bare_in_script(file.read_text())) <= NOT_FOR_PEOPLE

    def test_reviewed_ones_are_still_there(self):
        found = {
            text for file in SCRIPTS for text in literals_of_script(file.read_text())
        }

        assert found >= NOT_FOR_PEOPLE

    @pytest.mark.parametrize(
        "source",
        [
            'line.textContent = "Copied";',
            "say('The answer is there')",
            "note.title = `Rows: ${count}, all of them`;",
            'const a = /"/; say("It is done");',
            'say("a button was pressed")',
            'say("Enter a name")',
        ],
    )
    def test_bare_text_is_found(self, source):
        assert bare_in_script(source) != []

    @pytest.mark.parametrize(
        "source",
        [
            'say(word("ready", 3)); // Say the words',
            "const a = /[\"'] the end/; b.type = 'listbox';",
            'if (event.key === "Escape") root.querySelector("#aia li, main a").focus()',
            '/* "The words" of a comment */ tell("message-done")',
        ],
    )
    def test_other_strings_are_not(self, source):
        assert bare_in_script(source) == []


class TestPython:
    @pytest.mark.parametrize("file", CODE, ids=name_of)
    def test_python_says_nothing_untranslated(self, file):
        source = file.read_text()
        if "web/rest" in file.as_posix():  # of serializers: the API's document
            source = source.replace("help_text", "documented")

        assert bare_in_python(source) == []

    @pytest.mark.parametrize(
        "source",
        [
            'raise Refused("late", "It is too late.")',
            'raise Refused("late", f"It is {hour} already.")',
            'raise Refused("late", "It is %s already." % hour)',
            'def f():\n  told = "Too late."\n  raise Refused("late", told)',
            'raise ValidationError("Give a number.")',
            'messages.error(request, "It failed.")',
            'self.message_user(request, "Done.")',
            'class Meta:\n  verbose_name = "conversation"',
            '@admin.display(description="state")\ndef state(self, row): ...',
            'f.short_description = "state"',
            'field = CharField(help_text="A name.")',
            'class State(TextChoices):\n  OPEN = "open", "open"',
        ],
    )
    def test_bare_text_is_found(self, source):
        assert bare_in_python(source) != []

    @pytest.mark.parametrize(
        "source",
        [
            'raise Refused("late", _("It is too late."))',
            'raise Refused("late", _("It is %s already.") % hour)',
            'raise Refused("not_found", "")',
            'def f():\n  told = _("Too late.")\n  raise Refused("late", told)',
            'logger.error("it failed: %s", why)',
            'raise ModelRetry("Call again with an id.")',
            'class State(TextChoices):\n  OPEN = "open", _("open")',
        ],
    )
    def test_other_strings_are_not(self, source):
        assert bare_in_python(source) == []
