"""What a site teaches, as a run of the real engine has it."""

import json

import pytest
from django.contrib.auth.models import Group, Permission
from django.forms import modelform_factory

from ai_assistant import conf, models
from ai_assistant.configuration.setup import RUNS, resolve, setup_of_run
from ai_assistant.engine.accounting.prompts import stored_prompt
from ai_assistant.engine.execution.prompt import next_prompt
from ai_assistant.engine.lifecycle.scope import scope_of_page
from ai_assistant.registry import registry
from ai_assistant.testing import call, reply, run_assistant
from ai_assistant.types import Instruction, Skill, ToolDefinition

pytestmark = pytest.mark.django_db

GROUPS = "/admin/auth/group/"
SKILL = Skill(
    name="refund",
    description="Money back.",
    body="First ask.",
    files={"references/letter.md": "Dear customer"},
    scripts=("scripts/pay.py",),
    origin="shop",
)


def play(user, *replies, page=GROUPS):
    return run_assistant(user, page, "Please", replies=[*replies, "Done."])


def read(**arguments):
    return reply("", call("get_skill", {"name": "refund", **arguments}))


@pytest.mark.row("Y01")
class TestGetSkill:
    def test_model_reads_a_skill_and_its_files(self, ada):
        registry.add("skill", SKILL)

        played = play(ada, read(), read(path="references/letter.md"))

        whole, file = (one.data for one in played.calls)
        assert (whole["text"], whole["files"]) == (
            "First ask.",
            ["references/letter.md"],
        )
        assert whole["scripts, which you cannot run"] == ["scripts/pay.py"]
        assert file["text"] == "Dear customer"

    def test_row_of_a_megabyte_is_refused_by_its_form_and_ends_no_run(self, ada):
        fields = {"name": "refund", "description": "d", "body": "word " * 200_000}
        form = modelform_factory(models.Skill, fields=list(fields))(fields)
        assert "at most 50000 characters" in str(form.errors["body"])
        models.Skill.objects.create(**fields)

        played = play(ada, read())

        assert played.run.state == "succeeded"
        assert len(played.calls[0].read_by_model) < 40_000

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ({"name": "refnd"}, "There is no skill 'refnd'. Use one of: refund."),
            ({"path": "../settings.py"}, "no file '../settings.py'. Use one of: ref"),
        ],
    )
    def test_unknown_one_says_which_there_are(self, ada, arguments, said):
        registry.add("skill", SKILL)

        played = play(ada, read(**arguments))

        assert said in played.calls[0].read_by_model

    @pytest.mark.row("B07")
    def test_model_is_told_to_read_one_before_its_work(self, ada):
        registry.add("skill", SKILL)

        prompt = play(ada).prompt

        assert "Before work that one of them is about, read it with get_skill" in prompt
        assert "- refund: Money back." in prompt
        assert "First ask." not in prompt

    def test_tool_is_not_offered_without_skills(self, ada):
        assert "get_skill" not in play(ada).offered

    def test_skill_of_others_is_not_read(self, ada, django_user_model):
        models.Skill.objects.create(
            name="refund", description="d", body="b", model="auth.user"
        )

        played = play(ada, read())

        assert "get_skill" not in played.offered
        assert played.calls[0].status == "denied"

    def test_words_of_a_skill_are_no_data(self, ada):
        registry.add("skill", SKILL)
        made = call(
            "create_object", {"model": "auth.group", "fields": {"name": "Sales"}}
        )

        with_skill = play(ada, read(), reply("", made)).run
        # What was only read from a skill makes no write ask for that reason.
        waiting = models.ToolCall.objects.get(run=with_skill, name="create_object")
        assert "data" not in waiting.asks_because

    def test_allowed_tools_narrow_and_never_grant(self, ada, django_user_model):
        models.Skill.objects.create(
            name="refund",
            description="d",
            body="b",
            allowed_tools="search_objects delete_* no_such_tool",
        )
        eva = django_user_model.objects.create_user("eva", is_staff=True)
        names = ("view_assistant", "use_assistant", "view_group")
        eva.user_permissions.set(Permission.objects.filter(codename__in=names))

        assert "get_object" in play(ada).offered
        offered = play(ada, read()).offered
        assert {"search_objects", "delete_objects", "get_skill"} <= set(offered)
        assert not {"get_object", "change_object", "navigate_to"} & set(offered)
        assert "delete_objects" not in play(eva, read()).offered

    def test_skill_that_was_read_last_decides(self, ada):
        for name, tools in (("one", "search_objects"), ("two", "list_models")):
            models.Skill.objects.create(
                name=name, description="d", body="b", allowed_tools=tools
            )
        reads = [reply("", call("get_skill", {"name": n})) for n in ("one", "two") * 3]

        for count in range(1, 7):
            offered = play(ada, *reads[:count]).offered
            wanted = ("search_objects", "list_models")[(count - 1) % 2]
            assert {"search_objects", "list_models"} & set(offered) == {wanted}

    def test_call_of_a_tool_that_the_skill_takes_away_is_refused(self, ada):
        models.Skill.objects.create(
            name="refund", description="d", body="b", allowed_tools="search_objects"
        )

        played = play(ada, read(), reply("", call("list_models")))

        assert (played.calls[1].status, played.calls[1].error_type) == (
            "denied",
            "not_here",
        )


