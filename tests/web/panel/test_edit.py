"""The form in which a person changes a proposal, over HTTP."""

import threading

import pytest
from django import forms
from django.contrib.auth.models import Group, Permission
from django.urls import reverse

from ai_assistant.changes.stored import to_json
from ai_assistant.changes.values import Changes, FieldChange, ObjectChange
from ai_assistant.engine.calls import editing
from ai_assistant.models import Interrupt, ToolCall
from ai_assistant.models.change import ChangeSet, RowChange
from ai_assistant.registry import registry
from ai_assistant.tools.arguments import arguments_digest
from tests.render.html.dom import parse
from tests.web.conftest import asked_to_approve

SCRIPT = {"HX-Request": "true"}

pytestmark = pytest.mark.usefixtures("quiet")


@pytest.fixture
def group(committed_db):
    Group.objects.create(name="Taken")
    return Group.objects.create(name="Before")


@pytest.fixture
def waiting(people, group) -> Interrupt:
    """A change of a group's name that waits for ada."""
    ada = people["ada"]
    codenames = ("view_group", "change_group")
    ada.user_permissions.add(*Permission.objects.filter(codename__in=codenames))
    interrupt = asked_to_approve(ada)
    values = {"name": "As proposed"}
    call = interrupt.call
    call.name, call.label, call.effect = "change_object", "Change object", "write"
    call.arguments = {"model": "auth.group", "id": group.pk, "values": values}
    call.arguments_digest = arguments_digest(call.name, call.arguments)
    call.save()
    field = FieldChange(name="name", label="Name", before="Before", after="As proposed")
    row = ObjectChange(
        kind="change", model="auth.group", object_id=str(group.pk), fields=(field,)
    )
    changes = Changes(title="Change", model="auth.group", objects=(row,), total=1)
    interrupt.proposal = to_json(changes)
    interrupt.arguments_digest = call.arguments_digest
    interrupt.save()
    return interrupt


def post(client, interrupt, name, *, script):
    fields = {"interrupt": str(interrupt.pk), "nonce": interrupt.nonce}
    fields |= {"decision": "edit", "edit-name": name, "next": "/admin/auth/group/"}
    headers = SCRIPT if script else {}
    return client.post(reverse("ai_assistant:answer"), fields, headers=headers)


def field_of(response):
    """Return the attributes of the field, and what it is described by."""
    root = parse(response.content.decode())
    (field,) = [
        node for node in root.elements() if node.attrs.get("name") == "edit-name"
    ]
    described = field.attrs.get("aria-describedby", "").split()
    ids = {node.attrs.get("id"): node for node in root.elements()}
    return field.attrs, [ids[one].text().strip() for one in described]


WRONG = [
    ("  ", "This field is required."),
    ("Taken", "Group with this Name already exists."),  # only the whole page knows
    ("x" * 151, "Ensure this value has at most 150 characters (it has 151)."),
]


@pytest.mark.parametrize("script", [True, False])
@pytest.mark.parametrize(("typed", "error"), WRONG)
def test_error_stands_beside_its_field(browser, waiting, typed, error, script):
    response = post(browser("ada"), waiting, typed, script=script)

    assert response.status_code == (200 if script else 400)
    attrs, told = field_of(response)
    assert told == [error]
    assert (attrs["value"], attrs["aria-invalid"]) == (typed, "true")
    assert "autofocus" in attrs
    assert Interrupt.objects.get().status == "open"


def test_form_goes_back_to_its_card(browser, waiting):
    response = post(browser("ada"), waiting, "", script=True)

    assert response["HX-Retarget"] == f"#i-{waiting.pk}-edit"
    assert response["HX-Reswap"] == "innerHTML"


