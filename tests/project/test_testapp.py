"""The tools of the test app do what the fault tests count on."""

from uuid import uuid4

import pytest

from ai_assistant import RunContext, ToolFailed
from tests.testapp import assistant
from tests.testapp.models import Effect


@pytest.mark.django_db
class TestWriteEffect:
    def test_doubled_calls_are_seen(self, context):
        assistant.write_effect(context, "k", "v")
        assistant.write_effect(context, "k", "v")

        found = Effect.objects.values_list("key", "value", "run")
        assert list(found) == [("k", "v", context.run_id)] * 2


@pytest.mark.django_db
class TestBackgroundSteps:
    def test_background_steps_writes_one_effect_a_piece(self, background):
        assistant.background_steps(background, n=3, seconds=0)

        assert list(Effect.objects.values_list("key", flat=True)) == [
            "step-0",
            "step-1",
            "step-2",
        ]
        assert background.marks == [1, 2, 3]

    def test_background_steps_goes_on_after_its_mark(self, background):
        background.mark = 2

        assistant.background_steps(background, n=3, seconds=0)

        assert list(Effect.objects.values_list("key", flat=True)) == ["step-2"]


class TestWriteExternal:
    @pytest.fixture
    def keyed(self):
        return RunContext(
            user=None,
            run_id=uuid4(),
            conversation_id=uuid4(),
            idempotency_key="call-1",
        )

    async def test_write_external_appends_the_key(self, keyed, tmp_path, monkeypatch):
        file = tmp_path / "external"
        monkeypatch.setenv(assistant.EXTERNAL_FILE, str(file))

        await assistant.write_external(keyed, "letter")
        await assistant.write_external(keyed, "letter")

        assert file.read_text() == "letter\tcall-1\n" * 2

    async def test_write_external_needs_the_file(self, keyed, monkeypatch):
        monkeypatch.delenv(assistant.EXTERNAL_FILE, raising=False)

        with pytest.raises(ToolFailed, match="TESTAPP_EXTERNAL_FILE is not set"):
            await assistant.write_external(keyed, "letter")


class TestReads:
    async def test_slow_read(self):
        assert await assistant.slow_read(0) == {"seconds": 0}

    def test_read_big(self):
        assert assistant.read_big(40_000) == {"text": "x" * 40_000}

    def test_boom(self):
        with pytest.raises(ZeroDivisionError):
            assistant.boom()
