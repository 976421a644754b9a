import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from ai_assistant.management.export import parts
from ai_assistant.models import Feedback
from tests.render.html.story import Story
from tests.web.markup import all_with, elements, one_with

SCRIPT = {"HX-Request": "true"}


def answered(user, text="**Found** it.") -> Story:
    """A conversation with one answer that is complete."""
    story = Story(user)
    story.ask("Where is it?")
    story.say(text)
    story.succeed()
    return story


@pytest.fixture
def story(people):
    return answered(people["ada"])


@pytest.fixture
def give(browser, story):
    """Press a button: `give("up")`, of `name` and with these fields."""

    def post(value="", name="ada", *, script=True, **fields):
        return browser(name).post(
            reverse("ai_assistant:feedback"),
            {"run": str(story.run.pk), "value": value, **fields},
            headers=SCRIPT if script else {"Referer": "http://testserver/admin/"},
        )

    return post


def pressed(html: str) -> list[str]:
    return [
        attrs["aria-label"]
        for _, attrs in elements(html)
        if attrs.get("aria-pressed") == "true"
    ]


def kept() -> list[tuple]:
    return list(Feedback.objects.values_list("value", "reasons", "text"))


class TestFeedback:
    def test_feedback_is_kept_and_drawn(self, give):
        html = give("up").text

        assert kept() == [("up", [], "")]
        assert pressed(html) == ["Good answer"]
        assert not all_with(html, name="reasons")

    def test_feedback_of_one_person_is_one(self, give):
        give("up")
        give("up")
        html = give("down").text

        assert kept() == [("down", [], "")]
        assert pressed(html) == ["Bad answer"]

    def test_pressed_again_is_taken_back(self, give):
        html = give("up").text
        again = one_with(html, aria_label="Good answer")["value"]

        assert again == ""
        assert pressed(give(again).text) == []
        assert kept() == []
        assert pressed(give(again).text) == []  # a repeat changes nothing

    def test_down_asks_why_at_once(self, give, browser, story):
        html = give("down").text

        assert "open" in one_with(html, id=f"r-{story.run.pk}-why")
        assert len(all_with(html, name="reasons")) == 5

    def test_reasons_are_kept_and_shown(self, give, story):
        give("down")
        html = give(
            "down", say="1", reasons=["wrong", "slow"], text=" It is two. "
        ).text

        assert kept() == [("down", ["wrong", "slow"], "It is two.")]
        assert "open" not in one_with(html, id=f"r-{story.run.pk}-why")
        ticked = [
            attrs["value"]
            for attrs in all_with(html, name="reasons")
            if "checked" in attrs
        ]
        assert ticked == ["wrong", "slow"]
        assert "It is two." in html

    def test_feedback_knows_no_other_values_or_reasons(self, give):
        assert "out of date" in give("sideways").text
        give("down", say="1", reasons=["wrong", "<script>"])

        assert kept() == [("down", ["wrong"], "")]

    def test_long_comment_is_refused_and_what_was_kept_stays(self, give):
        give("down", say="1", text="Short.")
        html = give("down", say="1", text="x" * 2001).text

        assert "2001 characters" in html
        assert kept() == [("down", [], "Short.")]

    @pytest.mark.parametrize("name", ["bob", "viewer"])
    def test_feedback_is_for_own_answers(self, give, name):
        assert give("up", name).status_code == 404
        assert kept() == []

    def test_looking_is_enough_for_it(self, browser, people):
        story = answered(people["viewer"])
        fields = {"run": str(story.run.pk), "value": "up"}

        browser("viewer").post(reverse("ai_assistant:feedback"), fields, headers=SCRIPT)

        assert kept() == [("up", [], "")]

    def test_feedback_waits_for_the_end(self, browser, people):
        story = Story(people["ada"])
        story.ask("Hello")
        fields = {"run": str(story.run.pk), "value": "up"}

        response = browser("ada").post(
            reverse("ai_assistant:feedback"), fields, headers=SCRIPT
        )

        assert "still being written" in response.text
        assert kept() == []

    def test_feedback_works_without_script(self, give, browser, story):
        response = give("down", script=False)

        assert response.status_code == 303
        assert response["Location"] == "http://testserver/admin/#aia"
        page = browser("ada").get(
            reverse("ai_assistant:full"), {"conversation": story.conversation_id}
        )
        assert pressed(page.text) == ["Bad answer"]
        assert "open" not in one_with(page.text, id=f"r-{story.run.pk}-why")

    def test_feedback_goes_into_what_is_held_of_a_person(self, give, people):
        give("down", say="1", reasons=["long"], text="Two words would do.")

        (told,) = dict(parts(people["ada"]))["feedback"]

        assert told["text"] == "Two words would do."
        assert told["reasons"] == ["long"]


class TestAdmin:
    @pytest.fixture
    def admin(self, people, client):
        root = get_user_model().objects.create_superuser("root")
        client.force_login(root)
        return client

    def test_lists_by_value_and_reason(self, give, admin, people):
        give("down", say="1", reasons=["slow"], text="Four minutes.")
        other = answered(people["bob"])
        Feedback.objects.create(run=other.run, user=people["bob"], value="up")
        url = reverse("admin:ai_assistant_feedback_changelist")

        assert "Four minutes." in admin.get(url).text
        assert "Too slow" in admin.get(url, {"reason": "slow"}).text
        assert "Four minutes." in admin.get(url, {"reason": "slow"}).text
        assert "Four minutes." not in admin.get(url, {"reason": "wrong"}).text
        assert "Four minutes." not in admin.get(url, {"value__exact": "up"}).text

    def test_admin_leads_to_the_run_and_changes_nothing(self, give, admin, story):
        give("down", say="1", text="<b>No</b>")
        feedback = Feedback.objects.get()
        url = reverse("admin:ai_assistant_feedback_change", args=[feedback.pk])

        page = admin.get(url)

        assert f"/ai_assistant/run/{story.run.pk}/change/" in page.text
        assert "&lt;b&gt;No&lt;/b&gt;" in page.text
        assert admin.post(url, {"value": "up"}).status_code == 403
