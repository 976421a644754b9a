"""A conversation that is shared: its link, who may read, and what they see of rows."""

# ruff: noqa: F811 - the arguments of tests are fixtures

import logging
import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from ai_assistant.engine.intake.submission import accept
from ai_assistant.models import Conversation, Message, Run, Share
from ai_assistant.models.audit import AuditEntry
from ai_assistant.render.html.transcript.shared import DRAWN_RUNS
from ai_assistant.safety.audit import seal_all, verify
from ai_assistant.safety.identity.tokens import find_token
from ai_assistant.testing import call, reply
from tests.attacks.person import Person, go_on
from tests.engine.conftest import (  # noqa: F401 - fixtures of this module too
    function_model,
    given_out,
    offer,
    options,
    play,
    script,
    submission,
    user,
)
from tests.tools.data.writing import make_stock
from tests.warehouse.admin import ProductAdmin
from tests.warehouse.models import Product
from tests.web.ways import counted

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("D15")]

MODEL = "warehouse.product"
WITHHELD = "You may not see this."
READER = ("view_assistant", "use_assistant", "view_shared_conversations")
SCRIPT = {"HX-Request": "true"}


@pytest.fixture
def owner(user):
    return Person(user)


@pytest.fixture
def reader():
    """Return a colleague who has some permissions: `reader("view_product")`."""

    def make(*codes, basic=READER, name="nora", **fields):
        colleague = get_user_model().objects.create_user(
            name, **{"is_staff": True, **fields}
        )
        colleague.user_permissions.set(
            Permission.objects.filter(codename__in=[*basic, *codes])
        )
        return Person(colleague)

    return make


@pytest.fixture
def stock():
    return make_stock()


@pytest.fixture
def ask(play, script):
    """Let the assistant call a tool, and answer."""

    def send(name, arguments, answer="It is a lamp.", **fields):
        script.add(reply("", call(name, arguments)), answer)
        return play("Which lamps?", **fields)

    return send


@pytest.fixture
def searched(stock, ask):
    """A run that has found the lamp."""
    fields = ["name", "note", "supplier", "price"]
    return ask(
        "search_objects",
        {"model": MODEL, "filters": {"name": "Lamp"}, "fields": fields},
    )


def post(person, run, does="share", days="30", headers=SCRIPT):
    fields = {"conversation": str(run.conversation_id), "do": does, "days": days}
    return person.client.post(reverse("ai_assistant:share"), fields, headers=headers)


def shared(person, run, **said):
    """Share the conversation of a run; return the path of its link."""
    response = post(person, run, **said)
    assert response.status_code == 200
    (link,) = re.findall(
        r"http://testserver(/assistant/shared/\S+?/)<", response.content.decode()
    )
    return link


def opened(person, link):
    response = person.client.get(link)
    assert response.status_code == 200
    return response.content.decode()


def copy_run(run, after):
    """Store a run once more, after another one."""
    copied = Run.objects.get(pk=run.pk)
    copied.pk, copied.after, copied.idempotency_key = uuid4(), after, uuid4().hex
    copied.save(force_insert=True)
    ids = {str(pk): uuid4() for pk in run.calls.values_list("pk", flat=True)}
    own = {}
    for message in run.messages.all():
        own[message.pk] = message.pk = uuid4()
        message.run, message.key = copied, ""
        for part in message.parts:
            if part["type"] == "call":
                part["call_id"] = str(ids[part["call_id"]])
        Message.objects.append(message)
    for step in run.steps.all():
        calls = list(step.calls.all())
        step.pk, step.run, step.message_id = None, copied, own[step.message_id]
        step.save(force_insert=True)
        for one in calls:
            one.pk, one.run, one.step = ids[str(one.pk)], copied, step
            one.save(force_insert=True)
    return copied


def actions():
    entries = AuditEntry.objects.order_by("pk").values_list("action", "user_name")
    return [one for one in entries if one[0].startswith("conversation.")]


