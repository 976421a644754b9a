"""Import and export in the admin: for superusers, shown before it is done."""

import json
import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from ai_assistant.configuration.transfer.document import read
from ai_assistant.models import AuditEntry, Instruction

pytestmark = [pytest.mark.django_db, pytest.mark.row("C11")]

PAGE = reverse("admin:ai_assistant_configurationfile_changelist")
SAVE = reverse("admin:ai_assistant_configurationfile_save", args=["yaml"])
INDEX = reverse("admin:app_list", args=["ai_assistant"])


def upload(client, text, name="config.yaml", **fields):
    file = SimpleUploadedFile(name, text.encode())
    return client.post(PAGE, {"file": file, **fields})


def hidden(response):
    """Return the fields with which what was shown is applied."""
    page = response.content.decode()
    digest = re.search(r'name="shown" value="(\w+)"', page)[1]
    given = response.context["given"]
    fields = {"name": given["name"], "text": given["text"], "shown": digest}
    return fields | ({"removes": "on"} if given["removes"] else {})


def file_of(*rows):
    return json.dumps({"version": 1, "instructions": list(rows)})


class TestPermission:
    def test_page_is_for_superusers_whatever_else_somebody_may(self, client):
        eva = get_user_model().objects.create_user("eva", is_staff=True)
        eva.user_permissions.set(Permission.objects.all())
        client.force_login(eva)

        assert client.get(PAGE).status_code == 403
        assert client.get(SAVE).status_code == 403
        assert upload(client, file_of({"name": "a", "text": "A."})).status_code == 403
        fields = {"text": file_of({"name": "a", "text": "A."}), "name": "x"}
        assert client.post(PAGE, fields).status_code == 403
        assert PAGE not in client.get(INDEX).content.decode()
        assert not Instruction.objects.exists()

    def test_off_there_is_none(self, admin_client, settings):
        settings.AI_ASSISTANT = {"ENABLED": False}

        assert admin_client.get(PAGE).status_code == 403


class TestImport:
    def test_import_is_shown_and_then_applied(self, admin_client, admin_user):
        Instruction.objects.create(name="tone", text="Be <b>long</b>.")
        text = file_of(
            {"name": "tone", "text": "Be brief."}, {"name": "b", "text": "B."}
        )

        shown = upload(admin_client, text)
        page = shown.content.decode()
        assert "<del>Be &lt;b&gt;long&lt;/b&gt;.</del>" in page
        assert "<ins>Be brief.</ins>" in page
        assert Instruction.objects.get().text == "Be <b>long</b>."
        response = admin_client.post(PAGE, hidden(shown))

        assert response.status_code == 302
        assert Instruction.objects.get(name="tone").text == "Be brief."
        assert AuditEntry.objects.filter(user=admin_user).count() == 2
        entries = LogEntry.objects.order_by("action_flag")
        assert [one.get_change_message() for one in entries] == [
            "Added.",
            "Changed text.",
        ]

    def test_rows_are_deleted_if_that_was_ticked(self, admin_client):
        Instruction.objects.create(name="tone", text="Be brief.")

        shown = upload(admin_client, file_of(), removes="on")
        admin_client.post(PAGE, hidden(shown))

        assert not Instruction.objects.exists()
        assert LogEntry.objects.get().is_deletion()

    def test_what_was_not_shown_is_not_applied(self, admin_client):
        text = file_of({"name": "a", "text": "A."})
        fields = hidden(upload(admin_client, text))
        other = file_of({"name": "b", "text": "B."})

        for wrong in ({"text": other}, {"shown": ""}):
            page = admin_client.post(PAGE, {**fields, **wrong}).content.decode()
            assert "Something else differs now than was shown." in page
        assert not Instruction.objects.exists()
        assert not LogEntry.objects.exists()

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("version: 99", "has version 99"),
            (file_of({"name": "a"}), "instructions “a”, text: This field"),
        ],
    )
    def test_wrong_file_says_why_and_offers_nothing(self, admin_client, text, why):
        page = upload(admin_client, text).content.decode()

        assert why in page
        assert 'name="shown"' not in page

    def test_file_that_is_no_text(self, admin_client):
        file = SimpleUploadedFile("x.yaml", b"\xff\xfe\x00")

        page = admin_client.post(PAGE, {"file": file}).content.decode()
        assert "is not UTF-8" in page

    def test_file_that_is_too_large_leads_to_the_command(self, admin_client):
        text = file_of(*({"name": f"a{n}", "text": "x" * 3000} for n in range(700)))

        assert "too large for this page" in upload(admin_client, text).content.decode()
        assert len(read(text).sections["instructions"]) == 700  # as the command does


def test_export_is_the_same_file_as_the_command_writes(admin_client):
    Instruction.objects.create(name="tone", text="Be brief.")

    response = admin_client.get(SAVE)

    assert "assistant-config.yaml" in response["Content-Disposition"]
    assert "name: tone" in response.content.decode()
