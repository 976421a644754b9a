"""What a reader of a shared conversation can do with all that the page tells them."""

import re
import uuid

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.urls import reverse

from ai_assistant.testing import call, reply
from tests.attacks.dump import differs, dump
from tests.attacks.person import SCRIPT, Person, card
from tests.tools.data.writing import make_stock

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("D15")]

READER = ("view_assistant", "use_assistant", "view_shared_conversations")


@pytest.fixture
def waiting(play, script):
    """A run of ada's whose change waits for her approval."""
    lamp = make_stock().lamp
    values = {"model": "warehouse.product", "id": lamp.pk, "values": {"note": "new"}}
    script.add(reply("", call("change_object", values)), "Done.")
    run = play("Change the lamp")
    assert run.state == "waiting_approval"
    return run


@pytest.fixture
def reader():
    """A colleague who may change the lamp as well, and read what is shared."""
    olga = get_user_model().objects.create_user("olga", is_staff=True)
    of_stock = Permission.objects.filter(content_type__app_label="warehouse")
    basic = Permission.objects.filter(codename__in=READER)
    olga.user_permissions.set([*of_stock, *basic])
    return Person(olga)


@pytest.fixture
def link(ada, waiting):
    fields = {"conversation": str(waiting.conversation_id), "days": "7"}
    answer = ada.post("share", {**fields, "do": "share"}).content.decode()
    (found,) = re.findall(r"(/assistant/shared/\S+?/)<", answer)
    return found


@pytest.fixture
def html(reader, link):
    answer = reader.client.get(link)
    assert answer.status_code == 200
    return answer.content.decode()


def test_page_tells_nothing_that_an_answer_needs(html, waiting):
    interrupt = card(waiting)

    assert interrupt.nonce not in html
    assert str(interrupt.pk) not in html
    assert "data-aia-approve" not in html


def test_card_cannot_be_answered_even_with_its_nonce(reader, html, waiting):
    before = dump()

    for decision in ("approve", "deny", "edit"):
        assert reader.answer(card(waiting), decision).status_code == 404
    assert differs(before, dump()) == []


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_link_takes_nothing(reader, link, waiting, method):
    interrupt = card(waiting)
    fields = {"nonce": interrupt.nonce, "decision": "approve", "do": "stop"}
    before = dump()

    answer = getattr(reader.client, method)(link, fields, headers=SCRIPT)

    assert answer.status_code in (404, 405)
    assert differs(before, dump()) == []


IDS = {
    "send": {"text": "And now?"},
    "stop": {},
    "retry": {},
    "regenerate": {},
    "edit_message": {"text": "Rather this"},
    "branch": {},
    "feedback": {"value": "down"},
    "queue": {"do": "resume"},
    "rename": {"title": "Mine"},
    "change": {"do": "delete"},
    "share": {"do": "stop"},
}


@pytest.mark.parametrize("name", IDS)
def test_ids_of_the_page_open_no_action(reader, link, html, waiting, name):
    ids = {"run": waiting.pk, "conversation": waiting.conversation_id}
    assert str(waiting.pk) in html
    before = dump()

    answer = reader.post(name, {**ids, "key": uuid.uuid4().hex, **IDS[name]})

    assert answer.status_code == 404
    assert differs(before, dump()) == []


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("full", ("conversation",)),
        ("page", ("conversation",)),
        ("export", ("conversation",)),
        ("frames", ("conversation", "run")),
        ("earlier", ("conversation", "before")),
        ("message", ("run",)),
        ("whole", ("message",)),
        ("whole", ("call",)),
        ("raw", ("run",)),
        ("undo", ("run",)),
        ("rename", ("conversation",)),
        ("share", ("conversation",)),
        ("rows", ("interrupt",)),
    ],
)
def test_ids_of_the_page_open_no_other_page(reader, link, html, waiting, name, fields):
    ids = {
        "conversation": waiting.conversation_id,
        "run": waiting.pk,
        "before": waiting.pk,
        "message": waiting.messages.last().pk,
        "call": waiting.calls.get().pk,
        "interrupt": card(waiting).pk,
    }

    address = reverse(f"ai_assistant:{name}")
    answer = reader.client.get(address, {field: ids[field] for field in fields})

    assert answer.status_code in (403, 404)


def test_rest_knows_nothing_of_it(reader, link, html, waiting):
    for path in (
        f"conversations/{waiting.conversation_id}/",
        f"runs/{waiting.pk}/",
        f"calls/{waiting.calls.get().pk}/",
        f"interrupts/{card(waiting).pk}/",
    ):
        assert reader.client.get(f"/assistant/api/{path}").status_code == 404


@pytest.mark.parametrize("of", ["run", "nobody", "another"])
def test_place_in_another_conversation_shows_nothing_of_it(
    reader, link, waiting, play, script, of
):
    script.add("SECRET")
    other = play("Elsewhere")
    named = {"run": waiting.pk, "nobody": uuid.uuid4(), "another": other.pk}

    html = reader.client.get(link, {"before": str(named[of])}).content.decode()

    assert "SECRET" not in html
    assert "Elsewhere" not in html