class TestLink:
    def test_colleague_reads_what_was_said(self, owner, reader, searched):
        html = opened(reader(), shared(owner, searched))

        assert "Which lamps?" in html
        assert "It is a lamp." in html
        assert "ada shares this conversation with you" in html

    def test_token_is_shown_once_and_stored_as_its_digest(self, owner, searched):
        token = shared(owner, searched).split("/")[-2]
        link = Share.objects.get()

        address = reverse("ai_assistant:share")
        again = owner.client.get(address, {"conversation": searched.conversation_id})
        assert "Shared since:" in again.content.decode()
        assert token not in again.content.decode()
        assert token not in str(vars(link))
        assert len(token) == 47

    def test_new_link_ends_the_old_one(self, owner, reader, searched):
        colleague = reader()
        first, second = shared(owner, searched), shared(owner, searched)

        assert colleague.client.get(first).status_code == 404
        assert colleague.client.get(second).status_code == 200

    @pytest.mark.parametrize(("days", "left"), [("30", 30), ("1", 1), ("0", None)])
    def test_link_ends_when_its_owner_has_said(self, owner, searched, days, left):
        shared(owner, searched, days=days)

        ends = Share.objects.get().expires_at
        expected = left and timezone.now() + timedelta(days=left)
        assert (ends and abs(ends - expected) < timedelta(minutes=5)) == (left and True)

    @pytest.mark.parametrize("days", ["", "2", "-1", "x", "٣"])
    def test_link_for_other_days_is_refused(self, owner, searched, days):
        assert "aia_" not in post(owner, searched, days=days).content.decode()
        assert not Share.objects.exists()

    def test_owner_sees_that_it_is_shared(self, owner, searched):
        before = owner.client.get(reverse("ai_assistant:conversations"))
        shared(owner, searched)
        listed = owner.client.get(reverse("ai_assistant:conversations"))
        panel = owner.client.get(
            reverse("ai_assistant:full"), {"conversation": searched.conversation_id}
        )

        assert ">Shared<" not in before.content.decode()
        assert "<small>Shared</small>" in listed.content.decode()
        assert re.search(r'<span id="aia-shared"[^>]*>Shared<', panel.content.decode())

    def test_answer_marks_the_list_and_the_open_conversation(self, owner, searched):
        owner.client.cookies["aia_ui"] = ""
        html = post(owner, searched).content.decode()

        assert f'id="h-{searched.conversation_id}"' in html
        assert "data-aia-hx-swap-oob" in html

    def test_link_without_javascript_is_a_page(self, owner, searched):
        response = post(owner, searched, headers={})

        assert "/assistant/shared/aia_" in response.content.decode()
        assert "<h2>Share this conversation</h2>" in response.content.decode()

    def test_link_is_in_no_search_engine_cache_or_referer(
        self, owner, reader, searched
    ):
        response = reader().client.get(shared(owner, searched))

        assert response["Referrer-Policy"] == "no-referrer"
        assert response["Cache-Control"] == "private, no-store"

    def test_page_has_no_panel_that_would_tell_its_address(
        self, owner, reader, searched, settings
    ):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "PANEL": {"VIEWS": ["*"]}}
        link = shared(owner, searched)
        html = opened(reader(), link)

        assert "aia-boot" not in html
        assert link not in html


