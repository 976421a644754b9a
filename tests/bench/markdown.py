"""A long answer with blocks of every kind, whose words are numbered."""

import itertools
import random
import re

from tests.model_server.chunks import tokens
from tests.model_server.scripts import WORDS

NUMBER = re.compile(r"[a-z]+(\d+)")


def numbered_markdown(count: int) -> str:
    """Return markdown of about `count` tokens; each word ends with its number."""
    numbers = itertools.count(1)
    pick = random.Random("markdown")

    def words(many: int) -> str:
        return " ".join(f"{pick.choice(WORDS)}{next(numbers)}" for _ in range(many))

    makers = itertools.cycle(
        (
            lambda: f"## {words(4)}",
            lambda: f"{words(30)} **{words(3)}** {words(20)}.",
            lambda: "\n".join(f"- {words(9)}" for _ in range(5)),
            lambda: f"{words(40)} `{words(1)}` {words(15)}.",
            lambda: _table([words(3) for _ in range(21)]),
            lambda: "\n".join(f"{n}. {words(12)}" for n in range(1, 5)),
            lambda: "```python\n{}\n```".format(
                "\n".join(f"{words(1)} = total({words(2)})" for _ in range(12))
            ),
            lambda: f"> {words(25)}",
        )
    )
    blocks: list[str] = []
    told = 0
    while told < count:
        blocks.append(next(makers)())
        told += len(list(tokens(blocks[-1])))
    return "\n\n".join(blocks)


def _table(cells: list[str]) -> str:
    rows = ["| " + " | ".join(cells[n : n + 3]) + " |" for n in range(0, 21, 3)]
    return "\n".join([rows[0], "|---|---|---:|", *rows[1:]])


def places(text: str) -> list[int]:
    """Return in which token each word comes; the first is word 1."""
    found = [0]
    for place, token in enumerate(tokens(text)):
        found += [place] * len(NUMBER.findall(token))
    return found
