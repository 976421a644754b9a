"""
The scripts that the server knows by name.

A script is a list of replies, one for each call of a run; a reply is a list of
operations (`player.py`). One reply may stand alone. After the last reply comes
`ENDED`. A function makes the script from the request, so that a marker can carry
parameters: `[[script:stream delay=0.1 tokens=60 rate=20]]`.
"""

import random
from collections.abc import Callable, Mapping
from typing import Any

from tests.model_server.marker import Asked

Op = dict[str, Any]
Reply = list[Op]
Script = list[Reply]

WORDS = (
    *("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "harbor"),
    *("island", "juniper", "kettle", "lantern", "meadow", "north", "orchard"),
    *("pebble", "quarry", "river", "saddle", "timber", "upland", "valley"),
)
TOO_LONG = (
    "This model's maximum context length is 8192 tokens. However, your messages "
    "resulted in 9000 tokens. Please reduce the length of the messages."
)
ENDED: Reply = [{"op": "text", "text": "Done."}]


def text(words: str, **more: Any) -> Op:
    return {"op": "text", "text": words, **more}


def call(name: str, arguments: object = None, **more: Any) -> Op:
    return {"op": "tool_call", "name": name, "arguments": arguments or {}, **more}


def status(number: int, message: str = "", **more: Any) -> Op:
    return {"op": "status", "status": number, "message": message, **more}


def normalise(steps: list[Any]) -> Script:
    """Return `steps` as a list of replies; one reply may stand alone."""
    if steps and isinstance(steps[0], list):
        return [list(reply) for reply in steps]
    return [list(steps)]


def param(asked: Asked, name: str, default: float) -> float:
    return float(asked.params.get(name, default))


def sentence(seed: str, count: int, suffix: str = "") -> str:
    """Return `count` words that depend on `seed` alone, in paragraphs of 15."""
    pick = random.Random(seed)
    words = [f"{pick.choice(WORDS)}{suffix}" for _ in range(count)]
    lines = [" ".join(words[n : n + 15]) for n in range(0, count, 15)]
    return "\n\n".join(lines)


def default(asked: Asked) -> Script:
    return [[text(f"You said: {asked.said}")]]


def stream(asked: Asked) -> Script:
    """Tokens at a rate, after a delay: what measurements use."""
    words = sentence("stream", int(param(asked, "tokens", 60)))
    return [
        [
            {"op": "delay", "seconds": param(asked, "delay", 0.1)},
            text(words, rate=param(asked, "rate", 20)),
        ]
    ]


def story(asked: Asked) -> Script:
    """
    Like `stream`, but told anew each time; every word names its telling.

    `first` is the rate of the first telling, where it differs: a slow one is cut off
    in its middle by whoever has much to do before.
    """
    count = int(param(asked, "tokens", 60))
    return [
        [
            {"op": "delay", "seconds": param(asked, "delay", 0.1)},
            {
                "op": "story",
                "tokens": count,
                "rate": param(asked, "rate", 20),
                "first": param(asked, "first", 0),
            },
        ]
    ]


def flaky(asked: Asked) -> Script:
    """Fail `times` times for a tag, then answer."""
    code = int(param(asked, "status", 500))
    times = int(param(asked, "times", 2))
    return [[status(code, "Try later.", times=times), text("At last.")]]


def many_calls(asked: Asked) -> Script:
    count = int(param(asked, "count", 200))
    name = asked.params.get("name", "echo")
    calls = [{"name": name, "arguments": {"text": str(n)}} for n in range(count)]
    return [[{"op": "tool_calls", "calls": calls}], [text("Done.")]]


def echo_call(arguments: object, **more: Any) -> Script:
    return [[call("echo", arguments, **more)], [text("Done.")]]


def recording(asked: Asked) -> Script:
    """Play a file of `tests/providers/recordings` as it is."""
    return [[{"op": "raw", "file": asked.params["file"], "end": True}]]


TWO_CALLS = [
    {"name": "echo", "arguments": {"text": "first"}},
    {"name": "echo", "arguments": {"text": "second"}},
]

FIXED: Mapping[str, Script] = {
    # --- answers ---
    "hello": [[text("Hello there, how can this help you?")]],
    "reasoning": [
        [
            {"op": "reasoning", "text": "The person greets. A greeting is due."},
            text("Good day."),
        ]
    ],
    "usage": [
        [
            text("Counted."),
            {
                "op": "usage",
                "prompt": 120,
                "completion": 30,
                "cached": 100,
                "reasoning": 20,
            },
        ]
    ],
    "length": [[text("This is cut by the lim"), {"op": "finish", "reason": "length"}]],
    # --- tool calls ---
    "echo": echo_call({"text": "hello"}),
    "split": echo_call({"text": "hello, split"}, pieces=7),
    "text-and-call": [
        [text("Let me look. "), call("echo", {"text": "x"})],
        [text("Done.")],
    ],
    "interleaved": [
        [{"op": "tool_calls", "calls": TWO_CALLS, "pieces": 5, "interleave": True}],
        [text("Done.")],
    ],
    "duplicate-id": [
        [{"op": "tool_calls", "calls": [{**c, "id": "call_0"} for c in TWO_CALLS]}],
        [text("Done.")],
    ],
    "same-index": [
        [{"op": "tool_calls", "calls": [{**c, "index": 0} for c in TWO_CALLS]}],
        [text("Done.")],
    ],
    "no-id": echo_call({"text": "hello"}, id=None),
    "no-index": echo_call({"text": "hello"}, index=None),
    "malformed-json": echo_call('{"text": "hel'),
    "not-an-object": echo_call("[1, 2]"),
    "unknown-tool": [[call("no_such_tool", {"text": "x"})], [text("Done.")]],
    "unfinished-call": [
        [call("echo", '{"text": "never en'), {"op": "cut"}],
        [text("Done.")],
    ],
    # --- what goes wrong ---
    "bad-request": [[status(400, "Unknown parameter: 'x'.")]],
    "too-long": [[status(400, TOO_LONG, code="context_length_exceeded")]],
    "refused": [
        [
            status(
                400,
                "Your request was rejected as a result of the safety system.",
                code="content_policy_violation",
            )
        ]
    ],
    "filtered": [[{"op": "finish", "reason": "content_filter"}]],
    "bad-key": [[status(401, "Incorrect API key provided.")]],
    "no-access": [[status(403, "You are not allowed to use this model.")]],
    "no-model": [[status(404, "The model does not exist.")]],
    "rate-limited": [[status(429, "Slow down.", retry_after=3600)]],
    "down": [[status(500, "The server had an error.")]],
    "overloaded": [[status(503, "The engine is overloaded.")]],
    "error-event": [
        [
            text("Half an ans"),
            {"op": "raw", "data": 'data: {"error": {"message": "Broken."}}\n\n'},
            {"op": "cut"},
        ]
    ],
    "hang-after-finish": [
        [text("Whole."), {"op": "finish", "reason": "stop"}, {"op": "hang"}]
    ],
    "hang": [[{"op": "hang"}]],
    "hang-after-text": [[text("Half an answer, th"), {"op": "hang"}]],
    "cut": [[text("Half an answer, th"), {"op": "cut"}]],
    "abort": [[text("Half an answer, th"), {"op": "cut", "how": "abort"}]],
    "drop": [[{"op": "drop"}]],
    "nothing": [[{"op": "cut"}]],
    "empty": [[{"op": "finish", "reason": "stop"}]],
    "empty-choices": [
        [{"op": "empty_choices"}, text("Still here."), {"op": "empty_choices"}]
    ],
    "bad-utf8": [[text("Half an answer, "), {"op": "bad_utf8"}, text("the rest")]],
    "malformed": [
        [text("Half an answer, "), {"op": "raw", "data": "data: {no json\n\n"}]
    ],
    "not-json": [
        [
            {
                "op": "page",
                "type": "text/html",
                "body": "<html><h1>Welcome to the hotel WLAN</h1></html>",
            }
        ]
    ],
}

MADE: Mapping[str, Callable[[Asked], Script]] = {
    "default": default,
    "stream": stream,
    "story": story,
    "flaky": flaky,
    "many-calls": many_calls,
    "recording": recording,
}


def find(asked: Asked, registered: Mapping[str, Script]) -> Reply:
    """Return the reply that is due; an unknown name says so, as a model would."""
    if asked.name in registered:
        script = registered[asked.name]
    elif asked.name in MADE:
        script = MADE[asked.name](asked)
    elif asked.name in FIXED:
        script = FIXED[asked.name]
    else:
        return [status(400, f"There is no script {asked.name!r}.")]
    return script[asked.step] if asked.step < len(script) else ENDED
