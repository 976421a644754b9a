"""What people have the assistant remember: asked first, in each prompt, and whose words."""

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission

from ai_assistant.configuration.memories import MOST, memories_of
from ai_assistant.models import Memory, Run
from ai_assistant.safety.identity.permissions import fresh_user
from ai_assistant.testing import call, reply
from tests.engine.calls.test_versions import approve
from tests.engine.conftest import resume, said

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("D16")]

LIKES = "I write to customers in French."


def prompt_of(request):
    return request.messages[0]["content"]


def remembering(text=LIKES, **more):
    return reply("", call("save_memory", {"text": text, **more}))


@pytest.fixture
def played(play, script):
    """Have a message answered by a call of `remember`, and approve it."""

    def send(text, *replies, **fields):
        script.add(*replies)
        waiting = play(text, **fields)
        if waiting.state == "waiting_approval":
            approve(waiting)
            return resume(waiting)
        return waiting

    return send


class TestRemember:
    def test_asks_first_and_shows_the_words(self, play, script):
        script.add(remembering())

        run = play(f"Remember that {LIKES}")

        assert run.state == "waiting_approval"
        assert not Memory.objects.exists()
        (shown,) = run.interrupts.get().proposal["objects"]
        told = {field["label"]: field["after"] for field in shown["fields"]}
        assert told == {"Text": LIKES, "For": "you"}

    def test_policy_of_the_site_cannot_leave_the_question_out(
        self, play, script, options
    ):
        options(POLICY={"*": "allow"})
        script.add(remembering())

        assert play(f"Remember that {LIKES}").state == "waiting_approval"

    def test_is_in_the_prompt_of_the_next_conversation(self, played, play, script):
        run = played(f"Remember that {LIKES}", remembering(), "Done.")
        script.add("Oui.")
        play("Hello")

        assert said(run) == "|Done."
        assert LIKES not in prompt_of(script.requests[0])
        assert LIKES in prompt_of(script.requests[-1])

    def test_typed_words_are_the_persons_own(self, played, user):
        played(f"Remember that {LIKES}", remembering(), "Done.")

        memory = Memory.objects.get()
        assert (memory.owner, memory.author, memory.words) == (user, user, "user")

    def test_words_of_the_model_are_data(self, played):
        played("Remember how I write.", remembering(), "Done.")

        assert Memory.objects.get().words == "data"

    @pytest.mark.parametrize("for_whom", ["everyone", "Sales"])
    def test_others_are_for_who_may(self, play, script, staff, for_whom):
        Group.objects.create(name="Sales")
        script.add(remembering(for_whom=for_whom), "I may not.")

        run = play(f"Remember that {LIKES}", user_id=staff.pk)

        assert run.state == "succeeded"
        assert run.calls.get().status == "failed"
        assert not Memory.objects.exists()

    def test_group_is_told_as_data(self, played, play, script, staff):
        group = Group.objects.create(name="Sales")
        staff.groups.add(group)
        played(f"Remember that {LIKES}", remembering(for_whom="Sales"), "Done.")

        script.add("Bon.", "Well.")
        play("Hello", user_id=staff.pk)
        other = get_user_model().objects.create_superuser("bob")
        play("Hello", user_id=other.pk)

        mine, others = script.requests[-2:]
        assert LIKES in prompt_of(mine)
        assert LIKES not in prompt_of(others)
        assert Memory.objects.get().label_for(staff.pk) == "data"

    def test_who_leaves_the_group_is_not_told_any_more(self, staff, user):
        group = Group.objects.create(name="Sales")
        staff.groups.add(group)
        Memory.objects.create(group=group, author=user, text=LIKES)
        assert [one.text for one in memories_of(fresh_user(staff.pk))] == [LIKES]

        staff.groups.clear()

        assert memories_of(fresh_user(staff.pk)) == ()

    def test_group_that_is_none(self, play, script):
        script.add(remembering(for_whom="Nobody"), "There is none.")

        run = play("Remember it.")

        assert "Nobody" in run.calls.get().result["error"]

    def test_is_off_by_setting(self, play, script, options, user):
        Memory.objects.create(owner=user, author=user, text=LIKES)
        options(MEMORY=False)
        script.add(remembering(), "I cannot.")

        run = play("Remember it.")

        assert run.calls.get().status != "complete"
        assert Memory.objects.count() == 1
        assert LIKES not in prompt_of(script.requests[0])

    def test_keys_are_not_kept(self, played, settings):
        settings.SECRET_KEY = "a-secret-key-of-this-site-0123456789"
        text = f"The key is {settings.SECRET_KEY}."
        played("Remember the key.", remembering(text), "Done.")

        assert settings.SECRET_KEY not in Memory.objects.get().text


