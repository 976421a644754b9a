import json
import os
import subprocess
import sys

import pytest
from django.core.management import CommandError, call_command

from ai_assistant.models import Share
from ai_assistant.safety.identity.permissions import fresh_user
from ai_assistant.testing import run_assistant

pytestmark = pytest.mark.django_db


def exported(capsys, name):
    call_command("assistant_export", user=name)
    return json.loads(capsys.readouterr().out)


class TestExport:
    def test_all_of_one_user(self, told, capsys):
        told("ada")

        found = exported(capsys, "ada")

        assert found["user"]["name"] == "ada"
        (conversation,) = found["conversations"]
        assert conversation["messages"][0]["parts"][0]["text"] == "I am ada."
        (run,) = conversation["runs"]
        assert run["calls"][0]["arguments"] == {"order": 1}
        assert run["changes"][0]["rows"][0]["fields"] == ["paid"]
        assert found["usage"][0]["input_tokens"] == 7
        assert found["audit"][0]["action"] == "run.started"

    def test_words_that_models_were_given(self, people, capsys):
        staff = {"is_staff": True, "is_superuser": True}
        type(people["ada"]).objects.update(**staff)
        run_assistant(fresh_user(people["ada"].pk), "/admin/", "Hi", replies=["Hello."])

        (conversation,) = exported(capsys, "ada")["conversations"]

        (step,) = conversation["runs"][0]["steps"]
        texts = conversation["prompt_texts"]
        prompt = step["prompt"]
        identity = next(one for one in prompt["parts"] if one["id"] == "identity")
        assert texts[identity["text"]].startswith("You are the assistant")
        assert json.loads(texts[prompt["tools"]])[0]["type"] == "function"

    def test_export_changes_of_a_deleted_conversation(self, told, capsys):
        told("ada").delete()
        told("ada")

        found = exported(capsys, "ada")

        (change,) = found["changes"]
        assert change["tool"] == "mark_paid"
        assert change["rows"][0]["object_id"] == "1"

    @pytest.mark.row("D15")
    def test_export_says_that_a_conversation_is_shared(self, told, capsys):
        conversation = told("ada")
        Share.objects.create(conversation=conversation, digest="d" * 64)

        (found,) = exported(capsys, "ada")["conversations"]

        assert found["shared"]["created_at"]
        assert found["shared"]["expires_at"] is None
        assert "d" * 64 not in str(found)

    def test_nothing_of_others(self, told, capsys):
        told("ada")
        told("bob")

        assert "bob" not in json.dumps(exported(capsys, "ada"))

    def test_no_values_of_the_site_and_no_secrets(self, told, capsys):
        told("ada")

        text = json.dumps(exported(capsys, "ada"))

        assert "Grace" not in text
        assert "digest" not in text
        assert "nonce" not in text

    def test_user_without_anything(self, people, capsys):
        found = exported(capsys, "bob")

        assert (found["conversations"], found["usage"], found["audit"]) == ([], [], [])

    def test_export_to_a_file(self, told, tmp_path):
        told("ada")
        path = tmp_path / "ada.json"

        call_command("assistant_export", user="ada", output=path)

        assert json.loads(path.read_text())["user"]["name"] == "ada"

    def test_unknown_user(self):
        with pytest.raises(CommandError, match="User 'nobody' does not exist"):
            call_command("assistant_export", user="nobody")

    def test_file_that_cannot_be_written(self, people, tmp_path):
        path = tmp_path / "none" / "x.json"

        with pytest.raises(CommandError, match="cannot be written: No such file"):
            call_command("assistant_export", user="ada", output=path)

    @pytest.mark.servers
    def test_reader_that_leaves(self, people):
        """As `assistant_export | head` does: nothing is complained of."""
        code = (
            "import os, sys, types; from pathlib import Path\n"
            "from ai_assistant.management.commands import assistant_export as own\n"
            "def write_all(user, out):\n"
            "    for _ in range(1000): out.write('x' * 1000)\n"
            "own.write_all, own.user_named = write_all, lambda name: None\n"
            "own.Command().execute(user='ada', output=None, force_color=False, "
            "no_color=True, skip_checks=True)\n"
        )
        environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "project.settings"}
        setup = "import django; django.setup()\n"
        with subprocess.Popen(
            [sys.executable, "-c", setup + code],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        ) as process:
            process.stdout.read(10)
            process.stdout.close()
            complaint = process.stderr.read().decode()

        assert (process.returncode, complaint) == (0, "")
