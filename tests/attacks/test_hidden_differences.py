"""What is approved is what is seen: no difference hides in characters."""

import html
import re
import sys
import unicodedata

import pytest

from ai_assistant import RunContext, ToolFailed
from ai_assistant.changes.values import Changes, FieldChange, ObjectChange
from ai_assistant.testing import call, reply
from tests.figures import FIGURE

pytestmark = pytest.mark.django_db(transaction=True)

EACH = 60  # fields of one card
HIDDEN_KINDS = ("Cc", "Cf", "Zl", "Zp", "Zs")
IN_PLAIN_TEXT = "\n\t\r "  # which the page shows as what they are
BLANK_LETTERS = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180e\u2800\u3164\uffa0"
PRIVATE = "\ue000\uf8ff\U000f0000\U00100000"
SELECTORS = "\ufe00\ufe0e\ufe0f\U000e0100\U000e01ef"
# Of each letter those that another reader takes for it.
ALIKE = {
    "a": "\u0430\u03b1\uff41\U0001d41a",
    "c": "\u0441\u03f2\uff43\U0001d484",
    "e": "\u0435\uff45\U0001d5be",
    "i": "\u0456\uff49\u2170",
    "j": "\u0458\uff4a",
    "o": "\u043e\u03bf\u0585\uff4f",
    "p": "\u0440\u03c1\uff50",
    "s": "\u0455\uff53",
    "x": "\u0445\uff58\u2179",
    "y": "\u0443\uff59",
    "A": "\u0410\u0391\uff21",
    "B": "\u0412\u0392\uff22",
    "E": "\u0415\u0395\uff25",
    "H": "\u041d\u0397",
    "K": "\u041a\u039a\u212a",
    "M": "\u041c\u039c",
    "O": "\u041e\u039f",
    "P": "\u0420\u03a1",
    "T": "\u0422\u03a4",
    "X": "\u0425\u03a7",
}
FOLDED = str.maketrans({other: one for one, alike in ALIKE.items() for other in alike})
ROW = re.compile(
    r">F(\d+)F<.*?<del[^>]*>(.*?)</del>.*?<ins[^>]*>(.*?)</ins>(.*?)</td>", re.DOTALL
)
SAID = "look the same"  # and the card says that they are not
TAGS = re.compile(r"<[^>]*>")
ANSI = (
    *("\x1b[31mred\x1b[0m", "\x1b[2J\x1b[H", "\x1b]0;title\x07", "\x1b]8;;x\x07y"),
    *("\x9b31m", "\x07", "\x08\x08\x08rm", "a\rb", "\x1b[8mhidden\x1b[28m", "\x7f"),
)


def hidden_characters():
    every = map(chr, range(1, sys.maxunicode + 1))
    found = [one for one in every if unicodedata.category(one) in HIDDEN_KINDS]
    return [
        *(one for one in found if one not in IN_PLAIN_TEXT),
        *(BLANK_LETTERS + PRIVATE + SELECTORS),
    ]


def pairs():
    """Return texts that look the same, or nearly."""
    made = [("paypal", f"pay{one}pal") for one in hidden_characters()]
    made += [("paypal", f"paypal{one}") for one in hidden_characters()[::5]]
    made += [
        (f"x{one}x", f"x{other}x") for one, alike in ALIKE.items() for other in alike
    ]
    made += [(one * 3, other * 3) for one, alike in ALIKE.items() for other in alike]
    made += [(f"{one} 1", f"{one}  1") for one in ("Mark", "A B")]
    made += [("paypal ", "paypal"), (" paypal", "paypal")]
    composed = ("caf\u00e9", "\u00c5ngstr\u00f6m", "\u1e69", "\uac00", "\u2126")
    made += [(text, unicodedata.normalize("NFD", text)) for text in composed]
    return made


def seen(markup):
    """Return what a reader sees: nothing of what is hidden, all that looks alike alike."""
    text = html.unescape(TAGS.sub("", markup))
    text = "".join(one for one in text if not is_hidden(one))
    return unicodedata.normalize("NFKC", text).translate(FOLDED)