def test_page_leads_back_and_can_be_sent_again(browser, waiting, group):
    client = browser("ada")
    page = post(client, waiting, "", script=False).content.decode()
    assert f'name="nonce" value="{waiting.nonce}"' in page
    assert page.count('name="next" value="/admin/auth/group/"') == 1

    response = post(client, waiting, "Mine", script=False)

    assert response.status_code == 303
    assert response["Location"] == "/admin/auth/group/#aia"
    assert ToolCall.objects.get().arguments["values"] == {"name": "Mine"}


def test_what_is_wrong_with_the_whole_gets_the_focus(browser, waiting, group):
    group.name = "As it is"
    group.save()

    response = post(browser("ada"), waiting, "As it is", script=True)

    (told,) = [
        node
        for node in parse(response.content.decode()).elements()
        if node.attrs.get("role") == "alert"
    ]
    assert told.text() == "No change: it already has these values."
    assert "autofocus" in told.attrs
    assert field_of(response)[0]["value"] == "As it is"


def test_untouched_form_has_no_errors(browser, waiting):
    client = browser("ada")
    query = {"interrupt": waiting.pk, "nonce": waiting.nonce}
    response = client.get(reverse("ai_assistant:edit"), query)

    attrs, told = field_of(response)
    assert (attrs["value"], told) == ("As proposed", [])
    assert "aria-invalid" not in attrs


class TestWholeText:
    def whole(self, client, waiting, **query):
        query = {"interrupt": waiting.pk, "row": 0, "field": 0, **query}
        return client.get(reverse("ai_assistant:whole"), query)

    def test_whole_text_of_a_proposal_shows_the_difference(self, browser, waiting):
        page = self.whole(browser("ada"), waiting).content.decode()

        assert "<del>Before</del> <ins>As proposed</ins>" in page

    @pytest.mark.parametrize("query", [{"row": 9}, {"argument": "none"}])
    def test_what_is_not_there(self, browser, waiting, query):
        assert self.whole(browser("ada"), waiting, **query).status_code == 404

    def test_whole_text_is_not_for_others(self, browser, waiting):
        assert self.whole(browser("bob"), waiting).status_code == 404
        assert self.whole(browser("nobody"), waiting).status_code == 403
        assert self.whole(browser(), waiting).status_code == 302


class TestAllRows:
    @pytest.fixture
    def many(self, waiting):
        """The same change of 23 groups, of which the card lists one and counts 22."""
        groups = [Group.objects.create(name=f"<b>{n}</b>") for n in range(22)]
        ids = [int(Group.objects.get(name="Before").pk), *(one.pk for one in groups)]
        call, stored = waiting.call, waiting.proposal
        call.arguments = {"model": "auth.group", "ids": ids, "values": {}}
        call.save()
        versions = {f"auth.group:{pk}": "d" for pk in ids}
        stored |= {"total": 23, "rows_argument": "ids", "versions": versions}
        stored["objects"].append({**stored["objects"][0], "object_id": str(ids[1])})
        waiting.proposal = stored
        waiting.save()
        return waiting

    def get(self, client, interrupt, **headers):
        address = reverse("ai_assistant:rows")
        return client.get(address, {"interrupt": interrupt.pk}, headers=headers)

    def test_all_rows_are_listed_with_what_is_in_them_now(self, browser, many):
        html = self.get(browser("ada"), many, **SCRIPT).content.decode()

        assert html.count('name="rows"') == 23
        assert 'name="has_all_rows"' in html
        assert '<del dir="auto">&lt;b&gt;21&lt;/b&gt;</del>' in html
        assert "<html" not in html
        assert "/change/" in html

    def test_all_rows_have_a_page_without_scripts(self, browser, many):
        html = self.get(browser("ada"), many).content.decode()

        assert "<html" in html
        assert html.count('name="rows"') == 23
        assert "data-aia-approve" in html

    def test_all_rows_are_hidden_from_who_may_not_view_them(
        self, browser, many, people
    ):
        people["ada"].user_permissions.clear()
        ada = browser("ada")
        people["ada"].user_permissions.add(
            *Permission.objects.filter(codename="use_assistant")
        )

        html = self.get(ada, many, **SCRIPT).content.decode()

        assert "21&lt;" not in html

    def test_all_rows_are_not_for_others(self, browser, many, waiting):
        assert self.get(browser("bob"), many).status_code == 404
        assert self.get(browser("nobody"), many).status_code == 403
        Interrupt.objects.update(status="denied")
        assert self.get(browser("ada"), many).status_code == 404

    def test_tick_allows_the_rest_of_the_answer(self, browser, waiting):
        fields = {"interrupt": str(waiting.pk), "nonce": waiting.nonce}
        fields |= {"decision": "approve", "for_run": "1"}

        browser("ada").post(reverse("ai_assistant:answer"), fields, headers=SCRIPT)

        assert waiting.run.grants.get().tool == "change_object"


