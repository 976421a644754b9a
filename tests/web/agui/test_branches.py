"""A client sees and continues the branch of a conversation that is shown."""

from uuid import uuid4

from tests.web.agui.site import text


def test_history_is_the_branch_that_is_shown(site):
    person = site.person()
    first = person.ask(site.script([text("First.")]))
    site.oracle.wait_final(first)
    said = site.script([text("Instead.")])
    fields = {"run": first, "key": uuid4().hex, "text": said}
    assert person.post("edit-message", **fields).status_code == 204
    fresh = person.run()
    assert fresh != first
    site.oracle.wait_final(fresh)
    front = site.front(thread=person.conversation)

    front.ask()
    assert front.held.texts() == ["Instead."]
    assert person.post("branch", run=first).status_code == 204
    other = site.front(thread=person.conversation)
    other.ask()
    assert other.held.texts() == ["First."]
    assert other.ask(site.script([text("Next.")])).text() == "Next."

    told = site.model.requests()[-1]["messages"]
    assert [m["content"] for m in told if m["role"] == "assistant"] == ["First."]
    assert said not in person.page()
    assert "Next." in person.page()
