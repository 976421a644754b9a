"""The state of a thread: the client's own, and what the site keeps."""

import pytest

from tests.web.agui.site import call, text

pytestmark = pytest.mark.row("H21")
OWN = "tests.testapp"


def values_of(row):
    import json

    found = row["state_values"]
    return json.loads(found) if isinstance(found, str) else found


def stored(site, front):
    (row,) = site.oracle.rows(
        "SELECT state_values FROM ai_assistant_run r JOIN ai_assistant_clientrun c "
        "ON c.run_id = r.id WHERE c.client_id = %s",
        front.run,
    )
    return values_of(row)


def snapshots(reading):
    return [event["snapshot"] for event in reading.of("STATE_SNAPSHOT")]


class TestState:
    def test_without_any_there_is_no_event(self, site):
        reading = site.front().ask(site.script([text("Hi.")]))

        assert snapshots(reading) == []
        assert reading.of("STATE_DELTA") == []

    def test_of_the_client_is_kept_and_not_told_back(self, site):
        front = site.front()

        reading = front.ask(site.script([text("Hi.")]), state={"cart": [1, 2]})

        assert snapshots(reading) == []
        assert stored(site, front) == {"client": {"cart": [1, 2]}}

    def test_of_the_site_comes_first_in_the_next_run(self, site):
        front = site.front()
        front.ask(site.script([call("remember", key="a", value="1")], [text("Done.")]))

        reading = front.ask(site.script([text("Hi.")]), state={"x": 1})

        assert reading.types[:2] == ["RUN_STARTED", "STATE_SNAPSHOT"]

    def test_comes_with_the_history(self, site):
        front = site.front()
        asked = site.script([call("remember", key="a", value="1")], [text("Done.")])
        front.ask(asked, state={"x": 1})

        (told,) = snapshots(front.fresh().ask())

        assert told["x"] == 1
        assert told["aia"]["state"] == {OWN: {"a": "1"}}

    def test_of_a_tool_comes_as_snapshot_and_then_as_patch(self, site):
        front = site.front()
        asked = site.script(
            [call("remember", key="a", value="1")],
            [call("remember", key="b", value="2")],
            [text("Done.")],
        )

        reading = front.ask(asked)

        assert snapshots(reading) == [{"aia": {"state": {OWN: {"a": "1"}}}}]
        (delta,) = reading.of("STATE_DELTA")
        assert delta["delta"] == [
            {"op": "add", "path": f"/aia/state/{OWN}/b", "value": "2"}
        ]

    def test_snapshot_has_the_state_of_the_client_beside_it(self, site):
        asked = site.script([call("remember", key="a", value="1")], [text("Done.")])

        reading = site.front().ask(asked, state={"x": 1})

        assert snapshots(reading) == [{"x": 1, "aia": {"state": {OWN: {"a": "1"}}}}]

    def test_of_the_site_is_not_written_by_a_client(self, site):
        front = site.front()
        front.ask(site.script([call("remember", key="a", value="1")], [text("Done.")]))

        forged = {"x": 1, "aia": {"state": {OWN: {"a": "forged"}, "other": {}}}}
        reading = front.ask(site.script([text("Hi.")]), state=forged)

        assert snapshots(reading) == [{"x": 1, "aia": {"state": {OWN: {"a": "1"}}}}]
        assert stored(site, front) == {"client": {"x": 1}, OWN: {"a": "1"}}

    def test_that_a_client_empties_is_gone(self, site):
        front = site.front()
        front.ask(site.script([text("Hi.")]), state={"x": 1})

        reading = front.ask(site.script([text("Hi.")]), state={})

        assert snapshots(reading) == []
        assert stored(site, front) == {}

    @pytest.mark.parametrize("state", [[1], "text", 3, True, None])
    def test_that_is_no_object_is_taken_and_not_kept(self, site, state):
        front = site.front()

        assert front.ask(site.script([text("Hi.")]), state=state).text() == "Hi."
        assert stored(site, front) == {}

    def test_that_is_too_large_is_refused(self, site):
        front = site.front()

        answer = front.post(front.input("Hi", state={"x": "y" * 17_000}))

        assert answer.status_code == 413
        assert "16000" in answer.text
