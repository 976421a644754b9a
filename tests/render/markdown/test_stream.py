import pytest
from hypothesis import given, settings

from ai_assistant.render.markdown import BlockStream, render, split_blocks
from tests.render.markdown.texts import (
    HOSTILE,
    ORDINARY,
    PIECES,
    Screen,
    chunked,
    finished,
    pieces,
)

pytestmark = pytest.mark.broad


class TestAnyChunking:
    @given(chunked())
    @settings(max_examples=300, deadline=None)
    def test_any_chunking_ends_as_rendered_at_once(self, chunks):
        assert finished(chunks) == render("".join(chunks))

    @given(chunked())
    @settings(max_examples=300, deadline=None)
    def test_any_chunking_shows_what_the_text_alone_decides(self, chunks):
        stream, screen, text = BlockStream(), Screen(), ""
        for chunk in chunks:
            text += chunk
            stream.feed(chunk)
            screen.apply(stream.changes())

            wanted = [block.html for block in split_blocks(text)]
            if len(wanted) > len(screen.blocks):
                assert wanted.pop() == ""  # an open block that shows nothing yet
            assert screen.blocks == wanted

    @given(chunked())
    @settings(max_examples=300, deadline=None)
    def test_closed_blocks_stay(self, chunks):
        text = "".join(chunks)
        final = split_blocks(text + "\n\nend\n\n")
        for at in range(len(text) + 1):
            closed = [b.source for b in split_blocks(text[:at]) if b.closed]
            assert closed == [b.source for b in final[: len(closed)]]

    @pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 100_000])
    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_believable_text(self, size, end):
        text = ORDINARY.replace("\n", end)

        assert finished(pieces(text, size)) == render(ORDINARY)

    @pytest.mark.parametrize("text", HOSTILE)
    def test_hostile_text(self, text):
        assert finished(pieces(text, 1)) == render(text)


class TestBlockStream:
    def test_nothing_fed_changes_nothing(self):
        stream = BlockStream()

        assert stream.changes() == []
        assert stream.finish() == []

    def test_blank_text_is_no_block(self):
        assert finished(["\n", " \t", "\r\n"]) == render("\n \t\r\n") == []

    def test_first_word_is_shown_at_once(self):
        stream = BlockStream()
        stream.feed("Hel")

        (change,) = stream.changes()

        assert (change.index, change.html, change.closed) == (0, "<p>Hel</p>", False)

    def test_same_html_is_not_sent_again(self):
        stream = BlockStream()
        stream.feed("one")
        stream.changes()
        stream.feed(" **")

        assert stream.changes() == []

    def test_only_the_open_block_is_sent(self):
        stream = BlockStream()
        stream.feed("# One\n\nTwo\n\nThr")
        stream.changes()
        stream.feed("ee")

        assert [change.index for change in stream.changes()] == [2]

    def test_closed_fence_keeps_out_of_the_next_block(self):
        stream = BlockStream()
        stream.feed("```py\nx = 1\n```\n")
        (code,) = stream.changes()
        stream.feed("And")

        (text,) = stream.changes()

        assert code.closed
        assert (text.index, text.html) == (1, "<p>And</p>")

    def test_unfinished_line_closes_nothing(self):
        stream = BlockStream()
        stream.feed("One\n# Two")

        (change,) = stream.changes()

        assert not change.closed

    def test_late_definition_resolves_links_at_the_end(self):
        stream = BlockStream()
        stream.feed("See [docs][1].\n\nMore.\n\n[1]: https://e.example/x\n")
        before = stream.changes()

        after = stream.finish()

        assert before[0].html == "<p>See [docs][1].</p>"
        assert [change.index for change in after] == [0, 2]
        assert 'href="https://e.example/x"' in after[0].html
        assert after[1].html == ""

    def test_early_definition_resolves_links_at_once(self):
        stream = BlockStream()
        stream.feed("[1]: /x/\n\nSee [docs][1].\n\n")

        assert stream.changes()[1].html == '<p>See <a href="/x/">docs</a>.</p>'
        assert stream.finish() == []

    def test_list_turns_loose_while_open(self):
        stream, screen = BlockStream(), Screen()
        stream.feed("- a\n- b\n")
        screen.apply(stream.changes())
        stream.feed("\n- c\n")
        screen.apply(stream.changes())

        assert screen.blocks == render("- a\n- b\n\n- c\n")
        assert "<p>a</p>" in screen.blocks[0]

    def test_title_of_a_definition_may_follow_in_pieces(self):
        text = "[a]: /u\n'one\ntwo'\n[a]\n"

        assert finished(pieces(text, 1)) == render(text)
        assert len(render(text)) == 1

    def test_line_end_in_two_pieces_is_one(self):
        assert finished(["a\r", "\nb"]) == render("a\nb") == ["<p>a\nb</p>"]

    @pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
    def test_line_end_of_a_piece_is_not_lost(self, end):
        stream, screen = BlockStream(), Screen()
        for piece in ("a" + end, "b"):
            stream.feed(piece)
            screen.apply(stream.changes())

        assert screen.blocks == ["<p>a\nb</p>"]

    def test_unfinished_answer_is_shown_as_it_is_at_the_end(self):
        assert finished(["a **b"]) == ["<p>a **b</p>"]

    def test_pause_grows_with_the_open_block_alone(self):
        stream = BlockStream()
        stream.feed("word " * 5000 + "\n\n")
        stream.changes()
        assert stream.pause_s == 0.1

        stream.feed("- item\n" * 1000)
        stream.changes()
        assert 0.2 < stream.pause_s <= 1.0

    @pytest.mark.parametrize("piece", PIECES)
    def test_every_piece_alone(self, piece):
        assert finished([piece]) == render(piece)