class TestWhoReads:
    def test_owner_reads_it_too(self, owner, searched):
        assert "It is a lamp." in opened(owner, shared(owner, searched))

    @pytest.mark.parametrize(
        ("basic", "fields"),
        [
            ((), {}),
            (("view_assistant", "use_assistant"), {}),
            (("view_assistant", "view_shared_conversations"), {}),
            (("use_assistant", "view_shared_conversations"), {}),
            (READER, {"is_staff": False}),
        ],
    )
    def test_nobody_else_learns_that_it_exists(
        self, owner, reader, searched, basic, fields
    ):
        other = reader(basic=basic, **fields)
        right = other.client.get(shared(owner, searched))
        wrong = other.client.get("/assistant/shared/aia_" + "x" * 43 + "/")

        assert (right.status_code, wrong.status_code) == (404, 404)
        assert right.content == wrong.content
        assert [*right.headers] == [*wrong.headers]

    def test_staff_only_however_open_the_site_is(
        self,
        owner,
        reader,
        searched,
        options,
    ):
        options(STAFF_ONLY=False)

        other = reader(is_staff=False)
        assert other.client.get(shared(owner, searched)).status_code == 404

    def test_signed_out_person_signs_in_first(self, owner, searched):
        link = shared(owner, searched)
        answers = [Client().get(one) for one in (link, link.replace("aia_", "aiax"))]

        assert [one.status_code for one in answers] == [302, 302]
        assert answers[0]["Location"].startswith("/admin/login/")

    def test_wrong_links_lead_nowhere(self, owner, reader, searched):
        link, colleague = shared(owner, searched), reader()
        token = link.split("/")[-2]
        digest, conversation = Share.objects.get().digest, searched.conversation_id

        for wrong in (
            token[:-1],
            token.upper(),
            digest,
            str(conversation),
            "%00",
            "x" * 9000,
        ):
            answer = colleague.client.get(f"/assistant/shared/{wrong}/")
            assert answer.status_code == 404

    def test_ended_link_leads_nowhere(self, owner, reader, searched):
        link, colleague = shared(owner, searched), reader()
        assert (
            "The link no longer works" in post(owner, searched, "stop").content.decode()
        )

        assert colleague.client.get(link).status_code == 404
        assert not Share.objects.exists()

    def test_expired_link_leads_nowhere(self, owner, reader, searched):
        link = shared(owner, searched)
        Share.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

        assert reader().client.get(link).status_code == 404
        listed = owner.client.get(reverse("ai_assistant:conversations"))
        assert ">Shared<" not in listed.content.decode()

    def test_link_to_a_deleted_conversation_leads_nowhere(
        self, owner, reader, searched
    ):
        link, colleague = shared(owner, searched), reader()
        fields = {"conversation": str(searched.conversation_id), "do": "delete"}
        owner.post("change", fields)

        assert colleague.client.get(link).status_code == 404
        Conversation.objects.all().delete()
        assert colleague.client.get(link).status_code == 404
        assert not Share.objects.exists()

    def test_link_of_who_may_no_longer_share_leads_nowhere(
        self, owner, reader, searched
    ):
        link, colleague = shared(owner, searched), reader()
        get_user_model().objects.filter(pk=owner.user.pk).update(is_superuser=False)
        assert colleague.client.get(link).status_code == 404

        get_user_model().objects.filter(pk=owner.user.pk).update(
            is_superuser=True, is_active=False
        )
        assert colleague.client.get(link).status_code == 404

    def test_sharing_needs_its_own_permission(self, searched, reader, submission):
        other = reader()
        accepted = accept(submission(user_id=other.user.pk))
        run = Run.objects.get(pk=accepted.run_id)

        assert "You may not share" in post(other, run).content.decode()
        address = reverse("ai_assistant:share")
        looked = other.client.get(address, {"conversation": run.conversation_id})
        assert looked.status_code == 400
        listed = other.client.get(reverse("ai_assistant:conversations"))
        assert address not in listed.content.decode()
        assert not Share.objects.exists()

    def test_sharing_a_conversation_of_others_is_refused(self, owner, searched, reader):
        shared(owner, searched)
        other = reader("share_conversation")

        assert post(other, searched).status_code == 404
        assert post(other, searched, "stop").status_code == 404
        assert Share.objects.count() == 1

    def test_link_while_the_assistant_is_off(self, owner, reader, searched, options):
        link, colleague = shared(owner, searched), reader()
        options(ENABLED=False)

        assert colleague.client.get(link).status_code == 404


