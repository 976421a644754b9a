from urllib.parse import urlencode
from uuid import UUID, uuid4

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st

from ai_assistant.web.panel.layout import (
    COOKIE,
    CORNERS,
    HEIGHTS,
    LOOK_COOKIE,
    MAX_CHARS,
    MAX_UNREAD,
    MODES,
    WIDTHS,
    XS,
    YS,
    Layout,
    Window,
    read_layout,
    write_layout,
)


def read(said: str) -> Layout:
    request = RequestFactory().get("/")
    request.COOKIES[COOKIE] = said
    return read_layout(request)


class TestReadLayout:
    def test_read_layout_reads_what_the_browser_writes(self):
        conversation = str(uuid4())

        layout = read(f"o=1&m=float&w=520&c={conversation}")

        assert layout == Layout(
            is_open=True, mode="float", width=520, conversation=conversation
        )

    def test_read_layout_reads_what_a_person_prefers(self):
        layout = read("p=20.40.3&l=s&e=1&k=0&n=12&f=nf")

        assert layout == Layout(
            window=Window(height=20, x=40, y=3),
            corner="start",
            ctrl_enter=True,
            shortcuts=False,
            unread=12,
            shows_navigation=True,
            shows_filter=True,
        )

    def test_read_layout_without_a_cookie_is_closed(self):
        assert read_layout(RequestFactory().get("/")) == Layout()

    @pytest.mark.parametrize(
        "said",
        [
            "o=true",
            "m=page",
            "w=401",
            "w=-400",
            "w=\uff14\uff10\uff10",
            "w=9999999999999999999",
            "w=300",
            "p=32.1",
            "p=32.1.1.1",
            "p=15.1.1",
            "p=80.1.1",
            "p=32.256.1",
            "p=32.1.64",
            "p=32.-1.1",
            "p=..",
            "p=1e1.1.1",
            "l=end",
            "l=x",
            "e=yes",
            "k=no",
            "n=-1",
            "n=1000",
            "n=three",
            "c=1",
            "c=../../admin",
            "c=00000000-0000-0000-0000-00000000000g",
            "o[]=1",
            "=",
            "&&&",
            "%",
            "%zz=%ff",
            "o=1" + "&x=1" * MAX_CHARS,
        ],
    )
    def test_nonsense_counts_as_not_said(self, said):
        assert read(said) == Layout()

    def test_one_bad_value_spoils_no_other(self):
        assert read("o=1&m=float&w=banana&c=no") == Layout(is_open=True, mode="float")

    @given(
        said=st.one_of(
            st.text(max_size=300),
            st.dictionaries(
                st.sampled_from("omwcbplekn?"),
                st.one_of(
                    st.text(max_size=60),
                    st.lists(st.integers(-300, 3000), max_size=4).map(
                        lambda parts: ".".join(map(str, parts))
                    ),
                ),
            ).map(urlencode),
        )
    )
    def test_read_layout_takes_any_text_and_gives_good_values(self, said):
        layout = read(said)

        assert layout.mode in MODES
        assert layout.width in {0, *WIDTHS}
        assert isinstance(layout.is_open, bool)
        assert not layout.conversation or UUID(layout.conversation)
        assert layout.window.height in HEIGHTS
        assert layout.window.x in XS
        assert layout.window.y in YS
        assert layout.corner in ("", *CORNERS.values())
        assert 0 <= layout.unread <= MAX_UNREAD


class TestWriteLayout:
    @pytest.mark.parametrize("look_only", [True, False])
    def test_write_layout_is_read_as_it_was_written(self, look_only):
        layout = Layout(
            is_open=True,
            is_busy=True,
            mode="float",
            width=640,
            window=Window(height=79, x=255, y=63),
            conversation=str(uuid4()),
            corner="none",
            ctrl_enter=True,
            shortcuts=False,
            unread=999,
            look_only=look_only,
            shows_navigation=True,
            shows_filter=True,
        )
        response = HttpResponse()

        write_layout(response, layout)

        request = RequestFactory().get("/")
        request.COOKIES[COOKIE] = response.cookies[COOKIE].value
        request.COOKIES[LOOK_COOKIE] = response.cookies[LOOK_COOKIE].value
        assert read_layout(request) == layout
        assert len(response.cookies[COOKIE].value) <= MAX_CHARS
