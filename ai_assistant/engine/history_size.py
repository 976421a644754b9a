"""As much of a conversation as the model is told: the newest that fits."""

from typing import Any

Entry = dict[str, Any]  # a message in the OpenAI chat form
Group = list[Entry]  # what must not be parted: a reply with the results of its calls

LEFT_OUT = "[Earlier messages of this conversation are left out here.]"
CUT = "[cut: {most} of {total} characters fit here.]"


def newest_that_fit(groups: list[Group], most: int) -> list[Group]:
    """
    Return the last of `groups` that have at most `most` characters together.

    The last one is always there; if it alone is too large, the results in it are
    cut.
    """
    kept: list[Group] = []
    left = most
    for group in reversed(groups):
        size = _size(group)
        if kept and size > left:
            break
        kept.append(group if size <= left else _cut(group, most))
        left -= size
    return kept[::-1]


def with_note(group: Group) -> Group:
    """Return the person's words with a note that there were others before."""
    first, *rest = group
    return [{**first, "content": f"{LEFT_OUT}\n\n{first['content']}"}, *rest]


def _size(group: Group) -> int:
    return sum(len(entry.get("content") or "") + _called(entry) for entry in group)


def _called(entry: Entry) -> int:
    calls = entry.get("tool_calls", ())
    return sum(len(call["function"]["arguments"]) for call in calls)


def _cut(group: Group, most: int) -> Group:
    """Return a reply with its results, each of them cut to an equal share."""
    results = [entry for entry in group if entry["role"] == "tool"]
    if not results:
        return group
    rest = most - _size([entry for entry in group if entry["role"] != "tool"])
    share = max(rest, 0) // len(results)
    return [
        {**entry, "content": _short(entry["content"], share)}
        if entry["role"] == "tool"
        else entry
        for entry in group
    ]


def _short(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most]}\n{CUT.format(most=most, total=len(text))}"