class TestWords:
    @pytest.fixture
    def writes(self, offer, options):
        def note(text: str) -> str:
            """Note."""
            return text

        offer(note, effect="write")
        options(POLICY={"note": "allow"})

    @pytest.mark.usefixtures("writes")
    def test_memory_made_of_data_has_writes_asked(self, play, script, user):
        Memory.objects.create(owner=user, author=user, text="Note: all is free.")
        script.add(reply("", call("note", {"text": "all is free"})))

        assert play("Hello").state == "waiting_approval"

    @pytest.mark.usefixtures("writes")
    def test_memory_that_was_typed_does_not(self, play, script, user):
        Memory.objects.create(owner=user, author=user, text="x", words="user")
        script.add(reply("", call("note", {"text": "all is free"})), "Done.")

        assert play("Hello").state == "succeeded"

    @pytest.mark.usefixtures("writes")
    def test_memory_of_another_person_is_data_however_typed(self, play, script):
        bob = get_user_model().objects.create_superuser("bob")
        Memory.objects.create(author=bob, text="All is free.", words="user")
        script.add(reply("", call("note", {"text": "all is free"})))

        assert play("Hello").state == "waiting_approval"


class TestPrompt:
    def test_has_the_newest_that_fit_and_names_the_others(self, play, script, user):
        rows = [
            Memory(owner=user, author=user, text=f"Number {number}. " + "x" * 450)
            for number in range(10)
        ]
        Memory.objects.bulk_create(rows)
        script.add("Yes.")

        run = play("Hello")

        prompt = prompt_of(script.requests[0])
        assert "Number 9." in prompt
        assert "Number 0." not in prompt
        left_out = run.steps.get().prompt["left_out"]
        assert f"memory:{rows[0].pk}" in left_out

    def test_of_ten_thousand_the_newest_are_looked_at(self, user):
        Memory.objects.bulk_create(
            Memory(owner=user, author=user, text=str(number))
            for number in range(10_000)
        )

        found = memories_of(user)

        assert len(found) == MOST
        assert found[0].text == "9999"

    def test_asks_the_database_once(self, user, django_assert_num_queries):
        Memory.objects.create(owner=user, author=user, text=LIKES)
        memories_of(user)

        with django_assert_num_queries(0):
            memories_of(user)

    def test_change_is_seen_at_once(self, user):
        memory = Memory.objects.create(owner=user, author=user, text=LIKES)
        assert [one.text for one in memories_of(user)] == [LIKES]
        memory.delete()

        assert memories_of(user) == ()

    def test_another_persons_is_not_there(self, user, staff):
        Memory.objects.create(owner=staff, author=staff, text=LIKES)

        assert memories_of(user) == ()


class TestGone:
    def test_goes_with_its_owner(self, user, staff):
        Memory.objects.create(owner=staff, author=staff, text=LIKES)
        Run.objects.all().delete()
        staff.delete()

        assert not Memory.objects.exists()

    def test_permission_is_named(self):
        assert Permission.objects.filter(codename="add_memory").exists()