@pytest.mark.row("I03")
class TestPrompt:
    def test_model_gets_all_instructions_that_apply(self, ada):
        registry.add("instruction", Instruction(name="one", text="Say please."))
        models.Instruction.objects.create(name="two", text="Be brief.", model="auth")
        models.Instruction.objects.create(name="three", text="Never.", model="sites")

        prompt = play(ada).prompt

        assert "Say please." in prompt
        assert "Be brief." in prompt
        assert "Never." not in prompt

    @pytest.mark.row("B02")
    def test_step_keeps_what_the_model_got(self, ada, settings):
        registry.add("instruction", Instruction(name="one", text="Say please."))
        registry.add("skill", SKILL)

        played = play(ada, read())

        steps = list(models.Step.objects.filter(run=played.run).order_by("index"))
        assert len(steps) == 2
        for step, request in zip(steps, played.requests, strict=True):
            shown = stored_prompt(step)
            text = "\n\n".join(part.text for part in shown.parts)
            assert text == request.messages[0]["content"]
            assert json.loads(shown.tools) == list(request.tools)
        sources = {part.id: part.source for part in shown.parts}
        assert sources["identity"] == "assistant"
        assert sources["module"] == "module:admin-list"
        # The words of both steps are the same, and are stored once; so are the tools,
        # and what the run has begun with.
        texts = models.PromptText.objects.filter(conversation=played.run.conversation)
        assert texts.count() == len(shown.parts) + 2

    def test_stable_part_comes_first_and_stays(self, ada):
        models.Instruction.objects.create(name="all", text="Be brief.")
        models.Instruction.objects.create(name="users", text="X.", model="auth.user")
        prefixes = set()
        lists = [GROUPS, "/admin/auth/user/", "/admin/wiki/page/"]
        for page in [*lists, *(f"{GROUPS}?q={number}" for number in range(17))]:
            played = play(ada, page=page)
            parts = stored_prompt(models.Step.objects.get(run=played.run)).parts
            flags = [part.is_cacheable for part in parts]
            assert flags == sorted(flags, reverse=True)
            stable = "\n\n".join(part.text for part in parts if part.is_cacheable)
            (request,) = played.requests
            prompt = request.messages[0]["content"]
            assert prompt[: request.stable_chars] == stable
            prefixes.add(stable)

        assert len(prefixes) == 1

    def test_words_for_a_plain_page_are_few(self, ada):
        shown = next_prompt(ada, GROUPS)

        words = [part.text for part in shown.parts if part.id != "items"]
        assert 500 < len("".join(words).encode()) <= 4 * 1024

    def test_secret_is_not_kept(self, ada):
        secret = "sk-" + "a1B2" * 12
        models.Instruction.objects.create(name="leak", text=f"The key is {secret}.")

        played = play(ada)

        assert secret not in played.prompt
        assert secret not in str(list(models.PromptText.objects.values_list("text")))

    def test_secret_of_a_pattern_that_the_site_adds_is_not_kept(self, ada, settings):
        """A text that came before is looked at anew."""
        models.Instruction.objects.create(name="all", text="Badge ID-4711 opens it.")
        assert "ID-4711" in play(ada).prompt

        settings.AI_ASSISTANT = conf.merged(
            settings.AI_ASSISTANT, {"REDACT": [r"ID-\d+"]}
        )

        assert "ID-4711" not in play(ada).prompt

    def test_texts_go_with_their_conversation(self, ada):
        played = play(ada)
        assert models.PromptText.objects.exists()

        models.Conversation.objects.filter(pk=played.run.conversation_id).delete()

        assert not models.PromptText.objects.exists()


