"""Which of a long history fits: old results are shortened first, then the oldest go."""

from typing import Any

Entry = dict[str, Any]  # a message in the OpenAI chat form
Group = list[Entry]  # what must not be parted: a reply with the results of its calls

LEFT_OUT = "[Earlier messages of this conversation are left out here.]"
CUT = "[cut: {most} of {total} characters fit here.]"
KEPT = 10  # messages that are never summed up, and whose results stay whole
OLD_RESULT_CHARS = 1000  # of a result, where the whole history does not fit


def newest_that_fit(groups: list[Group], most: int) -> list[Group]:
    """
    Return the last of `groups` that have at most `most` characters together.

    The last one is always there; if it alone is too large, the results in it are
    cut.
    """
    kept: list[Group] = []
    left = most
    for group in reversed(groups):
        size = size_of(group)
        if kept and size > left:
            break
        kept.append(group if size <= left else _cut(group, most))
        left -= size
    return kept[::-1]


def with_short_results(groups: list[Group]) -> list[Group]:
    """Return the groups with the results in all but the last KEPT cut."""
    old, new = groups[:-KEPT], groups[-KEPT:]
    return [[_with_short_result(entry) for entry in group] for group in old] + new


def with_note(group: Group, *notes: str) -> Group:
    """Return the person's words with notes on what was said before."""
    first, *rest = group
    text = "\n\n".join([*notes, first["content"]])
    return [{**first, "content": text}, *rest]


def size_of(group: Group) -> int:
    """Return how many characters a group has."""
    size = 0
    for entry in group:
        size += len(entry.get("content") or "")
        for call in entry.get("tool_calls", ()):
            size += len(call["function"]["arguments"])
    return size


def short(text: str, most: int) -> str:
    """Return the beginning of a text, with a note if that is not all."""
    if len(text) <= most:
        return text
    return f"{text[:most]}\n{CUT.format(most=most, total=len(text))}"


def _cut(group: Group, most: int) -> Group:
    """Return a reply with its results, each of them cut to an equal share."""
    results = [entry for entry in group if entry["role"] == "tool"]
    if not results:
        return group
    rest = most - size_of([entry for entry in group if entry["role"] != "tool"])
    share = max(rest, 0) // len(results)
    return [
        {**entry, "content": short(entry["content"], share)}
        if entry["role"] == "tool"
        else entry
        for entry in group
    ]


def _with_short_result(entry: Entry) -> Entry:
    if entry["role"] != "tool":
        return entry
    return {**entry, "content": short(entry["content"], OLD_RESULT_CHARS)}
