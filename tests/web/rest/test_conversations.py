from datetime import timedelta

import pytest

from ai_assistant.engine.storage.branches import show_branch
from ai_assistant.models import Conversation, Run
from ai_assistant.models.audit import AuditEntry
from ai_assistant.models.usage import UsageLedger
from tests.web.conftest import ask
from tests.web.rest.program import code


def path_of(run, more=""):
    return f"conversations/{run.conversation_id}/{more}"


class TestList:
    def test_last_used_first(self, program, people):
        first, second = ask(people["ada"], "One"), ask(people["ada"], "Two")

        results = program().get("conversations/").json()["results"]

        assert [one["title"] for one in results] == ["Two", "One"]
        assert [one["active_run"] for one in results] == [str(second.pk), str(first.pk)]

    def test_filters(self, program, people):
        ada = program()
        ended, _ = ask(people["ada"], "One"), ask(people["ada"], "Two")
        ada.post(f"runs/{ended.pk}/stop/")

        def found(**filters):
            results = ada.get("conversations/", **filters).json()["results"]
            return [one["title"] for one in results]

        assert found(active="true") == ["Two"]
        assert found(active="false") == ["One"]
        assert found(used_after="2999-01-01T00:00:00Z") == []

    def test_list_as_the_panel_keeps_them(self, program, people):
        run = ask(people["ada"], "One")
        asked = program().get(path_of(run)).json()
        moment = run.created_at + timedelta(days=1)
        Run.objects.update(state="succeeded", finished_at=moment)
        Conversation.objects.update(pinned_at=moment, archived_at=moment)
        ended = program().get(path_of(run)).json()
        Conversation.objects.update(read_at=moment)

        listed = program().get("conversations/").json()["results"]

        own = ("pinned_at", "archived_at", "unread")
        told = moment.isoformat().replace("+00:00", "Z")
        assert [asked[name] for name in own] == [None, None, False]
        assert [ended[name] for name in own] == [told, told, True]
        assert [listed[0][name] for name in own] == [told, told, False]


class TestMessages:
    def test_messages_of_a_run(self, program, people):
        ada = program()
        run = ask(people["ada"], "One")
        ada.post(f"runs/{run.pk}/stop/")
        again = ada.post(f"runs/{run.pk}/retry/").json()

        every = ada.get(path_of(run, "messages/")).json()["results"]
        own = ada.get(path_of(run, "messages/"), run=again["id"]).json()["results"]
        later = ada.get(path_of(run, "messages/"), after=every[0]["position"]).json()

        assert (every[0]["text"], every[0]["role"]) == ("One", "user")
        assert [one["run"] for one in own] == [again["id"]]
        assert later["results"] == every[1:]

    def test_messages_of_the_branch_that_is_shown(self, program, people):
        ada = program()
        run = ask(people["ada"], "One")
        ada.post(f"runs/{run.pk}/stop/")
        Run.objects.update(state="failed")  # another try stands beside it then
        fresh = ada.post(f"runs/{run.pk}/retry/").json()

        def runs(**query):
            found = ada.get(path_of(run, "messages/"), **query).json()["results"]
            return [one["run"] for one in found]

        assert fresh["after"] is None
        assert runs() == [fresh["id"]]
        assert runs(all="true") == [str(run.pk), fresh["id"]]
        assert runs(run=str(run.pk)) == [str(run.pk)]
        Run.objects.filter(pk=fresh["id"]).update(state="succeeded")
        show_branch(people["ada"].pk, run.pk)
        assert runs() == [str(run.pk)]
        assert ada.get(path_of(run)).json()["shown_run"] == str(run.pk)


class TestTitle:
    def test_title_is_stored_on_one_line(self, program, people):
        run = ask(people["ada"])

        told = program().post(path_of(run), {"title": " Of \n March "}, method="patch")

        assert told.json()["title"] == "Of March"
        assert Conversation.objects.get().title == "Of March"

    @pytest.mark.parametrize(
        ("title", "wanted"),
        [("", "invalid"), (" ", "empty"), ("a" * 201, "invalid"), ("a\x00", "binary")],
    )
    def test_invalid_title_is_refused_and_the_old_one_stays(
        self, program, people, title, wanted
    ):
        run = ask(people["ada"], "One")

        response = program().post(path_of(run), {"title": title}, method="patch")

        assert (response.status_code, code(response)) == (400, wanted)
        assert Conversation.objects.get().title == "One"


class TestDelete:
    def test_delete_takes_all_but_usage_and_audit(self, program, people):
        ada = program()
        run = ask(people["ada"])
        ada.post(f"runs/{run.pk}/stop/")
        used = UsageLedger.objects.create(run=run, user=people["ada"], tokens=7)

        response = ada.post(path_of(run), method="delete")

        assert response.status_code == 204
        assert not Run.objects.exists()
        used.refresh_from_db()
        assert used.run is None
        # Those of tests that commit stay: the log is only added to.
        own = AuditEntry.objects.filter(details__conversation=str(run.conversation_id))
        entry = own.get(action="conversation.deleted")
        assert entry.user_id == people["ada"].pk
        assert code(ada.get(path_of(run))) == "not_found"

    def test_delete_not_while_it_works(self, program, people):
        run = ask(people["ada"])

        response = program().post(path_of(run), method="delete")

        assert (response.status_code, code(response)) == (409, "busy")
        assert Run.objects.count() == 1


class TestUsage:
    def test_sums_of_own_calls(self, program, people):
        run = ask(people["ada"])
        for model, tokens, cost in [("a", 5, "0.5"), ("a", 7, None), ("b", 1, "0.25")]:
            UsageLedger.objects.create(
                run=run, user=people["ada"], model=model, tokens=tokens, cost_usd=cost
            )
        UsageLedger.objects.create(user=people["bob"], model="a", tokens=100)
        ada = program()

        sums = ada.get("usage/sums/", run=run.pk).json()
        rows = ada.get("usage/").json()["results"]

        assert (sums["tokens"], sums["calls"], sums["unpriced_calls"]) == (13, 3, 1)
        assert float(sums["cost_usd"]) == 0.75
        assert [(one["model"], one["tokens"]) for one in sums["by_model"]] == [
            ("a", 12),
            ("b", 1),
        ]
        assert [one["tokens"] for one in rows] == [1, 7, 5]
        assert ada.get("usage/sums/", until="2000-01-01T00:00:00Z").json()["calls"] == 0


class TestRegistry:
    def test_registry_holds_what_the_user_may_call(self, program, settings):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "POLICY": {"echo": "deny"}}
        told = program().get("registry/").json()

        tools = {one["name"]: one for one in told["tools"]}
        assert "echo" not in tools
        assert tools["needs_approval"]["policy"] == "ask"
        assert tools["needs_approval"]["parameters"]["required"] == ["text"]
        assert all(set(one["tools"]) <= set(tools) for one in told["modules"])

    def test_registry_leaves_out_what_the_user_may_not(self, program, people):
        from ai_assistant.registry import registry

        wanted = {name for name, one in registry.tools().items() if one.permission}
        assert wanted

        told = {one["name"] for one in program().get("registry/").json()["tools"]}
        people["ada"].is_superuser = True
        people["ada"].save()
        may = {one["name"] for one in program().get("registry/").json()["tools"]}

        assert not told & wanted
        assert wanted <= may
