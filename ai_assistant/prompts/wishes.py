"""How a person wants this one answer, and what other branches have left behind."""

WISHES = {
    "shorter": "The user has seen an answer to this and wants a shorter one: give the "
    "main point in a few sentences, and leave out what is not needed for it.",
}
CHANGED_ELSEWHERE = (
    "The user has left another version of this conversation, which you do not see. "
    "What was changed there stays changed: look at the data before you change it again."
)


def wish_text(wish: str, *, changed_elsewhere: bool) -> str:
    """Return what the model is told of both; nothing for most runs."""
    told = (WISHES.get(wish, ""), CHANGED_ELSEWHERE if changed_elsewhere else "")
    return "\n".join(text for text in told if text)
