"""`{% trimmed %}`: line breaks of a template that do not reach the page."""

import pytest
from django.template import Context, Template, TemplateSyntaxError, engines


def draw(source, **values):
    return Template("{% load aia i18n %}{% trimmed %}" + source).render(Context(values))


class TestBetweenTags:
    def test_line_breaks_and_indentation_are_left_out(self):
        html = draw("\n<ul>\n  <li>\n    <b>a</b>\n\n  </li>\n</ul>\n")

        assert html == "<ul><li><b>a</b></li></ul>"

    def test_spaces_without_a_line_break_stay(self):
        assert draw("<b>a</b> <i>b</i> {{ c }}", c="d") == "<b>a</b> <i>b</i> d"

    def test_literal_space_stays_between_two_lines(self):
        assert draw('<b>a</b>\n{{ " " }}\n<i>b</i>') == "<b>a</b> <i>b</i>"

    def test_line_breaks_beside_template_tags_are_left_out(self):
        source = (
            "\n{% if a %}\n  <b>\n    {{ a }}\n  </b>\n{% else %}\n  no\n{% endif %}"
        )

        assert draw(source, a="yes") == "<b>yes</b>"
        assert draw(source, a="") == "no"

    def test_broken_sentence_keeps_its_words_apart(self):
        assert draw("<p>\n  one\n  two {{ a }}\n</p>", a=3) == "<p>one two 3</p>"


class TestInsideTags:
    def test_attributes_of_several_lines_are_one_space_apart(self):
        assert (
            draw('<a\n  href="x"\n  class="y"\n>z</a>') == '<a href="x" class="y">z</a>'
        )

    def test_attribute_after_a_template_tag_stays_apart(self):
        html = draw('<a{% if a %} data-a{% endif %}\n  href="{{ a }}"\n  id="i">', a=1)

        assert html == '<a data-a href="1" id="i">'

    def test_attribute_after_a_line_break_in_a_condition_stays_apart(self):
        assert draw("<a{% if a %}\n  data-a{% endif %}>", a=1) == "<a data-a>"

    def test_value_of_several_lines_is_trimmed_as_text_is(self):
        source = '<a class="x\n  y" href="?a={{ a }}\n  {% if a %}&amp;b=1{% endif %}">'

        assert draw(source, a=1) == '<a class="x y" href="?a=1&amp;b=1">'

    def test_end_of_a_tag_in_quotes_is_none(self):
        assert draw('<a title=">"\n  id="i">') == '<a title=">" id="i">'


class TestKept:
    @pytest.mark.parametrize("tag", ["pre", "textarea"])
    def test_white_space_that_shows_stays(self, tag):
        source = f"\n<{tag}\n  id='a'>\n  <i>1</i>\n  {{{{ a }}}}\n</{tag}>\n<b>\n</b>"

        html = draw(source, a="x\n  y")

        assert html == f"<{tag} id='a'>\n  <i>1</i>\n  x\n  y\n</{tag}><b></b>"

    def test_apostrophe_in_a_text_is_no_quote(self):
        assert draw("<p>it's\n</p>\n<b\n  id='i'>") == "<p>it's</p><b id='i'>"

    def test_values_keep_their_line_breaks(self):
        assert draw("<p>\n{{ a }}\n</p>", a="x\n\n y ") == "<p>x\n\n y </p>"

    def test_translated_text_keeps_its_line_breaks(self):
        html = draw("<p>\n{% blocktranslate %}one\n two{% endblocktranslate %}\n</p>")

        assert html == "<p>one\n two</p>"

    def test_verbatim_text_keeps_its_line_breaks(self):
        html = draw("<p>\n{% verbatim %}\n{{ a }}{% endverbatim %}\n</p>")

        assert html == "<p>\n{{ a }}</p>"

    def test_text_before_the_tag_stays(self):
        source = "{% load aia %}<p>\n</p>{% trimmed %}<p>\n</p>"

        assert Template(source).render(Context()) == "<p>\n</p><p></p>"


class TestBlocks:
    PARENT = (
        "{% load aia %}{% trimmed %}\n<p>\n{% block a %}\n<b>\n</b>\n{% endblock %}\n"
    )

    @pytest.fixture
    def loaded(self, settings, tmp_path):
        options = dict(settings.TEMPLATES[0], DIRS=[tmp_path])
        settings.TEMPLATES = [options]
        (tmp_path / "parent.html").write_text(self.PARENT)

        def draw_child(source):
            (tmp_path / "child.html").write_text(source)
            return engines.all()[0].get_template("child.html").render()

        return draw_child

    def test_block_is_extended(self, loaded):
        html = loaded(
            '{% extends "parent.html" %}'
            "{% block a %}{{ block.super }}<i>\n</i>{% endblock %}"
        )

        assert html == "<p><b></b><i>\n</i>"

    def test_block_is_included_trimmed(self, loaded):
        assert loaded('<q>\n{% include "parent.html" %}\n</q>') == (
            "<q>\n<p><b></b>\n</q>"
        )


class TestWrongUse:
    def test_argument_is_refused(self):
        with pytest.raises(TemplateSyntaxError, match="takes no arguments"):
            Template("{% load aia %}{% trimmed on %}")
