"""Rules are kept in the admin, by its own permissions."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.urls import reverse

from ai_assistant.models.policy import PolicyRule

pytestmark = pytest.mark.django_db

LIST = reverse("admin:ai_assistant_policyrule_changelist")
ADD = reverse("admin:ai_assistant_policyrule_add")


@pytest.fixture
def staff(client):
    """Sign in a staff user with these permissions of rules."""

    def sign_in(*names):
        user = get_user_model().objects.create_user("ada", is_staff=True)
        codenames = [f"{name}_policyrule" for name in names]
        user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
        client.force_login(user)
        return client

    return sign_in


def posted(**fields):
    return {"tools": "find_.*", "decision": "ask", "module": "", "reason": "", **fields}


class TestRules:
    def test_rules_is_added(self, staff):
        answer = staff("add", "view").post(ADD, posted())

        assert answer.status_code == 302
        assert str(PolicyRule.objects.get()) == "find_.*: ask"
        assert LogEntry.objects.get().object_repr == "find_.*: ask"

    @pytest.mark.parametrize(
        ("tools", "sentence"),
        [
            ("(", "Pattern “(” is not a regular expression: missing )"),
            ("(a+)+", "repeats more than one character, which may be very slow"),
        ],
    )
    def test_broken_pattern_is_refused_with_a_sentence(self, staff, tools, sentence):
        answer = staff("add").post(ADD, posted(tools=tools))

        assert answer.status_code == 200
        assert sentence in answer.content.decode()
        assert not PolicyRule.objects.exists()

    def test_list_says_what_fits(self, staff):
        PolicyRule.objects.create(tools="find_tools", decision="deny")
        PolicyRule.objects.create(tools="none_such", decision="deny")

        page = staff("view").get(LIST).content.decode()

        assert '<td class="field-fitting">find_tools</td>' in page
        assert '<td class="field-fitting">none with this name</td>' in page
        assert "deny (never)" in page

    def test_list_says_that_a_pattern_is_broken(self, staff):
        PolicyRule.objects.bulk_create([PolicyRule(tools="shop_(", decision="deny")])

        page = staff("view").get(LIST).content.decode()

        assert "Pattern “shop_(” is not a regular expression" in page
        assert "Until then the rule is for all tools." in page

    def test_list_says_that_a_module_is_gone(self, staff):
        PolicyRule.objects.create(tools="find_tools", decision="deny", module="gone")

        page = staff("view").get(LIST).content.decode()

        assert "none: there is no module “gone”</td>" in page
        assert '">find_tools</td>' not in page

    def test_module_that_does_not_exist_is_refused(self, staff):
        answer = staff("add").post(ADD, posted(module="nosuch"))

        said = answer.content.decode()
        assert "There is no module “nosuch”. Use one of: " in said
        assert "admin-list" in said
        assert not PolicyRule.objects.exists()

    @pytest.mark.parametrize("module", ["", "admin-list", "default"])
    def test_module_that_exists_is_taken(self, staff, module):
        assert staff("add").post(ADD, posted(module=module)).status_code == 302

    @pytest.mark.parametrize(("tools", "warned"), [("nosuch", 1), ("find_.*", 0)])
    def test_rule_for_no_tool_is_saved_with_a_warning(self, staff, tools, warned):
        answer = staff("add", "view").post(ADD, posted(tools=tools), follow=True)

        said = answer.content.decode()
        assert said.count("There is no tool “nosuch” yet") == warned
        assert PolicyRule.objects.count() == 1

    def test_rule_that_code_does_not_let_count_is_refused(self, staff):
        client = staff("add", "view")

        refused = client.post(ADD, posted(tools="save_memory", decision="allow"))
        partly = client.post(ADD, posted(tools=".*", decision="allow"), follow=True)

        sentence = "a rule cannot loosen it: save_memory"
        assert sentence in refused.content.decode()
        assert sentence in partly.content.decode()
        assert str(PolicyRule.objects.get()) == ".*: allow"

    def test_form_says_what_module_and_group_are(self, staff):
        page = staff("add").get(ADD).content.decode()

        assert "The id of a module: the rule applies to its pages only." in page
        assert ("For members of this group only. Empty: everybody.") in page

    @pytest.mark.parametrize("held", [(), ("view",)])
    def test_permission_is_asked(self, staff, held):
        client = staff(*held)

        assert client.post(ADD, posted()).status_code == 403
        assert client.get(LIST).status_code == (200 if held else 403)

    def test_off_hides_them(self, staff, settings):
        client = staff("view", "add", "change", "delete")
        settings.AI_ASSISTANT = {"ENABLED": False}

        assert client.get(LIST).status_code == 403
        assert client.get(ADD).status_code == 403
