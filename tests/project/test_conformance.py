import pytest

import ai_assistant
from ai_assistant import ModelRetry
from project.conformance import assistant
from project.conformance.models import WrittenRow


class TestRegistration:
    def test_registration_holds_the_tools_of_the_contract(self):
        tools = ai_assistant.registry.tools().values()
        ours = {tool.name: tool for tool in tools if "conformance" in tool.origin}

        assert set(ours) == {"echo", "fail", "needs_approval", "slow", "slow_write"}
        assert ours["needs_approval"].effect == "write"
        assert ours["slow"].execution.background
        assert ours["slow_write"].approval.policy == "allow"
        assert ours["slow_write"].execution.prepare is assistant.wait


class TestEcho:
    @pytest.mark.parametrize("text", ["", "ping é\U0001f600", "<b>&", "0"])
    def test_echo_returns_the_text(self, text):
        assert assistant.echo(text) == text


class TestFail:
    def test_fail_raises(self):
        with pytest.raises(RuntimeError, match="was called"):
            assistant.fail()


class TestNeedsApproval:
    def test_result_contains_the_text(self):
        assert assistant.needs_approval("keep this") == "Approved: keep this"


@pytest.mark.django_db
class TestSlow:
    def test_slow_waits_in_pieces(self, background, monkeypatch):
        waited = []
        monkeypatch.setattr("time.sleep", waited.append)

        result = assistant.slow(background, 1.2)

        assert sum(waited) == pytest.approx(1.2)
        assert result == {"seconds": 1.2}
        assert background.reports[-1] == (1.0, "1.2 of 1.2 s")

    def test_slow_goes_on_after_its_mark(self, background, monkeypatch):
        waited = []
        monkeypatch.setattr("time.sleep", waited.append)
        background.mark = 1.5

        assistant.slow(background, 2)

        assert waited == [0.5]

    @pytest.mark.parametrize("seconds", [-1, 501, float("nan")])
    def test_slow_refuses_a_wrong_time(self, background, seconds):
        with pytest.raises(ModelRetry, match="is out of range"):
            assistant.slow(background, seconds)


@pytest.mark.django_db
class TestSlowWrite:
    def test_slow_write_waits_in_its_preparation(self, context, monkeypatch):
        waited = []
        monkeypatch.setattr("time.sleep", waited.append)

        assistant.wait(context, 3, "row")

        assert waited == [3]
        assert not WrittenRow.objects.exists()

    def test_slow_write_writes_one_row_at_once(self, context, monkeypatch):
        waited = []
        monkeypatch.setattr("time.sleep", waited.append)

        result = assistant.slow_write(context, 3, "row")

        row = WrittenRow.objects.get()
        assert waited == []
        assert (row.text, row.run_id) == ("row", context.run_id)
        assert result == {"row": row.pk, "text": "row"}