class TestRecord:
    def test_sharing_each_reading_and_the_end_are_recorded(
        self, owner, reader, searched
    ):
        link, colleague = shared(owner, searched), reader()
        opened(colleague, link)
        opened(colleague, link)
        post(owner, searched, "stop")
        colleague.client.get(link)

        assert actions() == [
            ("conversation.shared", "ada"),
            ("conversation.read", "nora"),
            ("conversation.read", "nora"),
            ("conversation.unshared", "ada"),
        ]
        seal_all()
        assert not verify().findings

    def test_token_is_in_no_record_and_no_log(self, owner, reader, searched, caplog):
        caplog.set_level(logging.DEBUG)
        link, colleague = shared(owner, searched), reader()
        opened(colleague, link)
        Share.objects.all().delete()
        assert colleague.client.get(link).status_code == 404

        token = link.split("/")[-2]
        assert token not in caplog.text
        assert token not in str([*AuditEntry.objects.values_list("details", flat=True)])

    def test_token_opens_no_other_door(self, owner, reader, searched):
        token = shared(owner, searched).split("/")[-2]
        bearer = {"Authorization": f"Bearer {token}"}

        api = Client().get("/assistant/api/conversations/", headers=bearer)
        assert api.status_code in (401, 403)
        assert find_token(token) is None  # AG-UI asks the same


class TestWords:
    def test_words_of_messages_stay_words(self, owner, reader, searched):
        hostile = "<img src=x onerror=alert(1)><script>alert(2)</script>"
        image = "![x](http://evil.example/a.png)"
        Conversation.objects.update(title=hostile)
        parts = [{"type": "text", "text": f"{hostile} {image}"}]
        Message.objects.update(parts=parts)

        html = opened(reader(), shared(owner, searched))

        assert "<img" not in html
        assert "<script>alert" not in html
        assert 'src="http://evil.example' not in html

    def test_reasons_of_a_failure_are_not_told(self, owner, reader, searched):
        Run.objects.filter(pk=searched.pk).update(state="failed", error_text="BECAUSE")

        html = opened(reader(), shared(owner, searched))

        assert "BECAUSE" not in html
        assert "This answer was not finished." in html

    def test_long_answer_is_there_to_its_end(self, owner, reader, searched):
        text = "\n\n".join(["word " * 2000] * 30) + "\n\nTHE END"
        message = searched.messages.filter(role="assistant").last()
        message.parts = [{"type": "text", "text": text}]
        message.save()

        html = opened(reader(), shared(owner, searched))

        assert "THE END" in html
        assert "Show all" not in html

    def test_continued_answer_has_no_question_that_nobody_typed(
        self, owner, reader, searched
    ):
        more = copy_run(searched, after=searched)
        Run.objects.filter(pk=more.pk).update(kind="continue")

        html = opened(reader(), shared(owner, more))

        assert html.count('data-role="user"') == 1
        assert html.count('data-role="assistant"') == 2

    def test_question_of_the_assistant_and_its_answer(
        self, owner, reader, play, script
    ):
        script.add(reply("", call("ask_user", {"question": "Which colour?"})), "Fine.")
        run = play("Paint it")
        interrupt = run.interrupts.get()
        owner.post(
            "answer",
            {"interrupt": interrupt.pk, "nonce": interrupt.nonce, "answer": "Green"},
        )
        run = go_on(run)

        html = opened(reader(), shared(owner, run))

        assert "Which colour?" in html
        assert "Green" in html
        assert WITHHELD not in html


