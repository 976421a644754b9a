"""A long answer in the panel: its beginning, and a link to the rest."""

import re
import uuid

import pytest
from django.contrib.auth import get_user_model

from ai_assistant.models import Conversation, Message, Run
from ai_assistant.render.html.transcript.growing import Growing
from ai_assistant.render.markdown import part_end

HEAD = "| id | name |\n|---|---|\n"
TABLE = HEAD + "".join(f"| {n} | row-{n}- |\n" for n in range(40_000))

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.broad]


@pytest.fixture
def user():
    return get_user_model().objects.create_superuser("ada", password="x")


@pytest.fixture
def said(user):
    """A finished answer of nearly a million characters."""
    conversation = Conversation.objects.create(owner=user, title="Rows")
    run = Run.objects.create(
        conversation=conversation, user=user, idempotency_key="k", state="succeeded"
    )
    Message.objects.create(
        conversation=conversation,
        run=run,
        position=0,
        role="user",
        parts=[{"type": "text", "text": "All rows"}],
    )
    return Message.objects.create(
        conversation=conversation,
        run=run,
        position=1,
        role="assistant",
        parts=[{"type": "text", "text": TABLE}],
    )


@pytest.fixture
def fetch(client, user):
    client.force_login(user)

    def get(name, **query):
        headers = {"HX-Request": "true"} if name == "panel" else {}
        response = client.get(f"/assistant/{name}/", query, headers=headers)
        return response.status_code, response.content.decode()

    return get


def rows(html):
    return [int(found) for found in re.findall(r"row-(\d+)-", html)]


def test_page_has_the_beginning_and_the_way_to_the_rest(fetch, said):
    _, page = fetch("panel", conversation=str(said.conversation_id))

    assert rows(page) == rows(TABLE[: part_end(TABLE)])
    assert len(page) < 1_000_000
    assert f"/assistant/whole/?message={said.pk}&amp;part=2" in page
    assert "Show all" in page


def test_rest_is_drawn_in_parts(fetch, said):
    drawn, number, count = [], 1, 1
    while number <= count:
        status, page = fetch("whole", message=str(said.pk), part=number)
        assert status == 200
        assert "<th>name</th>" in page
        assert len(page) < 500_000
        count = int(re.search(r"Part \d+ of (\d+)", page)[1])
        drawn += rows(page)
        number += 1

    assert drawn == list(range(40_000))


def test_markdown_is_whole(fetch, said):
    assert fetch("message", run=str(said.run_id))[1] == TABLE.strip()


def test_nobody_else_is_shown_it(fetch, said, client):
    other = get_user_model().objects.create_superuser("eve", password="x")
    client.force_login(other)

    assert fetch("whole", message=str(said.pk), part=1)[0] == 404
    assert fetch("whole", message=str(uuid.uuid4()), part=1)[0] == 404


def test_short_answer_has_no_such_link(fetch, said):
    said.parts = [{"type": "text", "text": "Hello."}]
    said.save()

    assert (
        "whole/?message"
        not in fetch("panel", conversation=str(said.conversation_id))[1]
    )


class TestGrowing:
    def ops(self, growing, text):
        told = []
        for start in range(0, len(text), 3_000):
            growing.extend(text[start : start + 3_000], offset=start, reasoning=False)
            told += growing.ops("parts")
        return told + growing.finish("parts")

    def test_link_comes_once(self):
        told = self.ops(Growing(message_id=str(uuid.uuid4())), TABLE[:150_000])

        assert sum("part=2" in str(op) for op in told) == 1
        assert "-more" in told[-2][2] or "part=2" in str(told)

    def test_growing_costs_nothing_beyond_the_first_part(self):
        growing = Growing(message_id=str(uuid.uuid4()))
        self.ops(growing, TABLE[:150_000])
        growing.extend(TABLE[150_000:160_000], offset=150_000, reasoning=False)

        assert growing.ops("parts") == []

    def test_drawn_anew_it_has_the_link_once(self):
        growing = Growing(message_id=str(uuid.uuid4()), text=TABLE[:150_000])

        (part,) = growing.parts()
        growing.extend(TABLE[150_000:151_000], offset=150_000, reasoning=False)

        assert part["is_cut"]
        assert not [op for op in growing.ops("parts") if "part=2" in str(op)]