def unseen(before, after, note):
    """Return whether a reader cannot tell two values apart, and is not told to."""
    return seen(before) == seen(after) and SAID not in note


def is_hidden(one):
    if one in IN_PLAIN_TEXT:
        return False
    kinds = ("Cc", "Cf", "Co", "Zl", "Zp", "Zs")
    return unicodedata.category(one) in kinds or one in BLANK_LETTERS + SELECTORS


def raw(markup):
    """Return the hidden characters that have reached the page."""
    return sorted(
        {f"U+{ord(one):04X}" for one in html.unescape(markup) if is_hidden(one)}
    )


def page_of(person, run):
    address = "/assistant/"
    found = person.client.get(address, {"conversation": str(run.conversation_id)})
    return found.content.decode()


def proposal(fields=(), title="Change", text="object", **more):
    one = ObjectChange(
        kind="change",
        model="testapp.effect",
        object_id="1",
        text=text,
        fields=tuple(
            FieldChange(
                name=f"f{n}", label=f"F{n}F", before=before, after=after, **more
            )
            for n, (before, after) in fields
        ),
    )
    return Changes(title=title, model="testapp.effect", objects=(one,), total=1)


@pytest.fixture
def show(ada, offer, script):
    """Return the page on which a proposal waits."""

    def shower(context: RunContext) -> None:
        """Show."""

    def make(changes):
        offer(shower, effect="write", preview=lambda context: changes)
        script.replies[len(script.requests) :] = [reply("", call("shower"))]
        run = ada.ask("Do it.")
        page = page_of(ada, run)
        ada.post("stop", {"run": run.pk})
        return page

    return make


class TestProposal:
    def test_no_difference_is_hidden(self, show, record_property):
        every = list(enumerate(pairs()))
        missed, shown, reached = [], 0, set()
        for first in range(0, len(every), EACH):
            page = show(proposal(every[first : first + EACH]))
            for number, before, after, note in ROW.findall(page):
                shown += 1
                if unseen(before, after, note):
                    missed.append(ascii(every[int(number)][1]))
                reached |= {*raw(before), *raw(after)}
        record_property(
            FIGURE, f"hidden differences: {len(missed)} of {len(every)} not to be seen"
        )
        assert shown == len(every)
        assert missed == []
        assert reached == set()

    def test_none_is_hidden_in_the_place_of_a_tree(self, show):
        every = list(enumerate(pairs()[:EACH]))
        page = show(proposal(every, is_place=True))
        (folded,) = re.findall(r"<summary>Show \d+ values</summary>.*?</details>", page)
        found = ROW.findall(folded.replace("</dd>", "</td>"))

        assert len(found) == EACH
        assert [one for one in found if unseen(*one[1:])] == []

    @pytest.mark.parametrize("name", ["title", "text"])
    def test_no_name_hides_anything(self, show, name):
        every = hidden_characters()
        planted = "x".join(every[:150])
        own = {name: f"paypal{planted}"} if name == "text" else {name: planted}
        page = show(proposal([(0, ("a", "b"))], **own))

        assert raw(page) == []

    def test_arguments_of_a_call_that_shows_nothing(self, ada, offer, script):
        def letter(to: str) -> None:
            """Write."""

        offer(letter, effect="write")
        script.add(
            reply("", call("letter", {"to": "x".join(hidden_characters()[:150])}))
        )
        page = page_of(ada, ada.ask("Do it."))

        assert "U+202E" in page
        assert raw(page) == []


class TestResult:
    @pytest.mark.parametrize("ok", [True, False])
    def test_result_escapes_of_a_terminal(self, ada, offer, script, ok):
        def look() -> str:
            """Look."""
            if not ok:
                raise ToolFailed("".join(ANSI))
            return "".join(ANSI)

        offer(look)
        script.add(reply("", call("look")), "Done.")
        run = ada.ask("Do it.")

        page = page_of(ada, run)
        assert [one for one in page if one in "\x1b\x9b\x07\x08\x7f"] == []
