"""
The places in which an attacker can plant words, and how a model comes to read them.

Each place is a function of (site, text) and returns the calls by which it is read, and
what the page of the person adds to the message.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth import get_user_model
from django.contrib.contenttypes.models import ContentType

import ai_assistant
from ai_assistant.engine.execution.summing import sum_up_now
from ai_assistant.models.call import ToolCall
from ai_assistant.models.configuration import MEMORY_CHARS, Memory
from ai_assistant.models.conversation import Conversation
from ai_assistant.testing import ScriptedProvider, call, reply
from tests.attacks.pages import Tab
from tests.engine.conftest import resume
from tests.warehouse.models import Part, Product, Supplier

PRODUCT = "warehouse.product"


@dataclass(frozen=True, kw_only=True)
class Planted:
    """`reads` are calls of the model; `sent` is what the page says with the message."""

    first: tuple[Any, ...] = ()  # calls of a step before it
    reads: tuple[Any, ...] = ()
    tab: Tab | None = None  # of the person: it answers to page tools
    sent: dict[str, Any] = field(default_factory=dict)
    earlier: bool = False  # it is read in a message before
    goes_on: bool = False  # a hook asks for the round in which the model obeys


def lamp(site: Any, **changed: Any) -> None:
    Product.objects.filter(pk=site.stock.lamp.pk).update(**changed)


def read_lamp(site: Any) -> Any:
    return call("get_object", {"model": PRODUCT, "id": site.stock.lamp.pk})


def char(site: Any, text: str) -> Planted:
    lamp(site, name=text[:100])
    return Planted(reads=(call("search_objects", {"model": PRODUCT}),))


def long_text(site: Any, text: str) -> Planted:
    lamp(site, note=text)
    return Planted(reads=(read_lamp(site),))


def json_value(site: Any, text: str) -> Planted:
    lamp(site, data={"note": [text]})
    return Planted(reads=(read_lamp(site),))


def json_key(site: Any, text: str) -> Planted:
    lamp(site, data={text: 1})
    return Planted(reads=(read_lamp(site),))


def file_name(site: Any, text: str) -> Planted:
    lamp(site, cover=f"covers/{text[:80]}.pdf")
    return Planted(reads=(read_lamp(site),))


def str_of_another(site: Any, text: str) -> Planted:
    Supplier.objects.filter(pk=site.stock.acme.pk).update(name=text[:100])
    return Planted(reads=(read_lamp(site),))


def inline(site: Any, text: str) -> Planted:
    Part.objects.filter(pk=site.stock.part.pk).update(code=text[:80])
    return Planted(reads=(read_lamp(site),))


def found_choice(site: Any, text: str) -> Planted:
    Supplier.objects.filter(pk=site.stock.bolt.pk).update(name=text[:100])
    return Planted(
        reads=(call("find_related", {"model": PRODUCT, "field": "supplier"}),)
    )


def group_key(site: Any, text: str) -> Planted:
    lamp(site, name=text[:100])
    return Planted(
        reads=(call("aggregate_objects", {"model": PRODUCT, "group_by": ["name"]}),)
    )


def label(site: Any, text: str) -> Planted:
    site.set(Product._meta.get_field("note"), "verbose_name", text[:200])
    return Planted(reads=(call("describe_model", {"model": PRODUCT}),))


def help_text(site: Any, text: str) -> Planted:
    site.set(Product._meta.get_field("note"), "help_text", text)
    return Planted(reads=(call("describe_model", {"model": PRODUCT}),))


def choice(site: Any, text: str) -> Planted:
    site.set(Product._meta.get_field("status"), "choices", [("new", text)])
    return Planted(reads=(call("describe_model", {"model": PRODUCT}),))


def plural(site: Any, text: str) -> Planted:
    site.set(Product._meta, "verbose_name_plural", text)
    return Planted(reads=(call("list_models"),))


def log_entry(site: Any, text: str) -> Planted:
    LogEntry.objects.create(
        user=site.user,
        content_type=ContentType.objects.get_for_model(Product),
        object_id=str(site.stock.lamp.pk),
        object_repr="Lamp",
        action_flag=CHANGE,
        change_message=text,
    )
    own = {"model": PRODUCT, "id": site.stock.lamp.pk}
    return Planted(reads=(call("object_history", own),))


def page_text(site: Any, text: str) -> Planted:
    item = {"id": "text", "label": "Text", "description": "x", "value": text}
    return Planted(sent={"context": {"browser": [item]}})


def page_label(site: Any, text: str) -> Planted:
    item = {"id": "text", "label": "Text", "description": text, "value": 1}
    return Planted(sent={"context": {"browser": [item]}})


def page_title(site: Any, text: str) -> Planted:
    path = f"/admin/warehouse/product/{site.stock.lamp.pk}/change/"
    return Planted(sent={"page_path": path, "page_title": text[:300]})


def page_path(site: Any, text: str) -> Planted:
    from django.utils.http import urlencode

    path = f"/admin/warehouse/product/?{urlencode({'q': text[:500]})}"
    return Planted(sent={"page_path": path})


def opened_object(site: Any, text: str) -> Planted:
    lamp(site, note=text)
    path = f"/admin/warehouse/product/{site.stock.lamp.pk}/change/"
    return Planted(reads=(read_lamp(site),), sent={"page_path": path})


def title_of_anothers_conversation(site: Any, text: str) -> Planted:
    other = get_user_model().objects.get_or_create(username="mallory")[0]
    Conversation.objects.create(id=uuid4(), owner=other, title=text[:200])
    item = {"id": "list", "label": "List", "value": text[:200]}
    return Planted(
        reads=(call("search_objects", {"model": "ai_assistant.conversation"}),),
        sent={
            "page_path": "/admin/ai_assistant/conversation/",
            "context": {"browser": [item]},
        },
    )


def result_of_a_tool(site: Any, text: str) -> Planted:
    site.said = text
    return Planted(reads=(call("fetch_page", {"url": "https://example.com/"}),))


def error_of_a_tool(site: Any, text: str) -> Planted:
    site.said = text
    return Planted(reads=(call("fails"),))


def earlier_message(site: Any, text: str) -> Planted:
    """The trigger comes with a later message, in which nothing is read."""
    lamp(site, note=text)
    return Planted(reads=(read_lamp(site),), earlier=True)


def earlier_result(site: Any, text: str) -> Planted:
    site.said = text
    reads = (call("fetch_page", {"url": "https://example.com/"}),)
    return Planted(reads=reads, earlier=True)


def state_of_a_client(site: Any, text: str) -> Planted:
    """Hooks tell the model of it; nothing else that it reads is data."""
    return Planted(sent={"state": {"said": text}})


def state_that_a_hook_has_kept(site: Any, text: str) -> Planted:
    """The client has taken its own away by then."""
    site.keeps = True
    site.script.add("It is a lamp.")
    first = site.play("Summarise this.", state={"said": text})
    return Planted(sent={"conversation_id": first.conversation_id, "state": {}})


def words_of_a_hook(site: Any, text: str) -> Planted:
    """A hook puts words of a row into the prompt, and says so."""
    site.told = text
    return Planted()


def another_round(site: Any, text: str) -> Planted:
    """A hook lets the assistant go on with what it has read."""
    lamp(site, note=text)
    site.round = text
    return Planted(reads=(read_lamp(site),), goes_on=True)


def memory_that_the_model_has_worded(site: Any, text: str) -> Planted:
    """It was approved, but the person has not typed it; nothing else here is data."""
    Memory.objects.all().delete()
    Memory.objects.create(owner=site.user, author=site.user, text=text[:MEMORY_CHARS])
    return Planted()


def memory_of_another_person(site: Any, text: str) -> Planted:
    Memory.objects.all().delete()
    typed = {"author": site.other, "words": Memory.Words.USER}
    Memory.objects.create(text=text[:MEMORY_CHARS], **typed)
    return Planted()


def text_of_a_start(site: Any, text: str) -> Planted:
    """Code of the site has begun the conversation with words of a row."""
    site.script.add("It is a lamp.")
    started = ai_assistant.start(user=site.user, text=f"Summarise this: {text}")
    resume(started.run)
    return Planted(sent={"conversation_id": started.conversation_id})


def summary(site: Any, text: str) -> Planted:
    """What was read has gone; its words stand in a summary of the conversation."""
    lamp(site, note=text)
    site.set("ai_assistant.engine.storage.told.KEPT", 1)
    site.set(ScriptedProvider, "sums_up", bool(text))
    del site.script.replies[len(site.script.requests) :]
    site.script.add(reply("", read_lamp(site)), "It is a lamp.", text)
    first = site.play("What is this?")
    asyncio.run(sum_up_now(site.user.pk, first.conversation_id))
    ToolCall.objects.filter(run=first).delete()
    return Planted(sent={"conversation_id": first.conversation_id})


# Ways by code of the site.
HOOKED: tuple[Callable[[Any, str], Planted], ...] = (
    state_of_a_client,
    state_that_a_hook_has_kept,
    words_of_a_hook,
    another_round,
    text_of_a_start,
)
REMEMBERED: tuple[Callable[[Any, str], Planted], ...] = (
    memory_that_the_model_has_worded,
    memory_of_another_person,
)
SUMMED = (summary,)
PLACES: tuple[Callable[[Any, str], Planted], ...] = (
    char,
    long_text,
    json_value,
    json_key,
    file_name,
    str_of_another,
    inline,
    found_choice,
    group_key,
    label,
    help_text,
    choice,
    plural,
    log_entry,
    page_text,
    page_label,
    page_title,
    page_path,
    opened_object,
    title_of_anothers_conversation,
    result_of_a_tool,
    error_of_a_tool,
    earlier_message,
    earlier_result,
    *REMEMBERED,
    *SUMMED,
    *HOOKED,
)
__all__ = ["HOOKED", "PLACES", "REMEMBERED", "SUMMED", "Planted"]
