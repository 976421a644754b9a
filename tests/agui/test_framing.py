import pytest

from tests.agui import framing
from tests.agui.framing import Framing, parse

GOOD = b': ping\n\nid: 7.a\ndata: {"type": "A"}\n\ndata:{"type":"B"}\n\n'


class TestFraming:
    def test_good_one_has_no_faults(self):
        found = parse(GOOD)

        assert found.faults == []
        assert [(one.type, one.event_id) for one in found.frames] == [
            ("A", "7.a"),
            ("B", ""),
        ]
        assert found.comments == 1

    def test_pieces_do_not_matter(self):
        found = Framing()
        frames = [
            one for at in range(len(GOOD)) for one in found.feed(GOOD[at : at + 1])
        ]
        found.end()

        assert found.faults == []
        assert [one.type for one in frames] == ["A", "B"]

    @pytest.mark.parametrize(
        ("broken", "fault"),
        [
            (b'data: {"type": "A"}\r\n\r\n', "CR"),
            (b'data: {"type": "A"}\n', "inside a frame"),
            (b'data: {"type": "A"}', "inside a frame"),
            (b'data: {"type":\ndata: "A"}\n\n', "2 data lines"),
            (b'data: {"type": "A"\n\n', "not JSON"),
            (b'data: {"type": NaN}\n\n', "not JSON"),
            (b'data: ["A"]\n\n', "no object"),
            (b'data: {"type": 1}\n\n', "no object"),
            (b'{"type": "A"}\n\n', "not a line"),
            (b"\xff\n\n", "UTF-8"),
            (b'id: 1\nid: 2\ndata: {"type": "A"}\n\n', "the ids"),
            (b"id: 1\n\n", "the ids"),
            (b'id:\ndata: {"type": "A"}\n\n', "no id"),
        ],
    )
    def test_fault(self, broken, fault):
        (found, *_more) = parse(broken).faults
        assert fault in found

    def test_frame_that_no_client_can_hold(self, monkeypatch):
        monkeypatch.setattr(framing, "MOST_CHARS", 100)
        (found,) = parse(b'data: {"type": "' + b"A" * 100 + b'"}\n\n').faults
        assert "characters" in found