class TestWholeTextOfAChange:
    @pytest.fixture
    def row(self, waiting):
        kept = ChangeSet.objects.create(
            run=waiting.run, call=waiting.call, user=waiting.run.user
        )
        return RowChange.objects.create(
            change_set=kept,
            order=0,
            model="auth.group",
            object_id="1",
            kind="update",
            text="A group",
            before={"name": "Before"},
            after={"name": "After"},
            fields=["name"],
        )

    def whole(self, client, row, **query):
        query = {"change": row.pk, "field": 0, **query}
        return client.get(reverse("ai_assistant:whole"), query)

    def test_whole_text_of_a_change_shows_the_difference(self, browser, row):
        page = self.whole(browser("ada"), row).content.decode()

        assert "<del>Before</del> <ins>After</ins>" in page
        assert "A group" in page

    @pytest.mark.parametrize("query", [{"field": 1}, {"change": 0}, {"change": "x"}])
    def test_what_is_not_there(self, browser, row, query):
        assert self.whole(browser("ada"), row, **query).status_code == 404

    def test_whole_text_of_achange_is_not_for_others(self, browser, row):
        assert self.whole(browser("bob"), row).status_code == 404


class Hanging(forms.TextInput):
    """A widget that is drawn when it is let go."""

    def __init__(self):
        super().__init__()
        self.go_on = threading.Event()

    def render(self, *args, **kwargs):
        self.go_on.wait(60)
        return super().render(*args, **kwargs)

    def __deepcopy__(self, memo):
        return self  # else each form would wait for an event of its own


class TestHangsWhileItIsDrawn:
    @pytest.fixture
    def widget(self, waiting, monkeypatch):
        widget = Hanging()

        class Letter(forms.Form):
            name = forms.CharField(widget=widget, max_length=3)

        class Editor:
            def form(self, context, arguments, data=None):
                return Letter(data, prefix="edit")

            def arguments(self, form, arguments):
                return arguments

        tool = registry.tool("change_object")
        hanging = tool.changed(editor=Editor(), timeout_s=0.5)
        monkeypatch.setattr(editing, "tool_of_call", lambda run, call: hanging)
        yield widget
        widget.go_on.set()
        editing._bulkheads.clear()

    @pytest.mark.parametrize("script", [True, False])
    def test_form_is_given_up(self, browser, waiting, widget, script):
        query = {"interrupt": waiting.pk, "nonce": waiting.nonce}
        headers = SCRIPT if script else {}
        response = browser("ada").get(
            reverse("ai_assistant:edit"), query, headers=headers
        )

        assert response.status_code == (200 if script else 400)
        assert "timed out after 0.5 s." in response.content.decode()

    def test_wrong_values_are_given_up(self, browser, waiting, widget):
        response = post(browser("ada"), waiting, "too long", script=True)

        assert "timed out after 0.5 s." in response.content.decode()
        assert Interrupt.objects.get().status == "open"

    def test_hangs_while_it_is_drawn_in_time_it_is_drawn(
        self, browser, waiting, widget
    ):
        widget.go_on.set()

        response = post(browser("ada"), waiting, "too long", script=True)

        assert field_of(response)[0]["value"] == "too long"
