"""What the model says in these tests. It tells texts anew each time it is asked."""

from typing import Any

from tests.faults.site import Site
from tests.model_server.scripts import sentence

STORY_WORDS = 24
STEPS = 3  # of the background call
# What a run of the script "work" writes, each once.
WORK_KEYS = ("a", "b", "slow", "c", *(f"step-{n}" for n in range(STEPS)))


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"op": "tool_call", "name": name, "arguments": arguments}


def calls(*several: dict[str, Any]) -> dict[str, Any]:
    return {"op": "tool_calls", "calls": [*several]}


def story(rate: float = 60) -> dict[str, Any]:
    return {"op": "story", "tokens": STORY_WORDS, "rate": rate}


def register(site: Site) -> None:
    """Teach the model the scripts of these tests."""
    done = {"op": "text", "text": "Done."}
    first, second, third = (call("write_effect", key=key) for key in "abc")
    long = call("background_steps", n=STEPS, seconds=0.05)
    site.script(
        "work",
        [
            {"op": "text", "text": "Telling {telling}. ", "rate": 30},
            calls(first, second),
        ],
        [long],
        [calls(call("slow_write", seconds=0.4, text="slow"), third)],
        [story()],
    )
    site.script("outside", [call("write_external", key="out", seconds=0.1)], [done])
    site.script("slow-write", [call("slow_write", seconds=4, text="slow")], [done])
    site.script("long", [call("background_steps", n=20, seconds=0.1)], [done])
    site.script("ask", [call("needs_approval", text="please")], [done])
    site.script("write-and-tell", [call("write_effect", key="w")], [story(rate=12)])


def marker(script: str, tag: str, **params: object) -> str:
    """Return the text of a message that asks for `script`."""
    said = "".join(f" {name}={value}" for name, value in params.items())
    return f"[[script:{script}#{tag}{said}]]"


def told(tag: str, telling: int, words: int = STORY_WORDS) -> str:
    """Return the story of `tag` as the model tells it the nth time."""
    return sentence(f"{tag}/{telling}", words, str(telling))


def telling_of(text: str, tag: str, words: int = STORY_WORDS) -> int:
    """Return which telling `text` is, whole; 0 if it is none: cut off or mixed."""
    last = text.rpartition(" ")[2]
    number = "".join(letter for letter in last if letter.isdigit())
    if number and told(tag, int(number), words) == text:
        return int(number)
    return 0
