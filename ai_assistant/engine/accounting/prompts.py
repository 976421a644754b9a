"""Keep which prompt each step had: its parts by name, their words stored once."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from django.db import connection

from ai_assistant.configuration.begun import BEGUN, Begun
from ai_assistant.models.run import PromptText, Run, Step
from ai_assistant.prompts.tree import OWN, SEPARATOR, Prompt, PromptPart
from ai_assistant.text.redaction.redact import redact, rules
from ai_assistant.types import JSON

TOOLS = "tools"
HAS_DATA = "has_data"
INSERT = f"""
INSERT INTO {PromptText._meta.db_table} (conversation_id, digest, text)
VALUES {{}} ON CONFLICT DO NOTHING
"""
ROW = "(%s, %s, %s)"
CACHED = 128  # texts
CACHED_TOOLS = 32  # sets of them that were offered together
CHARS_PER_TOKEN = 4  # about, for words that are shown with their size


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownPart:
    """A part of a prompt, for who looks at it."""

    id: str
    source: str
    text: str
    is_cacheable: bool = False

    @property
    def tokens(self) -> int:
        """About how many tokens it has."""
        return -(-len(self.text) // CHARS_PER_TOKEN)


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownPrompt:
    """A prompt: its parts in order, the tools as JSON, and what was left out."""

    parts: tuple[ShownPart, ...] = ()
    tools: str = ""
    left_out: tuple[str, ...] = ()
    has_data: bool = False  # code of the site has put data into it
    begun: str | None = None  # of a first step: what the run begins with, as JSON

    @property
    def text(self) -> str:
        """The text as the model gets it."""
        return SEPARATOR.join(part.text for part in self.parts)

    @property
    def stable_chars(self) -> int:
        """The length of its beginning that is the same on all pages of a module."""
        return len(SEPARATOR.join(p.text for p in self.parts if p.is_cacheable))

    @property
    def tokens(self) -> int:
        """About how many tokens all of it has."""
        return sum(part.tokens for part in self.parts) + self.tools_tokens

    @property
    def tools_tokens(self) -> int:
        """About how many tokens the tools have."""
        return -(-len(self.tools) // CHARS_PER_TOKEN)


def shown(
    prompt: Prompt, tools: Iterable[JSON], begun: Begun | None = None
) -> ShownPrompt:
    """Return a prompt for who looks at it, without secrets."""
    _known.keep_if_of(rules())
    return ShownPrompt(
        parts=tuple(map(_shown_part, prompt.parts)),
        tools=_as_json(tools),
        left_out=prompt.left_out,
        has_data=any(map(_is_data_of_site, prompt.parts)),
        begun=None if begun is None else _begun_json(begun),
    )


def _is_data_of_site(part: PromptPart) -> bool:
    """Return whether code of the site has put data there; what a page shows is known."""
    return part.label == "data" and part.source != OWN


def record_prompt(run: Run, prompt: ShownPrompt) -> dict[str, JSON]:
    """
    Store the texts of a prompt; return what its step keeps. Requires the lease.

    Nothing of one that is not known.
    """
    if not prompt.parts:
        return {}
    texts: dict[str, str] = {}
    parts = [
        {
            "id": part.id,
            "source": part.source,
            "text": _digest(part.text, texts),
            "cacheable": part.is_cacheable,
        }
        for part in prompt.parts
    ]
    kept: dict[str, JSON] = {
        "parts": parts,
        TOOLS: _digest(prompt.tools, texts),
        "left_out": [*prompt.left_out],
        **({HAS_DATA: True} if prompt.has_data else {}),
    }
    if prompt.begun is not None:
        kept[BEGUN] = _digest(prompt.begun, texts) if prompt.begun else ""
    _insert(run, texts)
    return kept


def _insert(run: Run, texts: Mapping[str, str]) -> None:
    """Store texts by their digests; those that are there already stay."""
    options: Any = PromptText._meta
    owner, column = map(options.get_field, ("conversation", "text"))
    own = owner.get_db_prep_save(run.conversation_id, connection)
    arguments: list[Any] = []
    for digest, text in texts.items():
        arguments += (own, digest, column.get_db_prep_save(text, connection))
    with connection.cursor() as cursor:
        cursor.execute(INSERT.format(", ".join([ROW] * len(texts))), arguments)


def stored_prompt(step: Step) -> ShownPrompt | None:
    """Return the prompt of a step; None if it has none, as of before this was kept."""
    kept = step.prompt
    if not kept:
        return None
    digests = [kept[TOOLS], *(part["text"] for part in kept["parts"])]
    texts = _texts(step, digests)
    parts = [
        ShownPart(
            id=part["id"],
            source=part["source"],
            text=texts.get(part["text"], ""),
            is_cacheable=part["cacheable"],
        )
        for part in kept["parts"]
    ]
    return ShownPrompt(
        parts=tuple(parts),
        tools=texts.get(kept[TOOLS], ""),
        left_out=tuple(kept["left_out"]),
    )


def _texts(step: Step, digests: Iterable[str]) -> Mapping[str, str]:
    rows = PromptText.objects.filter(
        conversation_id=step.run.conversation_id, digest__in=set(digests)
    )
    return dict(rows.values_list("digest", "text"))


def _shown_part(part: PromptPart) -> ShownPart:
    return ShownPart(
        id=part.id,
        source=part.source,
        text=_without_secrets(part.text),
        is_cacheable=part.cacheable,
    )


def _as_json(tools: Iterable[JSON]) -> str:
    return _known.tools_text(tuple(tools))


def _begun_json(begun: Begun) -> str:
    values = begun.values()
    return json.dumps(_cleaned(values), sort_keys=True) if values else ""


def _cleaned(value: JSON) -> JSON:
    """Return texts, or a dict of them by names, without secrets."""
    if isinstance(value, dict):
        return {name: _cleaned(text) for name, text in value.items()}
    return _without_secrets(value) if isinstance(value, str) else value


def _without_secrets(text: str) -> str:
    """Redact a text; most parts of a prompt, and its tools, come again and again."""
    return _known.redacted(text)


class _Known:
    """Texts that were redacted, until what is looked for in them changes."""

    def __init__(self) -> None:
        self._rules: tuple[object, ...] = ()
        self._forget()

    def keep_if_of(self, now: tuple[object, ...]) -> None:
        """Forget them if other rules hold now."""
        if now != self._rules:
            self._rules = now
            self._forget()

    def tools_text(self, tools: tuple[JSON, ...]) -> str:
        """
        Return schemas of tools as JSON without secrets.

        Each is made once in a process, so the same tools are the same objects: as
        long as they are kept here, nothing else has their ids.
        """
        known, key = self._tools, tuple(map(id, tools))
        if (found := known.get(key)) is None:
            text = redact(json.dumps(tools, ensure_ascii=False))
            if len(known) >= CACHED_TOOLS:
                known.clear()
            found = known[key] = (tools, text)
        return found[1]

    def _forget(self) -> None:
        # Other caches: a thread that is at work still fills the ones before.
        self.redacted = lru_cache(maxsize=CACHED)(redact)
        self._tools: dict[tuple[int, ...], tuple[tuple[JSON, ...], str]] = {}


_known = _Known()


def _digest(text: str, texts: dict[str, str]) -> str:
    """Return the digest of a text, and note the text by it."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    texts[digest] = text
    return digest