class TestRights:
    def test_who_may_view_all_sees_the_rows(self, owner, reader, searched):
        html = opened(reader("view_product", "view_supplier"), shared(owner, searched))

        assert "Searched products: 1 found" in html
        assert "kept blanks" in html
        assert "Acme" in html
        assert WITHHELD not in html

    def test_who_may_not_view_the_model_sees_nothing_of_it(
        self, owner, reader, searched
    ):
        html = opened(reader(), shared(owner, searched))

        assert WITHHELD in html
        for said in ("kept blanks", "Acme", "1 found", "Lamp</a>"):
            assert said not in html

    def test_related_row_is_named_only_to_who_may_view_it(
        self, owner, reader, searched
    ):
        html = opened(reader("view_product"), shared(owner, searched))

        assert "kept blanks" in html
        assert "Acme" not in html

    def test_one_row_that_the_admin_leaves_out_hides_the_result(
        self, owner, reader, stock, ask, monkeypatch
    ):
        run = ask("search_objects", {"model": MODEL, "fields": ["name", "note"]})
        link, colleague = shared(owner, run), reader("view_product", "view_supplier")
        own = ProductAdmin.get_queryset

        def limited(self, request):
            rows = own(self, request)
            return rows if request.user.is_superuser else rows.exclude(name="Chair")

        monkeypatch.setattr(ProductAdmin, "get_queryset", limited)
        html = opened(colleague, link)

        assert WITHHELD in html
        assert "kept blanks" not in html
        assert "Chair" not in html
        assert "Chair" in opened(owner, link)

    def test_number_of_rows_is_told_only_to_who_sees_them(
        self, owner, reader, stock, ask
    ):
        run = ask("search_objects", {"model": MODEL, "page_size": 1})
        html = opened(reader("view_product"), shared(owner, run))

        assert not re.search(r"\d found", html)
        assert WITHHELD in html

    def test_field_that_has_become_sensitive_is_left_out(
        self,
        owner,
        reader,
        searched,
        options,
    ):
        link, colleague = shared(owner, searched), reader("view_product")
        options(DATA={"SENSITIVE": ["warehouse.product.note"]})
        html = opened(colleague, link)

        assert "kept blanks" not in html
        assert "Lamp" in html

    def test_field_that_the_reader_s_form_lacks_is_left_out(
        self, owner, reader, searched, monkeypatch
    ):
        def own(self, request, obj=None):
            return ("margin",) if request.user.is_superuser else ("margin", "note")

        monkeypatch.setattr(ProductAdmin, "get_exclude", own)
        html = opened(reader("view_product"), shared(owner, searched))

        assert "kept blanks" not in html
        assert "Lamp" in html

    def test_words_of_a_search_may_come_from_elsewhere(self, owner, reader, stock, ask):
        run = ask("get_object", {"model": MODEL, "id": stock.lamp.pk})
        html = opened(reader("view_product"), shared(owner, run))

        assert "Opened Lamp" in html
        assert '"id"' not in html  # what was asked for

    def test_results_of_the_site_s_own_tools_are_unknown(
        self,
        owner,
        reader,
        offer,
        ask,
    ):
        def peek(text: str) -> dict:
            """Peek."""
            return {
                "model": MODEL,
                "id": 1,
                "text": "SECRET",
                "fields": {"name": "SECRET"},
            }

        offer(peek)
        run = ask("peek", {"text": "ASKED"})
        everything = reader(is_superuser=True)
        html = opened(everything, shared(owner, run))

        assert WITHHELD in html
        assert "SECRET" not in html
        assert "ASKED" not in html

    def test_failure_of_a_call_is_not_told(self, owner, reader, stock, ask):
        run = ask("get_object", {"model": MODEL, "id": 987654})
        html = opened(reader(is_superuser=True), shared(owner, run))

        assert 'data-status="failed"' in html
        assert "987654" not in html

    def test_reasoning_and_hooks_are_not_shown(self, owner, reader, searched):
        message = searched.messages.filter(role="assistant").last()
        message.parts = [{"type": "reasoning", "text": "PONDERED"}, *message.parts]
        message.save()
        asked = searched.messages.get(role="user")
        asked.origin = "hook"
        asked.save()
        Conversation.objects.update(title="")
        html = opened(reader(), shared(owner, searched))

        assert "PONDERED" not in html
        assert "Which lamps?" not in html
        assert "It is a lamp." in html