class TestOneRun:
    """What the site teaches is the same in all steps of a run, and then as it is."""

    @pytest.fixture
    def changing(self):
        """A tool in which somebody changes the rows, while the run goes on."""

        def change() -> str:
            for row in models.Instruction.objects.all():
                row.text = "Be loud."
                row.save()
            models.Skill.objects.get(name="refund").delete()
            return "changed"

        tool = ToolDefinition.of(
            name="change",
            handler=change,
            effect="read",
            description="Look.",
            label="Look",
            origin="tests",
        )
        models.Instruction.objects.create(name="all", text="Be brief.")
        models.Skill.objects.create(name="refund", description="d", body="Ask first.")
        with registry.temporarily(tool):
            yield

    def test_step_after_a_change_has_what_the_first_one_had(self, ada, changing):
        played = play(ada, reply("", call("change")), read())

        first, *others = [one.messages[0]["content"] for one in played.requests]
        assert "Be brief." in first
        assert others == [first] * 2
        assert played.calls[1].data["text"] == "Ask first."

    def test_next_run_has_the_change(self, ada, changing):
        play(ada, reply("", call("change")))

        played = play(ada)

        assert "Be loud." in played.prompt
        assert "refund" not in played.prompt

    def test_permission_is_looked_at_in_each_step(self, django_user_model, changing):
        models.Instruction.objects.update(group=Group.objects.create(name="editors"))
        eva = django_user_model.objects.create_user("eva", is_staff=True)
        names = ("view_assistant", "use_assistant", "view_group")
        eva.user_permissions.set(Permission.objects.filter(codename__in=names))
        group = Group.objects.get(name="editors")
        eva.groups.add(group)

        def leave() -> None:
            eva.groups.clear()

        leaves = ToolDefinition.of(
            name="leave",
            handler=leave,
            effect="read",
            description="Look.",
            label="Look",
            origin="tests",
        )
        with registry.temporarily(leaves):
            played = play(eva, reply("", call("leave")))

        prompts = [one.messages[0]["content"] for one in played.requests]
        assert ["Be brief." in one for one in prompts] == [True, False]


def test_looking_at_pages_pushes_out_no_run(ada, context_of):
    skill = models.Skill.objects.create(name="refund", description="d", body="Old.")
    run = context_of()
    assert setup_of_run(run).skills["refund"].body == "Old."
    skill.body = "New."
    skill.save()

    for _ in range(RUNS + 1):
        seen = scope_of_page(context_of()).setup.skills["refund"].body

    assert seen == "New."
    assert setup_of_run(run).skills["refund"].body == "Old."


def test_rows_are_read_once(ada, context_of, django_assert_num_queries):
    for name in ("one", "two", "three"):
        registry.add("skill", Skill(name=name, description="d", body="b"))
    context = context_of()
    assert len(resolve(context).skills) == 3
    with django_assert_num_queries(0):
        assert len(resolve(context).skills) == 3
