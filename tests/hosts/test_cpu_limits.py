"""`--cpu` fails where the medians of the forms are over their limits."""

import pytest

from tests.hosts.packages.cpu import print_medians


def figures(*over, page=10.0, is_direct=True):
    """Return figures of forms that take so many ms over a page that takes `page`."""
    return [
        {"is_direct": is_direct, "page_ms": page, "tool_ms": page + one} for one in over
    ]


@pytest.mark.parametrize(
    ("found", "is_held"),
    [
        (figures(1, 5, 90, page=4), True),  # in ms; the median counts
        (figures(20, page=40), True),  # as a share
        (figures(1, 7, 90), False),
        (figures(11.9, is_direct=False), True),
        (figures(12.1, is_direct=False), False),
        (figures(4, page=3, is_direct=False), False),  # no ms by their views
        (figures(1) + figures(90, is_direct=False), False),
        (figures(90) + figures(1, is_direct=False), False),
        ([], False),
    ],
)
def test_limits(found, is_held):
    assert print_medians(found) is is_held


def test_line_says_which_is_over(capsys):
    print_medians(figures(1) + figures(13, is_direct=False))

    assert capsys.readouterr().out.splitlines() == [
        "1 forms taken directly: median +1.0 ms, +10% over the page "
        "(at most 5 ms or 60%)",
        "OVER: 1 forms taken by their views: median +13.0 ms, +130% over the page "
        "(at most 120%)",
    ]