class TestChanges:
    @pytest.fixture
    def changed(self, owner, stock, ask):
        """A run that has changed the lamp, as its owner has approved."""
        run = ask(
            "change_object",
            {"model": MODEL, "id": stock.lamp.pk, "values": {"note": "by the window"}},
        )
        owner.answer_all(run)
        run = go_on(run)
        assert run.state == "succeeded"
        return run

    def test_change_and_what_was_shown(self, owner, reader, changed):
        html = opened(reader("view_product"), shared(owner, changed))

        assert html.count("by the window") >= 2  # what was shown, and what was done
        assert "Approved" in html
        assert "You approved" not in html
        assert WITHHELD not in html

    def test_change_of_a_row_that_is_not_seen(self, owner, reader, changed):
        html = opened(reader(), shared(owner, changed))

        assert "by the window" not in html
        assert "kept blanks" not in html
        assert html.count(WITHHELD) == 2

    def test_change_of_a_field_that_is_not_seen(
        self,
        owner,
        reader,
        changed,
        options,
    ):
        options(DATA={"SENSITIVE": ["warehouse.product.note"]})
        html = opened(reader("view_product"), shared(owner, changed))

        assert "by the window" not in html
        assert WITHHELD in html

    def test_relation_is_named_only_to_who_may_view_all(
        self, owner, reader, stock, ask
    ):
        values = {"supplier": stock.bolt.pk}
        run = ask(
            "change_object", {"model": MODEL, "id": stock.lamp.pk, "values": values}
        )
        owner.answer_all(run)
        run = go_on(run)
        link = shared(owner, run)

        assert "Bolt" not in opened(reader("view_product"), link)
        colleague = reader("view_product", "view_supplier", name="olga")
        assert "Bolt" in opened(colleague, link)

    def test_row_that_is_gone_is_not_named(self, owner, reader, changed, stock):
        link, colleague = shared(owner, changed), reader(is_superuser=True)
        Product.objects.filter(pk=stock.lamp.pk).delete()
        html = opened(colleague, link)

        assert "by the window" not in html
        assert html.count(WITHHELD) == 2

    def test_page_has_nothing_to_press(self, owner, reader, changed, stock, ask):
        waiting = ask(
            "change_object",
            {"model": MODEL, "id": stock.lamp.pk, "values": {"note": "OPEN"}},
            conversation_id=changed.conversation_id,
        )
        assert waiting.state == "waiting_approval"
        html = opened(reader("view_product"), shared(owner, changed))
        page = html[html.index('id="aia"') : html.index('id="footer"')]

        for tag in (
            "<form",
            "<button",
            "<input",
            "<textarea",
            "<script",
            "data-aia-hx",
        ):
            assert tag not in page
        assert "OPEN" not in page
        assert "Waiting for you" not in page
        assert "This answer is not finished yet." in page


class TestLongConversation:
    @pytest.fixture
    def long(self, searched):
        """The conversation with 99 more runs that have found the lamp."""
        last = searched
        for _ in range(DRAWN_RUNS - 1):
            last = copy_run(searched, after=last)
        return last

    def test_two_hundred_messages_cost_as_many_queries_as_two(
        self, owner, reader, searched, long
    ):
        link, colleague = shared(owner, long), reader("view_product", "view_supplier")
        opened(colleague, link)
        first = Run.objects.get(conversation=long.conversation, after=None)

        Conversation.objects.update(shown_run=first)
        with counted() as of_two:
            assert opened(colleague, link).count('data-role="user"') == 1
        Conversation.objects.update(shown_run=long)
        with counted() as of_all:
            html = opened(colleague, link)

        assert html.count('data-role="user"') == DRAWN_RUNS
        assert html.count("kept blanks") == DRAWN_RUNS
        assert len(of_all.statements) == len(of_two.statements) <= 20

    def test_earlier_ones_are_a_page_away(self, owner, reader, searched, long):
        last = copy_run(searched, after=long)
        link, colleague = shared(owner, last), reader()
        html = opened(colleague, link)

        assert "?before=" in html
        (before,) = re.findall(r"\?before=([\w-]+)", html)
        earlier = opened(colleague, f"{link}?before={before}")
        assert earlier.count('data-role="user"') == 1
        assert "?before=" not in earlier
