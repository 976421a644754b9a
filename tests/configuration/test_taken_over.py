"""What a site teaches, in a run with which another process goes on."""

import pytest
from django.contrib.auth.models import Group

from ai_assistant import models
from ai_assistant.configuration.setup import _of_runs
from ai_assistant.registry import registry
from ai_assistant.testing import call, reply
from ai_assistant.types import Instruction, Placement, ToolDefinition
from tests.configuration.test_runs import play

pytestmark = pytest.mark.django_db


class TestTakenOver:
    """Another process goes on with a run, after the rows have changed."""

    @pytest.fixture
    def moved(self):
        """A tool during which the rows change, and this process forgets the run."""

        def move() -> str:
            for change in self.changes:
                change()
            _of_runs.clear()
            return "moved"

        self.changes = []
        tool = ToolDefinition.of(
            name="move",
            handler=move,
            effect="read",
            description="Look.",
            label="Look",
            origin="tests",
        )
        rows = [
            models.Instruction.objects.create(name=name, text=f"Be {name}.")
            for name in ("brief", "kind", "calm")
        ]
        models.Skill.objects.create(name="refund", description="Old.", body="Ask.")
        with registry.temporarily(tool):
            yield rows

    def saved(self, model, **values):
        """Return what saves all rows of a model with these values."""

        def save():
            for row in model.objects.all():
                for name, value in values.items():
                    setattr(row, name, value)
                row.save()

        return save

    def prompts(self, user, *changes):
        self.changes[:] = changes
        played = play(user, reply("", call("move")))
        return [one.messages[0]["content"] for one in played.requests]

    def test_the_beginning_of_the_prompt_is_the_same(self, ada, moved):
        first, other = self.prompts(
            ada,
            self.saved(models.Instruction, text="Be loud."),
            lambda: models.Instruction.objects.create(name="more", text="Shout."),
            self.saved(models.Skill, description="New."),
            lambda: models.Skill.objects.create(
                name="pay", description="Pay.", body="Pay."
            ),
        )

        assert "Be brief." in first
        assert other == first

    def test_rows_that_are_gone_or_off_count_no_more(self, ada, moved):
        brief, kind, _calm = moved
        off = models.Instruction.objects.filter(pk=kind.pk)

        def switch_off(row):
            row.is_active = False
            row.save()

        first, other = self.prompts(
            ada, brief.delete, lambda: [switch_off(row) for row in off]
        )

        said = [f"Be {row}." for row in ("brief", "kind", "calm")]
        assert [text in first for text in said] == [True, True, True]
        assert [text in other for text in said] == [False, False, True]

    def test_who_may_have_it_counts_at_once(self, ada, moved):
        group = Group.objects.create(name="editors")

        first, other = self.prompts(
            ada,
            self.saved(models.Instruction, group=group),
        )

        assert ["Be brief." in one for one in (first, other)] == [True, False]

    def test_run_of_a_site_that_taught_nothing_stays_so(self, ada, moved):
        models.Instruction.objects.all().delete()
        models.Skill.objects.all().delete()

        first, other = self.prompts(
            ada,
            lambda: models.Instruction.objects.create(name="more", text="Shout."),
        )

        assert other == first
        assert "Shout." not in first

    def test_instruction_of_code_may_apply_later(self, ada, moved):
        now = []
        placement = Placement(available=lambda context: bool(now))
        registry.add(
            "instruction",
            Instruction(name="late", text="Be late.", placement=placement),
        )

        first, other = self.prompts(ada, lambda: now.append(1))

        assert ["Be late." in one for one in (first, other)] == [False, True]

    def test_secret_is_not_kept(self, ada, moved):
        secret = "sk-live-0123456789abcdefghijklmnop"
        models.Instruction.objects.create(name="key", text=f"api_key={secret}")

        first, other = self.prompts(ada)

        assert other == first
        assert secret not in str(list(models.PromptText.objects.values_list("text")))
